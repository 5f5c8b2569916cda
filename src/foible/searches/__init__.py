"""Searches: where to look next. State is a dictionary of tensors with lanes first; settings are frozen."""
