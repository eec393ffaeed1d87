"""Masks for libraries that run models, in the interface of `xgrammar.contrib`."""

from __future__ import annotations

from grammata.compat.xgrammar.contrib import hf

__all__ = ["hf"]
