"""Exceptions of the package, and the diagnostics in them."""

from __future__ import annotations

from dataclasses import dataclass

MOST_SHOWN = 4
"""Maximum number of matchers whose errors are in the text of a `BatchError`."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A message about input from outside: an error or a warning. Fields without a value are None."""

    code: str
    """The stable code, of the form `room/what`."""
    message: str
    """What is wrong, in one line."""
    text: str
    """The whole diagnostic as text. The program prints `error` before that of an error."""
    place: str | None = None
    """The place in the input, as text for people; the fields below have its parts. None for the input as a whole."""
    line: int | None = None
    """The line of the place, from 1."""
    column: int | None = None
    """The column of the place in characters, from 1."""
    pointer: str | None = None
    """The place as a JSON Pointer (RFC 6901) into the input."""
    byte: int | None = None
    """The place as a byte offset, from 0."""
    rule: str | None = None
    """The place as the name of a rule of a grammar."""
    file: str | None = None
    """The name of the file that contains the place."""
    found: str | None = None
    """What was found at the place, as an excerpt."""
    cause: str | None = None
    """The message of another library or the operating system."""
    allowed: str | None = None
    """What is allowed at the place."""
    help: str | None = None
    """What to do, in one line."""

    def __str__(self) -> str:
        return self.text


class GrammataError(Exception):
    """An error of this package. `str()` returns the text that the program prints.

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
    """The diagnostics, in the order of the input. Readers that continue after an error report up to 20.
    A `BatchError` has those of all failed matchers."""
    is_cut: bool
    """Whether there were more than 20 errors. Reading then stopped, so there may be further ones."""

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
        """The stable code of the first diagnostic."""
        return self.diagnostic.code

    @property
    def place(self) -> str | None:
        """The place of the first diagnostic."""
        return self.diagnostic.place

    @property
    def found(self) -> str | None:
        """What was found at the place of the first diagnostic."""
        return self.diagnostic.found

    @property
    def allowed(self) -> str | None:
        """What is allowed at the place of the first diagnostic."""
        return self.diagnostic.allowed

    @property
    def help(self) -> str | None:
        """The help of the first diagnostic: what to do, in one line."""
        return self.diagnostic.help


class GrammarError(GrammataError):
    """A grammar, schema or spec is invalid or describes nothing. Its author can correct it."""


class VocabularyError(GrammataError):
    """A tokenizer or vocabulary cannot be read or is not exact."""


class LimitError(GrammataError):
    """A limit on the size or cost of input was exceeded."""


class RejectedError(GrammataError):
    """A token or text is not allowed at this point."""


class UsageError(GrammataError):
    """The caller used the library wrongly, such as with a buffer that is too short or a token out of range."""


class ModelError(GrammataError):
    """A language model cannot be loaded or run."""


class FileError(GrammataError):
    """A file cannot be read or written."""


class BatchError(GrammataError):
    """One or more matchers of a batch failed. `diagnostics` are those of all failed matchers."""

    errors: tuple[GrammataError | None, ...]
    """For each matcher of the batch: the exception with which it failed, or None."""

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


# tracebacks then name the public module, from which the classes are imported
for _class in (Diagnostic, TypeWarning, GrammataError, *GrammataError.__subclasses__()):
    _class.__module__ = "grammata"


def batch_error(errors: list[GrammataError | None]) -> BatchError:
    """Returns the error of a batch, given the error of each matcher. At least one must not be None."""
    failed = [(place, error) for place, error in enumerate(errors) if error is not None]
    texts = [f"matcher {place}: {error}" for place, error in failed[:MOST_SHOWN]]
    if len(failed) > MOST_SHOWN:
        texts.append(f"and {len(failed) - MOST_SHOWN} more")
    diagnostics = tuple(diagnostic for _, error in failed for diagnostic in error.diagnostics)
    text = "\n".join([f"{len(failed)} of {len(errors)} matchers failed", *texts])
    return BatchError(text, diagnostics, any(error.is_cut for _, error in failed), tuple(errors))


def usage_error(code: str, message: str, *, found: str, allowed: str, help: str) -> UsageError:
    """Returns an error of the parts of this package that are written in Python."""
    notes = (("found", found), ("allowed", allowed), ("help", help))
    text = f"[{code}] {message}" + "".join(f"\n  {name}: {note}" for name, note in notes)
    diagnostic = Diagnostic(code, message, text, found=found, allowed=allowed, help=help)
    return UsageError(f"error{text}", (diagnostic,))
