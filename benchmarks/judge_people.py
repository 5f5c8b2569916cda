"""The judge beside people: their answers on images of other tools, on suspicious real images, and how torn they are.

Nothing in the judge is fitted on these answers. The data (not part of foible) are looked for under `people/` in the data folders:

- icse23_validity: Riccio and Tonella, ICSE 2023 (MIT): 500 images each of five tools, two people per image
- label_errors: Northcutt et al. 2021 (Apache-2.0): suspicious test images, five people each
- cifar10h: Peterson et al. 2019 (CC BY-NC-SA): 51 people per CIFAR-10 test image; a random 500 of them

    python benchmarks/judge_people.py mnist svhn cifar10 --save
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from scipy.stats import spearmanr

from foible.domains import load_domain, real_images
from foible.domains.sources import data_folders
from foible.judging.refit import HOW, UNKNOWN, Answered, fit
from foible.metrics import auc
from foible.metrics.agreement import cohen_kappa
from foible.validators.judge import Judge

RESULTS = Path(__file__).parent / "judge_people.json"
DRAWS = 1000
SPEED = 200


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


def of_tools(path: Path, judge: Judge) -> dict[str, object]:
    """The study of five test generators."""
    with np.load(path) as z:
        pixels, expected, tool = z["images"], z["expected"], z["tool"]
        said = np.stack([z["human1"], z["human2"]], 1)
    images = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
    verdict = judge.judgement(images, torch.from_numpy(expected))
    validity, kept = verdict.validity.numpy(), verdict.kept_score.numpy()
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


def across_tools(path: Path, judge: Judge) -> dict[str, object]:
    """The judge refitted to people's answers about four tools and tested on the fifth: is that better than leaving it as it is?"""
    with np.load(path) as z:
        pixels, expected, tool = z["images"], torch.from_numpy(z["expected"]).long(), z["tool"]
        said = np.stack([z["human1"], z["human2"]], 1)
    evidence = judge.evidence(torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255)
    valid, keeps, alike = said >= 0, said == expected.numpy()[:, None], said[:, 0] == said[:, 1]
    agreed = valid[:, 0] == valid[:, 1]

    def majority(answers: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.where(answers[:, 0] == answers[:, 1], answers[:, 0], UNKNOWN)).long()

    named = torch.from_numpy(np.where(alike & valid.all(1), said[:, 0], UNKNOWN)).long()
    answered = Answered(evidence, expected, majority(valid), majority(keeps), named)
    found: dict[str, object] = {}
    for how in HOW:
        validity, kept = np.zeros(len(tool)), np.zeros(len(tool), bool)
        for one in np.unique(tool):
            rest, mine = (torch.from_numpy(np.flatnonzero(m)) for m in (tool != one, tool == one))
            line = fit(judge.weighing, answered.rows(rest), how)
            validity[mine] = line.scores(evidence[mine], expected[mine])["image"].numpy()
            kept[mine] = line.accepts(evidence[mine], expected[mine])["label"].numpy()
        found[how] = {
            "validity AUC": interval(
                lambda r, v=validity: auc(v[r][agreed[r]].tolist(), valid[r][agreed[r]].all(1).tolist()), len(tool)
            ),
            "kept, kappa judge-person": interval(lambda r, k=kept: mean_kappa(keeps, k, r), len(tool)),
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
        for study, file, measure in (
            ("tools", f"icse23_validity/{name}.npz", lambda p, j=judge: of_tools(p, j)),
            ("across tools", f"icse23_validity/{name}.npz", lambda p, j=judge: across_tools(p, j)),
            ("suspects", f"label_errors/{name}.npz", lambda p, j=judge, i=images: of_suspects(p, j, i)),
            ("many", f"{name}h/counts.npz", lambda p, j=judge, i=images: of_many(p, j, i)),
        ):
            if (folder / file).is_file():
                found[study] = measure(folder / file)
        begin = time.process_time()  # on a busy machine the clock on the wall says little
        judge.judgement(images[:SPEED])
        found["processor milliseconds per image"] = round(1000 * (time.process_time() - begin) / SPEED, 2)
        print(name, json.dumps(found, indent=2), flush=True)
        results[f"{name} alone" if chosen.alone else name] = found
    if chosen.save:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
