"""For plug-in authors: toy models that run in microseconds, and the contract tests every component must pass."""
