"""The environment variables of the plug-in. All processes of a server read the same values.

| variable | values |
|---|---|
| `GRAMMATA_VLLM` | the name of vLLM's back end that is replaced: `guidance` (default), `xgrammar`; `auto`: all requests of `--structured-outputs-config.backend auto`; `off` |
| `GRAMMATA_VLLM_REQUIRED` | `1`: a server that cannot use Grammata ends with the reason; `0` (default): it continues without Grammata |

The others, such as `GRAMMATA_VLLM_BUDGET`, are those of `grammata.integrations.serving.settings`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast, get_args

from grammata._errors import usage_error
from grammata.integrations.serving import settings
from grammata.integrations.serving.settings import Variables

BackendName = Literal["guidance", "xgrammar", "auto", "off"]

PREFIX = "GRAMMATA_VLLM"
_REQUIRED = f"{PREFIX}_REQUIRED"


@dataclass(frozen=True, slots=True)
class Settings(settings.Settings):
    """Values of the environment variables, or their defaults."""

    name: BackendName = "guidance"
    """The back end of vLLM that is replaced."""
    required: bool = False
    """Whether a server that cannot use this package ends."""

    @property
    def closes_objects(self) -> bool:
        """Whether objects have only declared members, as in XGrammar; with guidance, they may have others."""
        return self.name in ("xgrammar", "auto")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Reads the variables. Raises UsageError for a value that is not allowed and a name that is not known."""
        variables = Variables(PREFIX, environment)
        variables.check_names(("REQUIRED", *settings.NAMES))
        name = variables.one_of("", get_args(BackendName), "guidance")
        required = variables.one_of("REQUIRED", ("0", "1"), "0") == "1"
        if required and name == "off":
            raise usage_error(
                "vllm/setting",
                "Grammata is required and switched off",
                found=f"{_REQUIRED}=1, {PREFIX}=off",
                allowed="one of them",
                help=f"unset {_REQUIRED} to run without Grammata",
            )
        return cls(name=cast(BackendName, name), required=required, **variables.settings())


def is_required(environment: Mapping[str, str]) -> bool:
    """Whether a server must end if it cannot use this package, also if other variables are invalid.

    A value that is not allowed counts as a yes, since it is an error, and only a server that ends shows it.
    """
    return environment.get(_REQUIRED, "") not in ("", "0")
