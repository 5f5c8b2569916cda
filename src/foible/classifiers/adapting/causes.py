"""Why a model cannot take images, and what helps: from what it raised to the option that puts it right."""

from __future__ import annotations

import re

FLATTEN = "it must give one row of scores for each image, (N, classes): flatten its output"
HINTS = (
    (r"out of memory|can't allocate memory|bad_alloc|MemoryError", "it needs more memory than there is: raise "
     "--limit memory_gb, give a smaller --size, or close other programs"),
    (r"PermissionError|Operation not permitted|Permission denied|forbidden system call",
     "it does what the sandbox forbids: if you know who made it, say --trusted"),
    (r"gives scores of shape \(\d+, \d+, .*\)", FLATTEN),
    (r"gives scores of shape \(\d*,?\)", "it must take a whole batch (N, C, H, W) and give (N, classes)"),
    (r"gives scores of shape", FLATTEN),
    (r"Double|double|float64", "its weights are float64: save it as float32 with model.float()"),
    (r"Half|float16|BFloat16|bfloat16", "its weights have half precision: save it as float32 with model.float()"),
    (r"expected .*to have \d+ channels|channels|mat1 and mat2|size mismatch|shape|dimension|stack expects",
     "give its input size, channels and layout: --size 224, --channels 3, --layout nhwc"),
    (r"^(KeyError|IndexError|AttributeError|NameError|TypeError|ImportError|ModuleNotFoundError|ZeroDivisionError)",
     "this is an error in the model's own code: call it yourself on a batch of images to see where"),
)  # fmt: skip


def hint_for(problem: str) -> str:
    """What helps against a problem such as "RuntimeError: mat1 and mat2 shapes cannot be multiplied"."""
    return next(
        (hint for pattern, hint in HINTS if re.search(pattern, problem)),
        "if its input differs from the domain's, give --size, --channels, --layout; else call it yourself on a batch",
    )


def other_precision(problem: str) -> str | None:
    """The precision that a complaint about types asks for; None when it is about something else."""
    if not re.search(r"type|Float|float", problem):
        return None
    for words, precision in (("ouble|float64", "float64"), ("Half|float16|half", "float16")):
        if re.search(words, problem) and "BFloat16" not in problem and "bfloat16" not in problem:
            return precision
    return None
