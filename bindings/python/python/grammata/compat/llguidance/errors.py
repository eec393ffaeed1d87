"""Exceptions. Bad grammars and tokens do not raise: a matcher keeps their messages."""

from __future__ import annotations

from grammata._errors import Diagnostic, UsageError


class UnsupportedError(UsageError, ValueError):
    """Raised for a part of llguidance's interface without a meaning here. llguidance raises ValueError for wrong
    usage."""


def unsupported(what: str, help: str) -> UnsupportedError:
    """Returns the error for a part of llguidance's interface that has no meaning here."""
    text = f"[llguidance/unsupported] {what}\n  help: {help}"
    return UnsupportedError(f"error{text}", (Diagnostic("llguidance/unsupported", what, text, help=help),))
