"""foible."""
