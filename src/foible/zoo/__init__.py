"""The zoo: models that come with foible, each with a card of measured figures."""

from foible.zoo.catalogue import Entry, cards, entries, entry, own_zoo
from foible.zoo.files import load_model
from foible.zoo.resolve import resolve

__all__ = ["Entry", "cards", "entries", "entry", "load_model", "own_zoo", "resolve"]
