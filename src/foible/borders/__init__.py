"""Borders of classes, seen through runs: how easily one class is left for another, and images that lie between two."""
