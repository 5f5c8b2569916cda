"""Adaptation: what any model needs around it, told from its file, its user or real images."""
