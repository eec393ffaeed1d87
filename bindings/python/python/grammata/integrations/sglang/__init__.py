"""Grammata as a grammar backend of SGLang: `python -m sglang.launch_server --grammar-backend grammata …`.

SGLang finds it by the entry point `sglang.srt.plugins` when the package is installed; `register()` does the same in a program of
your own. SGLang is imported then, and not before.
"""

from __future__ import annotations

__all__ = ["register"]

NAME = "grammata"
"""The value of `--grammar-backend`."""


def register() -> None:
    """Makes the backend known to SGLang, with the hooks for reasoning, budgets and draft trees. Calling it again does nothing."""
    from grammata.integrations.sglang import plugin

    plugin.register(NAME)
