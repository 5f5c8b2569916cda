"""Classifier architectures of the zoo, one family per file. Weights and figures are in the zoo's catalogue."""

from foible.classifiers.networks.deepconv import DeepConv

__all__ = ["DeepConv"]
