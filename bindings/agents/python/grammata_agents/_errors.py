"""What goes wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass

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


class AgentsError(Exception):
    """An error of this package. `str()` of it is what the program prints.

    >>> import grammata_agents
    >>> try:
    ...     grammata_agents.Procedure("Name: a")
    ... except grammata_agents.GrammarError as error:
    ...     print(error.code, error.place)
    pdl/missing-field line 1, column 1
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
    def file(self) -> str | None:
        """The file of the first diagnostic's place."""
        return self.diagnostic.file

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


class GrammarError(AgentsError):
    """A spec, procedure, domain or document of tools cannot be read: its author can correct it."""


class LimitError(AgentsError):
    """A limit on what input may cost was exceeded."""


class RejectedError(AgentsError):
    """A step, a call or a text is not allowed where it was offered."""


class UsageError(AgentsError):
    """The caller used the library in a way that cannot work: an unknown name, a result without a call."""


class FileError(AgentsError):
    """A file cannot be read or written."""


# where they are imported from, which is what a traceback shows
for _class in (Diagnostic, AgentsError, *AgentsError.__subclasses__()):
    _class.__module__ = "grammata_agents"


def usage_error(
    code: str, message: str, *, found: str, allowed: str, help: str, kind: type[AgentsError] = UsageError
) -> AgentsError:
    """An error of the parts of this package that are Python."""
    notes = (("found", found), ("allowed", allowed), ("help", help))
    text = f"[{code}] {message}" + "".join(f"\n  {name}: {note}" for name, note in notes)
    diagnostic = Diagnostic(code, message, text, found=found, allowed=allowed, help=help)
    return kind(f"error{text}", (diagnostic,))
