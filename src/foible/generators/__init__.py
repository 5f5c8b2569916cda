"""Generators: latents to images. One file per family; no dataset names."""
