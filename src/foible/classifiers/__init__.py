"""Classifiers: images to logits. Every adaptor takes foible's image currency and does its own preprocessing.

load.py -> kinds/ (a file, a name or an address becomes a network) -> adapting/ (how it wants its images, what its scores
mean) -> adapted.py (the classifier). `network.py` is what all kinds have in common; `networks/` are foible's own.
"""
