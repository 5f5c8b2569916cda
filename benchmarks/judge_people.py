"""The judge beside people: their answers on images of other tools, on suspicious real images, and how torn they are.

A judge whose weights were drawn to the answers about the tools is measured without them: for each tool they are drawn to the answers
about the other four. Nothing else in a judge is fitted on these answers. The data (not part of foible) are looked for under `people/` in the data folders:

- icse23_validity: Riccio and Tonella, ICSE 2023 (MIT): 500 images each of five tools, two people per image
- label_errors: Northcutt et al. 2021 (Apache-2.0): suspicious test images, five people each
- cifar10h: Peterson et al. 2019 (CC BY-NC-SA): 51 people per CIFAR-10 test image; a random 500 of them

    python benchmarks/judge_people.py mnist svhn cifar10 --save
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr

from foible.domains import Domain, load_domain, real_images
from foible.domains.sources import data_folders
from foible.judging.refit import HOW, fit
from foible.metrics import auc
from foible.metrics.agreement import cohen_kappa
from foible.training.asked import Asked, drawn, read_answers
from foible.training.judge import JudgeSettings
from foible.training.train import training_recipe
from foible.training.weigh import with_line
from foible.validators.evidence import Evidence
from foible.validators.fitted import crew
from foible.validators.judge import Judge, Judgement
from foible.validators.usual import some

RESULTS = Path(__file__).parent / "judge_people.json"
DRAWS = 1000
SPEED = 200
REAL = 1000


def interval(score: Callable[[np.ndarray], float | None], count: int) -> list[float]:
    """A figure and its 95 % interval by bootstrap over images."""
    rng = np.random.default_rng(0)
    whole = score(np.arange(count))
    drawn = [v for _ in range(DRAWS) if (v := score(rng.integers(0, count, count))) is not None]
    return [round(float(x), 4) for x in (whole if whole is not None else np.nan, *np.quantile(drawn, [0.025, 0.975]))]


def kappa(first: np.ndarray, second: np.ndarray) -> float | None:
    return cohen_kappa(list(zip(first.tolist(), second.tolist(), strict=True)))


def mean_kappa(people: np.ndarray, judge: np.ndarray, rows: np.ndarray) -> float | None:
    found = [k for person in people.T if (k := kappa(person[rows], judge[rows])) is not None]
    return float(np.mean(found)) if found else None


@dataclass(frozen=True)
class Study:
    """Images that people were asked about, and a judge's evidence on them and on real images."""

    asked: Asked
    evidence: Evidence
    real: torch.Tensor  # scaled evidence of real images, by which a line is drawn
    called_invalid: float

    @classmethod
    def of(cls, path: Path, judge: Judge, domain: Domain, real: torch.Tensor) -> Study:
        """What the judge sees."""
        asked, settings = read_answers(path, domain), JudgeSettings(**training_recipe("judge", domain.name).network)
        return cls(asked, judge.evidence(asked.images), judge.evidence(real).table, settings.called_invalid)

    def parts(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Positions of the images of all tools but one, and of that one."""
        for one in np.unique(self.asked.tools):
            rest, mine = (
                torch.from_numpy(np.flatnonzero(m)) for m in (self.asked.tools != one, self.asked.tools == one)
            )
            yield rest, mine

    def judgement(self, judge: Judge) -> Judgement:
        """The verdicts; a judge that was drawn to these answers is drawn to those about the other tools' images, for each tool."""
        start = judge.parts.before.get(crew(judge.readers))
        if start is None:
            return judge.weighed(self.evidence, self.asked.labels)
        answered, found, order = self.asked.answered(self.evidence), list[Judgement](), list[torch.Tensor]()
        for rest, mine in self.parts():
            held_out = copy(judge)
            held_out.weighing = with_line(drawn(start, answered.rows(rest)), self.real, self.called_invalid)
            found.append(held_out.weighed(self.evidence[mine], self.asked.labels[mine]))
            order.append(mine)
        back = torch.cat(order).argsort()
        scores = ("validity", "valid", "label", "kept_score", "kept", "ambiguity", "rival")
        return Judgement(*(torch.cat([getattr(f, name) for f in found])[back] for name in scores))


def of_tools(study: Study, judge: Judge) -> dict[str, object]:
    """The study of five test generators."""
    expected, tool, said = study.asked.labels.numpy(), study.asked.tools, study.asked.said.numpy()
    verdict = study.judgement(judge)
    validity, kept = verdict.validity.double().numpy(), verdict.kept_score.numpy()
    valid, keeps = said >= 0, said == expected[:, None]
    agreed = valid.all(1) | ~valid.any(1)
    alike = (said[:, 0] == said[:, 1]) & valid.all(1)
    divided = valid.all(1) & ~alike

    def area(scores: np.ndarray, truth: np.ndarray, among: np.ndarray) -> Callable[[np.ndarray], float | None]:
        return lambda rows: auc(scores[rows][among[rows]].tolist(), truth[rows][among[rows]].tolist())

    count, everyone = len(tool), np.ones(len(tool), bool)
    called = {"valid": verdict.valid.numpy(), "kept": verdict.kept.numpy()}
    return {
        "images": count,
        "both people say invalid": int((~valid.any(1)).sum()),
        "validity AUC, where both people agree": interval(area(validity, valid.all(1), agreed), count),
        "valid, kappa judge-person": interval(lambda r: mean_kappa(valid, called["valid"], r), count),
        "valid, kappa person-person": interval(lambda r: kappa(valid[r, 0], valid[r, 1]), count),
        "valid by people, by the judge": [float(valid.mean()), float(called["valid"].mean())],
        "kept AUC": interval(
            lambda r: np.mean([a for k in (0, 1) if (a := area(kept, keeps[:, k], everyone)(r)) is not None]), count
        ),
        "kept, kappa judge-person": interval(lambda r: mean_kappa(keeps, called["kept"], r), count),
        "kept, kappa person-person": interval(lambda r: kappa(keeps[r, 0], keeps[r, 1]), count),
        "kept by people, by the judge": [float(keeps.mean()), float(called["kept"].mean())],
        "names the class that both people name": float((verdict.label.numpy() == said[:, 0])[alike].mean()),
        "ambiguity AUC: people name two classes or one": interval(
            area(verdict.ambiguity.numpy(), divided, valid.all(1)), count
        ),
        "by tool, kept kappa": {
            str(t): [round(x, 3) for x in (mean_kappa(keeps, called["kept"], r) or 0.0, kappa(*keeps[r].T) or 0.0)]
            for t in np.unique(tool)
            for r in [np.flatnonzero(tool == t)]
        },
    }


def across_tools(study: Study, judge: Judge) -> dict[str, object]:
    """A judge that no answer was shown to, refitted to those about four tools and tested on the fifth: is that better than leaving it?"""
    start = judge.parts.before.get(crew(judge.readers), judge.weighing)
    evidence, expected, said = study.evidence, study.asked.labels, study.asked.said.numpy()
    valid, keeps = said >= 0, said == expected.numpy()[:, None]
    agreed, answered = valid[:, 0] == valid[:, 1], study.asked.answered(evidence)
    found: dict[str, object] = {}
    for how in HOW:
        validity, kept = np.zeros(len(said)), np.zeros(len(said), bool)
        for rest, mine in study.parts():
            line = fit(start, answered.rows(rest), how)
            validity[mine] = line.scores(evidence[mine], expected[mine])["image"].numpy()
            kept[mine] = line.accepts(evidence[mine], expected[mine])["label"].numpy()
        found[how] = {
            "validity AUC": interval(
                lambda r, v=validity: auc(v[r][agreed[r]].tolist(), valid[r][agreed[r]].all(1).tolist()), len(said)
            ),
            "kept, kappa judge-person": interval(lambda r, k=kept: mean_kappa(keeps, k, r), len(said)),
        }
    return found


def of_suspects(path: Path, judge: Judge, images: torch.Tensor) -> dict[str, object]:
    """Suspicious real images: where most people say given or guessed, does the judge name the same?"""
    with np.load(path) as z:
        index, given, guessed, votes = z["test_index"], z["given"], z["guessed"], z["votes"]
    verdict = judge.judgement(
        images[torch.from_numpy(index.astype(np.int64))], torch.from_numpy(given.astype(np.int64))
    )
    label, decided = verdict.label.numpy(), np.abs(votes[:, 0].astype(int) - votes[:, 1]) > votes.sum(1) / 3
    truth = np.where(votes[:, 0] > votes[:, 1], given, guessed)
    return {
        "images": len(index),
        "people decide between the two": int(decided.sum()),
        "judge names what people name": float((label == truth)[decided].mean()),
        "called valid": float(verdict.valid.float().mean()),
    }


def of_many(path: Path, judge: Judge, images: torch.Tensor) -> dict[str, object]:
    """How torn people are on real photographs, against the ambiguity score."""
    with np.load(path) as z:
        counts = z["counts"].astype(float)
    rows = np.random.default_rng(0).choice(len(counts), 500, replace=False)
    share = np.sort(counts[rows] / counts[rows].sum(1, keepdims=True), 1)[:, ::-1]
    torn = 4 * share[:, 0] * share[:, 1] / (share[:, 0] + share[:, 1]) ** 2
    verdict = judge.judgement(images[torch.from_numpy(rows)])
    return {
        "images": len(rows),
        "rank correlation of ambiguity": float(spearmanr(torn, verdict.ambiguity.numpy()).statistic),
        "names what most people name": float((verdict.label.numpy() == counts[rows].argmax(1)).mean()),
    }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("domains", nargs="+")
    options.add_argument("--save", action="store_true")
    options.add_argument("--alone", action="store_true", help="without readers")
    chosen = options.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for name in chosen.domains:
        domain = load_domain(name)
        judge, real = Judge(domain, readers=not chosen.alone), real_images(domain)
        images, found = real.images(torch.arange(len(real.labels))), {"company": judge.company()}
        folder = next((p for f in data_folders() if (p := f / "people").is_dir()), Path("people"))
        if (asked := folder / f"icse23_validity/{name}.npz").is_file():
            study = Study.of(asked, judge, domain, real.images(some(real, REAL)))
            found |= {"tools": of_tools(study, judge), "across tools": across_tools(study, judge)}
        for about, file, measure in (
            ("suspects", f"label_errors/{name}.npz", lambda p, j=judge, i=images: of_suspects(p, j, i)),
            ("many", f"{name}h/counts.npz", lambda p, j=judge, i=images: of_many(p, j, i)),
        ):
            if (folder / file).is_file():
                found[about] = measure(folder / file)
        begin = time.process_time()  # on a busy machine the clock on the wall says little
        judge.judgement(images[:SPEED])
        found["processor milliseconds per image"] = round(1000 * (time.process_time() - begin) / SPEED, 2)
        print(name, json.dumps(found, indent=2), flush=True)
        results[f"{name} alone" if chosen.alone else name] = found
    if chosen.save:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
