"""Exceptions of the package, and the diagnostics in them."""

from __future__ import annotations

from dataclasses import dataclass

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


class AgentsError(Exception):
    """An error of this package. `str()` returns the text that the program prints.

    >>> import grammata_agents
    >>> try:
    ...     grammata_agents.Procedure("Name: a")
    ... except grammata_agents.GrammarError as error:
    ...     print(error.code, error.place)
    pdl/missing-field line 1, column 1
    """

    diagnostics: tuple[Diagnostic, ...]
    """The diagnostics, in the order of the input. Readers that continue after an error report up to 20."""
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
    def file(self) -> str | None:
        """The file of the first diagnostic."""
        return self.diagnostic.file

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


class GrammarError(AgentsError):
    """A spec, procedure, domain or document of tools is invalid. Its author can correct it."""


class LimitError(AgentsError):
    """A limit on the size or cost of input was exceeded."""


class RejectedError(AgentsError):
    """A step, a call or a text is not allowed at this point."""


class UsageError(AgentsError):
    """The caller used the library wrongly, such as with an unknown name or with a result without a call."""


class FileError(AgentsError):
    """A file cannot be read or written."""


# tracebacks then name the public module, from which the classes are imported
for _class in (Diagnostic, AgentsError, *AgentsError.__subclasses__()):
    _class.__module__ = "grammata_agents"


def usage_error(
    code: str, message: str, *, found: str, allowed: str, help: str, kind: type[AgentsError] = UsageError
) -> AgentsError:
    """Returns an error of the parts of this package that are written in Python."""
    notes = (("found", found), ("allowed", allowed), ("help", help))
    text = f"[{code}] {message}" + "".join(f"\n  {name}: {note}" for name, note in notes)
    diagnostic = Diagnostic(code, message, text, found=found, allowed=allowed, help=help)
    return kind(f"error{text}", (diagnostic,))
