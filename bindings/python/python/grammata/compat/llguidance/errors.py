"""Exceptions. Bad grammars and tokens raise none: a matcher keeps their messages."""

from __future__ import annotations

from grammata._errors import Diagnostic, UsageError


class UnsupportedError(UsageError, ValueError):
    """A part of llguidance's interface that has no meaning here. It is a ValueError, as llguidance's own errors of usage are."""


def unsupported(what: str, help: str) -> UnsupportedError:
    """The error for a part of llguidance's interface that has no meaning here."""
    text = f"[llguidance/unsupported] {what}\n  help: {help}"
    return UnsupportedError(f"error{text}", (Diagnostic("llguidance/unsupported", what, text, help=help),))
