"""The environment variables of the plug-in. All processes of a server read the same values.

| variable | values |
|---|---|
| `GRAMMATA_VLLM` | the name of vLLM's back end that is replaced: `guidance` (default), `xgrammar`; `auto`: all requests of `--structured-outputs-config.backend auto`; `off` |
| `GRAMMATA_VLLM_BUDGET` | `on` (default): outputs are completed within `max_tokens`, and a warning says where they cannot; `strict`: such requests fail; `off` |
| `GRAMMATA_VLLM_CACHE_MB` | bytes of compiled grammars in memory, in MiB; default 512 |
| `GRAMMATA_VLLM_FOLDER` | a folder of mask files, kept from one process to the next; default: none |
| `GRAMMATA_VLLM_WHITESPACE` | white space of JSON, as `whitespace=` of `compile_json_schema`; default `free` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from grammata._errors import UsageError, usage_error

BackendName = Literal["guidance", "xgrammar", "auto", "off"]
BudgetMode = Literal["on", "strict", "off"]

_PREFIX = "GRAMMATA_VLLM"


@dataclass(frozen=True, slots=True)
class Settings:
    """Values of the environment variables, or their defaults."""

    name: BackendName = "guidance"
    """The back end of vLLM that is replaced."""
    budget: BudgetMode = "on"
    """Whether outputs are completed within `max_tokens`, and whether a request fails if none is short enough."""
    cache_bytes: int = 512 << 20
    """Maximum size in bytes of the compiled grammars in memory."""
    folder: str | None = None
    """The folder of mask files; None for no files."""
    whitespace: str = "free"
    """The white space of JSON, for requests that do not choose it."""

    @property
    def closes_objects(self) -> bool:
        """Whether objects have only declared members, as in XGrammar; with guidance, they may have others."""
        return self.name in ("xgrammar", "auto")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the variables; an empty one is the same as none. Raises UsageError for a value that is not allowed."""
        return cls(
            name=cast(BackendName, _one_of(environment, _PREFIX, get_args(BackendName), "guidance")),
            budget=cast(BudgetMode, _one_of(environment, f"{_PREFIX}_BUDGET", get_args(BudgetMode), "on")),
            cache_bytes=_mebibytes(environment, f"{_PREFIX}_CACHE_MB", 512),
            folder=environment.get(f"{_PREFIX}_FOLDER") or None,
            whitespace=environment.get(f"{_PREFIX}_WHITESPACE") or "free",
        )


def _one_of(environment: Mapping[str, str], name: str, allowed: tuple[str, ...], default: str) -> str:
    value = environment.get(name) or default
    if value not in allowed:
        raise _unknown(name, value, ", ".join(allowed))
    return value


def _mebibytes(environment: Mapping[str, str], name: str, default: int) -> int:
    value = environment.get(name) or str(default)
    if not (value.isascii() and value.isdigit() and 0 < int(value) <= 1 << 20):
        raise _unknown(name, value, "an integer from 1 to 1048576")
    return int(value) << 20


def _unknown(name: str, value: str, allowed: str) -> UsageError:
    return usage_error(
        "vllm/setting",
        f"invalid value for the environment variable {name}",
        found=value,
        allowed=allowed,
        help=f"set it to one of these, or unset {name}",
    )
