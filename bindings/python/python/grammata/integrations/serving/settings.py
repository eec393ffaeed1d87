"""Settings of a plug-in by environment variables, whose names begin with a prefix such as `GRAMMATA_VLLM`.

| variable | values |
|---|---|
| `PREFIX_BUDGET` | `on`: outputs are completed within the request's limit of tokens, and a warning says where they cannot; `strict`: such requests fail; `off` |
| `PREFIX_LIMITS` | limits of the compiler, as in `mask_work=2000000,cache_bytes=67108864`; default: those of `grammata limits` |
| `PREFIX_CACHE_MB` | bytes of compiled grammars in memory, in MiB; default 512 |
| `PREFIX_FOLDER` | a folder of mask files, kept from one process to the next; default: none |
| `PREFIX_WHITESPACE` | white space of JSON, as `whitespace=` of `compile_json_schema`; default `free` |
| `PREFIX_SLOW_MS` | a grammar that takes at least so many milliseconds to compile is logged; default 1000 |
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast, get_args

from grammata._errors import GrammataError, UsageError, usage_error
from grammata._native import Source

BudgetMode = Literal["on", "strict", "off"]

NAMES = ("BUDGET", "LIMITS", "CACHE_MB", "FOLDER", "WHITESPACE", "SLOW_MS")
"""The ends of the variables' names."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Values of the environment variables, or their defaults."""

    budget: BudgetMode = "on"
    """Whether outputs are completed within the limit of tokens, and whether a request fails if none is short enough."""
    cache_bytes: int = 512 << 20
    """Maximum size in bytes of the compiled grammars in memory."""
    folder: str | None = None
    """The folder of mask files; None for no files."""
    whitespace: str = "free"
    """The white space of JSON, for requests and servers that do not choose it."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """Limits of the compiler by name; the others have their defaults."""
    slow_seconds: float = 1.0
    """A grammar that takes at least so long to compile is logged."""


class Variables:
    """The variables with a prefix. Each method reads one; an empty variable is the same as none.

    All raise UsageError with the code `HOST/setting` for a value that is not allowed.
    """

    def __init__(self, prefix: str, environment: Mapping[str, str]) -> None:
        self._prefix = prefix
        self._environment = environment

    def check_names(self, names: tuple[str, ...]) -> None:
        """Refuses variables that begin with the prefix and `_`, and do not end with one of the names."""
        for name in sorted(self._environment):
            end = name.removeprefix(f"{self._prefix}_")
            if end != name and end not in names:
                near = difflib.get_close_matches(end, names, 1)
                raise usage_error(
                    self._code,
                    "unknown environment variable",
                    found=name,
                    allowed=", ".join(map(self.name, names)),
                    help=f"did you mean {self.name(near[0])}?" if near else f"unset {name}",
                )

    def settings(self, budget: BudgetMode = "on") -> dict[str, Any]:
        """The values of the fields of `Settings`. `budget` is the default of this host."""
        return {
            "budget": cast(BudgetMode, self.one_of("BUDGET", get_args(BudgetMode), budget)),
            "cache_bytes": self.whole("CACHE_MB", 512, range(1, (1 << 20) + 1)) << 20,
            "folder": self.folder("FOLDER"),
            "whitespace": self.whitespace("WHITESPACE", "free"),
            "limits": self.limits("LIMITS"),
            "slow_seconds": self.whole("SLOW_MS", 1000, range(0, 1_000_000_001)) / 1000,
        }

    def name(self, end: str) -> str:
        """The whole name of a variable; `end` is empty for the prefix itself."""
        return f"{self._prefix}_{end}" if end else self._prefix

    def one_of(self, end: str, allowed: tuple[str, ...], default: str) -> str:
        """One of some words."""
        value = self._value(end) or default
        if value not in allowed:
            raise self._invalid(end, value, ", ".join(allowed))
        return value

    def whole(self, end: str, default: int, allowed: range) -> int:
        """A whole number in a range."""
        value = self._value(end) or str(default)
        if not (_is_number(value) and int(value) in allowed):
            raise self._invalid(end, value, f"an integer from {allowed.start} to {allowed.stop - 1}")
        return int(value)

    def folder(self, end: str) -> str | None:
        """A folder for files, which is created if it is missing."""
        value = self._value(end)
        if value is None:
            return None
        try:
            os.makedirs(value, exist_ok=True)
        except OSError as error:
            raise self._invalid(end, f"{value}: {error.strerror}", "a folder, or a path where one can be created") from error
        if not os.access(value, os.W_OK | os.X_OK):
            raise self._invalid(end, f"{value}: not writable", "a folder in which this user can create files")
        return value

    def whitespace(self, end: str, default: str) -> str:
        """White space of JSON, as the front end for schemas reads it."""
        value = self._value(end) or default
        self._checked(end, value, lambda: Source.json_schema("true", whitespace=value).check())
        return value

    def limits(self, end: str) -> dict[str, int]:
        """Limits of the compiler: `NAME=NUMBER`, separated by commas."""
        text, found = self._value(end) or "", {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, number = (word.strip() for word in part.partition("="))
            if not _is_number(number) or name in found:
                raise self._invalid(end, part, "NAME=NUMBER, separated by commas, each name once, such as mask_work=2000000")
            found[name] = int(number)
            self._checked(end, part, lambda: Source.regex("", limits=found))
        return found

    def _checked(self, end: str, value: str, use: Callable[[], object]) -> None:
        """Uses a value, and names the variable in the error if it cannot be used."""
        try:
            use()
        except GrammataError as error:
            allowed = error.allowed or error.diagnostic.message
            raise self._invalid(end, value, allowed, error.help) from error

    @property
    def _code(self) -> str:
        return f"{self._prefix.rpartition('_')[2].lower()}/setting"

    def _value(self, end: str) -> str | None:
        return self._environment.get(self.name(end)) or None

    def _invalid(self, end: str, value: str, allowed: str, help: str | None = None) -> UsageError:
        name = self.name(end)
        message = f"invalid value for the environment variable {name}"
        return usage_error(self._code, message, found=value, allowed=allowed, help=help or f"set it to one of these, or unset {name}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20
