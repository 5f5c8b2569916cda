"""Readers: recognisers that were trained on other data than the domain's, and so do not share its classifiers' mistakes."""

from foible.validators.readers.reader import Reader, Reading, available, missing, reader

__all__ = ["Reader", "Reading", "available", "missing", "reader"]
