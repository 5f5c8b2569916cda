"""The loss curve of a training, as a picture beside the model file."""

from __future__ import annotations

from pathlib import Path

from foible.training.fit import History


def draw_curve(history: History, watch: str | None, path: Path) -> Path:
    """Draw the loss of every epoch, part by part, and the figure that was watched on held-out images.

    Args:
        history: what happened.
        watch: the figure by which the best epoch was chosen; None where the last epoch is kept.
        path: the PNG file.
    """
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    epochs = [e["epoch"] for e in history.epochs]
    parts = [name for name in history.epochs[0] if name.endswith("_loss")] or ["loss"]
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    losses = figure.add_subplot(xlabel="epoch", ylabel="loss on training images")
    for k, name in enumerate(parts):
        losses.plot(epochs, [e[name] for e in history.epochs], f"C{k}.-", label=name.replace("_", " "))
    if watch:
        watched = losses.twinx()
        watched.set_ylabel(f"{watch.replace('_', ' ')} on held-out images")
        watched.plot(epochs, [e[watch] for e in history.epochs], "C3.--", label=watch.replace("_", " "))
        watched.axvline(history.best_epoch, color="0.7", linewidth=1, label="best epoch")
    losses.xaxis.set_major_locator(MaxNLocator(integer=True))
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    figure.savefig(path, dpi=120)
    return path
