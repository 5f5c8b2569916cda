"""`python -m foible` is the `foible` command."""

from foible.cli.main import main

main()
