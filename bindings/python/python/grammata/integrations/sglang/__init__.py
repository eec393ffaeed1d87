"""Grammata as a grammar backend of SGLang: `python -m sglang.launch_server --grammar-backend grammata …`.

If the package is installed, SGLang finds the backend by the entry point `sglang.srt.plugins`. Other programs may call
`register()`, which imports SGLang.
"""

from __future__ import annotations

__all__ = ["register"]

NAME = "grammata"
"""The value of `--grammar-backend`."""


def register() -> None:
    """Registers the backend with SGLang, and the hooks for reasoning, budgets and draft trees. A second call does
    nothing."""
    from grammata.integrations.sglang import plugin

    plugin.register(NAME)
