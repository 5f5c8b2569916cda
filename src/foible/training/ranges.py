"""What tuning may vary: settings of a training recipe under dotted keys, each with a range or a list of choices."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from foible.errors import RecipeError
from foible.training.train import TrainingRecipe

Range = list[Any]
DEFAULT_RANGES: dict[str, Range] = {"fit.learning_rate": [2e-4, 5e-3], "fit.batch": [64, 256]}


def ranges(recipe: TrainingRecipe) -> dict[str, Range]:
    """The recipe's own table, or learning rate and batch."""
    return recipe.tune or DEFAULT_RANGES


def without(recipe: TrainingRecipe, settled: Collection[str]) -> TrainingRecipe:
    """The recipe with only those settings left to vary that have not been settled."""
    left = {key: among for key, among in ranges(recipe).items() if key not in settled}
    if not left:
        raise RecipeError(
            f"nothing is left to tune: {', '.join(ranges(recipe))} are given", "leave one of these options out"
        )
    return recipe.model_copy(update={"tune": left})


def vary(recipe: TrainingRecipe, changes: Mapping[str, Any]) -> TrainingRecipe:
    """A recipe with other values under dotted keys such as `network.latent`."""
    facts = recipe.model_dump()
    for key, value in changes.items():
        table, _, name = key.partition(".")
        if table not in {"fit", "network"} or not name:
            raise RecipeError(
                f"'{key}' cannot be tuned", "name a setting of the recipe: fit.learning_rate, network.latent"
            )
        facts[table] = {**facts[table], name: value}
    return TrainingRecipe(**facts)


def suggest(trial: Any, key: str, among: Range) -> Any:
    """Two numbers are a range (logarithmic where it spans a factor of ten), anything else a choice."""
    numbers = [v for v in among if isinstance(v, int | float) and not isinstance(v, bool)]
    if len(among) != 2 or len(numbers) != 2:
        return trial.suggest_categorical(key, among)
    low, high = sorted(numbers)
    logarithmic = low > 0 and high / low >= 10
    if all(isinstance(v, int) for v in numbers):
        return trial.suggest_int(key, low, high, log=logarithmic)
    return trial.suggest_float(key, low, high, log=logarithmic)
