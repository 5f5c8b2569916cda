"""One file per page; each has its `routes`."""
