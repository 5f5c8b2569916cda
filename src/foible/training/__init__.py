"""Training: fit a generator or a classifier on a domain, and measure what came out."""
