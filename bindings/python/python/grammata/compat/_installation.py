"""Putting look-alikes into the place of another package's classes."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType


def install(package: str, here: str, members: Mapping[str, Mapping[str, object]], aliases: Mapping[str, str]) -> None:
    """Makes a package run on the objects of ours.

    If it is installed, `members` are the replacements by its module and name; each is put wherever a loaded module of the package has
    the original. If it is not installed, an import of it gives our module `here`, and an import of a submodule the module of
    `aliases`. A second call does nothing.
    """
    if sys.modules.get(package) is sys.modules[here]:
        return
    if package not in sys.modules and importlib.util.find_spec(package) is None:
        sys.modules[package] = sys.modules[here]
        for name, ours in aliases.items():
            sys.modules[f"{package}.{name}"] = importlib.import_module(ours)
        return
    importlib.import_module(package)
    replacements: dict[int, tuple[object, object]] = {}
    for name, replaced in members.items():
        theirs = importlib.import_module(f"{package}.{name}")
        for member, ours_ in replaced.items():
            if hasattr(theirs, member):
                # kept alive, so that its id stays its own
                original = getattr(theirs, member)
                replacements[id(original)] = original, ours_
    for module in _modules(package):
        for member, value in list(vars(module).items()):
            if id(value) in replacements:
                setattr(module, member, replacements[id(value)][1])


def named(module: str, names: Iterable[str]) -> dict[str, object]:
    """Members of one of our modules, by name."""
    ours = importlib.import_module(module)
    return {name: getattr(ours, name) for name in names}


def _modules(package: str) -> list[ModuleType]:
    """The loaded modules of a package."""
    return [module for name, module in sys.modules.items() if name == package or name.startswith(f"{package}.")]
