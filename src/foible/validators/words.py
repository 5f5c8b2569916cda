"""Why: what decided a verdict, in words that a person can check against the picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from torch import Tensor

from foible.validators.evidence import QUALITIES, Evidence
from foible.validators.parts import Weighing

AGAINST = {
    "energy": "the reference classifiers know nothing like it",
    "endures": "it can hardly be made out: nothing is left of it when it is a little fainter or more blurred",
    "certain": "the reference classifiers waver between three classes or more",
    "nearest": "no real image has such a shape",
    "learned": "it does not look real to the reference classifiers",
    "contrast": "too faint",
    "sharpness": "too blurred",
    "ground": "the ground is too bright or too dark",
}
READER = {"sees": "{name} sees none of the classes clearly", "anything": "{name} sees hardly anything"}
ALIKE = dict.fromkeys(
    ("energy", "endures", "certain", "learned"), "reference classifiers"
)  # columns that object to the same
WEIGHTY = 0.35  # share of the weightiest objection from which another one is named too


@dataclass(frozen=True)
class Words:
    """Puts evidence into words.

    Args:
        classes: class names.
        classifiers: how many reference classifiers there are.
        readers: names of the readers, in the order of the table.
        columns: the table's columns.
    """

    classes: tuple[str, ...]
    classifiers: int
    readers: tuple[str, ...]
    columns: tuple[str, ...]

    def of_images(self, evidence: Evidence, weighing: Weighing, valid: Tensor) -> tuple[str, ...]:
        """Why each image is called valid or not."""
        weight = (evidence.table * weighing.weights).tolist()
        seen = evidence.seen.tolist()
        return tuple(
            self._named(looks) if fine else self._objections(line)
            for line, looks, fine in zip(weight, seen, valid.tolist(), strict=True)
        )

    def _objections(self, line: list[float]) -> str:
        """The weightiest evidence against an image, at most two kinds; of what says the same, only the weightiest."""
        said: dict[str, tuple[float, str]] = {}
        for weight, column in sorted(zip(line, self.columns, strict=True)):
            said.setdefault(ALIKE.get(column, column.rpartition(" ")[0] or column), (weight, column))
        worst = min(weight for weight, _ in said.values())
        if worst >= 0:
            return "nothing speaks for it"
        weighty = [column for weight, column in said.values() if weight <= WEIGHTY * worst]
        weighty.sort(key=lambda column: column not in QUALITIES)  # first what can be seen at once
        return "; ".join(self._against(column) for column in weighty[:2])

    def _against(self, column: str) -> str:
        if column in AGAINST:
            return AGAINST[column]
        place = (self.columns.index(column) - len(AGAINST)) // 2
        return READER[column.rpartition(" ")[2]].format(name=self.readers[place])

    def of_labels(
        self, evidence: Evidence, expected: Tensor, valid: Tensor, asked: Tensor | None = None
    ) -> tuple[str, ...]:
        """Why each label is called kept or not; nothing is said of what was expected where nothing was `asked`."""
        told = [True] * len(expected) if asked is None else asked.tolist()
        said = []
        rows = zip(evidence.seen.tolist(), expected.tolist(), valid.tolist(), told, strict=True)
        for looks, label, fine, was_asked in rows:
            text = self._named(looks)
            if was_asked:
                text += f"; expected {self._name(label)}"
            said.append(text if fine else f"{text}; called invalid")
        return tuple(said)

    def _named(self, looks: list[int]) -> str:
        """Who sees what: the reference classifiers by number, the readers by name."""
        who: dict[int, list[str]] = {}
        for seen, count in Counter(looks[: self.classifiers]).most_common():
            who.setdefault(seen, []).append(self._classifiers(count))
        for name, seen in zip(self.readers, looks[self.classifiers :], strict=True):
            who.setdefault(seen, []).append(name)
        if len(who) == 1:
            return f"all see {self._name(looks[0])}: {_listed(next(iter(who.values())))}"
        ranked = sorted(who.items(), key=lambda item: (item[0] < 0, -sum(s == item[0] for s in looks)))
        return ", ".join(f"{_listed(names)} {_see(names)} {self._name(seen)}" for seen, names in ranked)

    def _classifiers(self, count: int) -> str:
        whole = "all " if count == self.classifiers > 1 else ""
        return f"{whole}{count} reference classifier{'s' if count > 1 else ''}"

    def _name(self, seen: int) -> str:
        return "nothing" if seen < 0 else f"'{self.classes[seen]}'"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _see(names: list[str]) -> str:
    alone = len(names) == 1 and not names[0].endswith("classifiers")
    return "sees" if alone else "see"
