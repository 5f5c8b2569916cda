"""Many runs as one experiment: a matrix recipe, its cells as ordinary runs in one folder, and their tables.

Reading order: study_file and matrix (what to run), run (running it), progress, tables, weaknesses, rivals, write.
"""

from foible.benchmark.matrix import Cell, Matrix, load_matrix
from foible.benchmark.run import Ended, run_benchmark
from foible.benchmark.study_file import matrix_names
from foible.benchmark.write import write_tables

__all__ = ["Cell", "Ended", "Matrix", "load_matrix", "matrix_names", "run_benchmark", "write_tables"]
