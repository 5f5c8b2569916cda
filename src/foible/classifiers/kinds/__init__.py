"""Kinds of models: one file each from what the user has to a network, prepared inputs in and raw scores out."""
