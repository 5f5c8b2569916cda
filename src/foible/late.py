"""Names of a package that are imported on first use, so that nobody waits for what they do not need."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def on_first_use(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package.

    Args:
        package: its name, for the message about a name it does not have.
        homes: the module of each name, "module:name" where it is called otherwise there.
    """

    def __getattr__(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, _, attribute = homes[name].partition(":")
        return getattr(importlib.import_module(module), attribute or name)

    return __getattr__
