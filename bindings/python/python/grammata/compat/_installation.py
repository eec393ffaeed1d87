"""Replaces classes and functions of another package with Grammata's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType


def install(package: str, here: str, members: Mapping[str, Mapping[str, object]], aliases: Mapping[str, str]) -> None:
    """Makes a package run on Grammata's objects, in this process.

    If `package` is installed, `members` are the replacements by submodule and name; each replaces the original in all
    loaded modules of the package. If it is not installed, `import package` returns the module `here`, and the import of
    a submodule returns the module that `aliases` names. A second call changes nothing.
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
                # the original is kept alive, so that no other object gets its id
                original = getattr(theirs, member)
                replacements[id(original)] = original, ours_
    for module in _modules(package):
        for member, value in list(vars(module).items()):
            if id(value) in replacements:
                setattr(module, member, replacements[id(value)][1])


def named(module: str, names: Iterable[str]) -> dict[str, object]:
    """The members of a module that have these names, by name."""
    ours = importlib.import_module(module)
    return {name: getattr(ours, name) for name in names}


def _modules(package: str) -> list[ModuleType]:
    """The loaded modules of a package, itself included."""
    return [module for name, module in sys.modules.items() if name == package or name.startswith(f"{package}.")]
