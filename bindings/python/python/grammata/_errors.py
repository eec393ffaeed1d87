"""What goes wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SHOWN = 4
"""Matchers whose errors the text of a batch's error has."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about input from outside: an error, or a warning."""

    code: str
    """Stable, of the form `room/what`."""
    message: str
    """What is wrong, in one line."""
    text: str
    """All of it, as the program prints it."""
    place: str | None = None
    """Where in the input, as a person reads it; the members below have it in parts."""
    line: int | None = None
    """From 1."""
    column: int | None = None
    """In characters, from 1."""
    pointer: str | None = None
    """A JSON Pointer into the input."""
    byte: int | None = None
    """An offset, from 0."""
    rule: str | None = None
    """A rule of a grammar."""
    file: str | None = None
    """The file that the place is in."""
    found: str | None = None
    """What stands there."""
    cause: str | None = None
    """What another library or the operating system said."""
    allowed: str | None = None
    """What may stand there."""
    help: str | None = None
    """What to do, in one line."""

    def __str__(self) -> str:
        return self.text


class GrammataError(Exception):
    """An error of this package. `str()` of it is what the program prints.

    >>> import grammata
    >>> try:
    ...     grammata.Compiler(grammata.Vocabulary.from_tokens(["a"])).compile_regex("(a")
    ... except grammata.GrammarError as error:
    ...     print(error)
    error[regex/unclosed-group] unclosed group
      at: line 1, column 1
      1 | (a
        | ^
      found: (
      help: close the group with `)`, or write `\\(` for the character
    """

    diagnostics: tuple[Diagnostic, ...]
    """All that a reader that can go on after an error found, in the order of the input; 20 at most."""
    is_cut: bool
    """Whether reading stopped at that bound, so that there may be more."""

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...], is_cut: bool = False) -> None:
        super().__init__(text, diagnostics, is_cut)
        self.diagnostics = diagnostics
        self.is_cut = is_cut

    def __str__(self) -> str:
        return str(self.args[0])

    @property
    def diagnostic(self) -> Diagnostic:
        """The first diagnostic."""
        return self.diagnostics[0]

    @property
    def code(self) -> str:
        """The first diagnostic's stable code."""
        return self.diagnostic.code

    @property
    def place(self) -> str | None:
        """The first diagnostic's place."""
        return self.diagnostic.place

    @property
    def found(self) -> str | None:
        """What the first diagnostic found."""
        return self.diagnostic.found

    @property
    def allowed(self) -> str | None:
        """What is allowed at the first diagnostic's place."""
        return self.diagnostic.allowed

    @property
    def help(self) -> str | None:
        """The first diagnostic's line of help."""
        return self.diagnostic.help


class GrammarError(GrammataError):
    """A grammar, schema or spec cannot be read or means nothing: its author can correct it."""


class VocabularyError(GrammataError):
    """A tokenizer or vocabulary cannot be read or is not exact."""


class LimitError(GrammataError):
    """A limit on what input may cost was exceeded."""


class RejectedError(GrammataError):
    """A token or text is not allowed where it was offered."""


class UsageError(GrammataError):
    """The caller used the library in a way that cannot work: a buffer too short, a token out of range."""


class ModelError(GrammataError):
    """A language model cannot be loaded or run."""


class FileError(GrammataError):
    """A file cannot be read or written."""


class BatchError(GrammataError):
    """Matchers of a batch failed. `diagnostics` are those of all of them."""

    errors: tuple[GrammataError | None, ...]
    """For each matcher of the batch None, or the exception with which it failed."""

    def __init__(
        self,
        text: str,
        diagnostics: tuple[Diagnostic, ...],
        is_cut: bool = False,
        errors: tuple[GrammataError | None, ...] = (),
    ) -> None:
        super().__init__(text, diagnostics, is_cut)
        self.args = (text, diagnostics, is_cut, errors)
        self.errors = errors


class TypeWarning(UserWarning):
    """A Python type refuses values that its JSON Schema allows."""


# where they are imported from, which is what a traceback shows
for _class in (Diagnostic, TypeWarning, GrammataError, *GrammataError.__subclasses__()):
    _class.__module__ = "grammata"


def batch_error(errors: list[GrammataError | None]) -> BatchError:
    """The error of a batch of which at least one matcher failed."""
    failed = [(place, error) for place, error in enumerate(errors) if error is not None]
    texts = [f"matcher {place}: {error}" for place, error in failed[:MOST_SHOWN]]
    if len(failed) > MOST_SHOWN:
        texts.append(f"and {len(failed) - MOST_SHOWN} more")
    diagnostics = tuple(diagnostic for _, error in failed for diagnostic in error.diagnostics)
    text = "\n".join([f"{len(failed)} of {len(errors)} matchers failed", *texts])
    return BatchError(text, diagnostics, any(error.is_cut for _, error in failed), tuple(errors))


def usage_error(code: str, message: str, *, found: str, allowed: str, help: str) -> UsageError:
    """An error of the parts of this package that are Python."""
    notes = (("found", found), ("allowed", allowed), ("help", help))
    text = f"[{code}] {message}" + "".join(f"\n  {name}: {note}" for name, note in notes)
    diagnostic = Diagnostic(code, message, text, found=found, allowed=allowed, help=help)
    return UsageError(f"error{text}", (diagnostic,))
