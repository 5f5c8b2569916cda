"""Campaigns: a recipe becomes live parts, is checked, and runs."""

from foible.campaign.assemble import Campaign, assemble
from foible.campaign.built_in import recipe_names
from foible.campaign.check import Checkup, check
from foible.campaign.run import run
from foible.campaign.spec import Recipe, load_recipe

__all__ = ["Campaign", "Checkup", "Recipe", "assemble", "check", "load_recipe", "recipe_names", "run"]
