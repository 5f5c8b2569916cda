"""Judge images made by anyone: are they of the domain, and do they show the class they are meant to show?"""

from foible.judging.arrays import judge
from foible.judging.files import FileVerdict, judge_files

__all__ = ["FileVerdict", "judge", "judge_files"]
