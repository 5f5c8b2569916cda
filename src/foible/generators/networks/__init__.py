"""Networks inside the generators, one family per file."""
