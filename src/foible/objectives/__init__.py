"""Objectives: an evaluation to numbers, always minimised."""
