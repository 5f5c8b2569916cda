"""The workbench: web pages over the runs folder. A run is an ordinary process; the pages only start and watch it."""
