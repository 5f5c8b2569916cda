"""The zoo: models that come with foible, each with a card of measured figures."""

from foible.zoo.catalogue import Entry, entries, entry
from foible.zoo.files import load_model
from foible.zoo.resolve import resolve

__all__ = ["Entry", "entries", "entry", "load_model", "resolve"]
