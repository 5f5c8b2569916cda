"""Report: reads the store only."""
