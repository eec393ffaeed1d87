"""Exceptions. All are RuntimeErrors, as in XGrammar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from grammata._errors import GrammataError


class GrammarCompileError(RuntimeError):
    """A grammar cannot be read or compiled. The cause is the `grammata.GrammataError` with its diagnostics."""


class InvalidJSONError(RuntimeError):
    """A text is not JSON."""


class InvalidStructuralTagError(RuntimeError):
    """A structural tag is not valid."""


@contextmanager
def translated(error: type[RuntimeError] = GrammarCompileError) -> Iterator[None]:
    """Raises errors of Grammata again as `error`; errors in the syntax of JSON as InvalidJSONError."""
    try:
        yield
    except GrammataError as cause:
        kind = InvalidJSONError if cause.code.startswith("json/") else error
        raise kind(str(cause)) from cause


def unsupported(what: str, help: str) -> GrammarCompileError:
    """Returns the error for a part of XGrammar's interface that has no meaning here."""
    return GrammarCompileError(f"error[xgrammar/unsupported] {what}\n  help: {help}")
