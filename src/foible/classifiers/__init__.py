"""Classifiers: images to logits. Every adaptor takes foible's image currency and does its own preprocessing."""
