"""Conversations in which some tools may be called only after others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grammata_agents._errors import RejectedError, usage_error
from grammata_agents._native import Tools


class ToolSession:
    """One conversation with tools, some of which need others. A tool is open if each tool that it needs was answered.

    >>> import grammata_agents
    >>> names = ("search", "book")
    >>> nothing = {"type": "object", "properties": {}}
    >>> tools = grammata_agents.Tools([{"name": name, "parameters": nothing} for name in names])
    >>> session = grammata_agents.ToolSession(tools, {"book": ["search"]})
    >>> session.open()
    ['search']
    >>> session.call("search")
    >>> session.answered("search")
    >>> session.open()
    ['search', 'book']
    """

    def __init__(self, tools: Tools, needs: Mapping[str, Sequence[str]] | None = None) -> None:
        self.set = tools
        self.needs = {name: tuple(needed) for name, needed in (needs or {}).items()}
        self.answers: list[str] = []
        known = set(tools.names)
        for name in [*self.needs, *(name for needed in self.needs.values() for name in needed)]:
            if name not in known:
                raise usage_error(
                    "python/unknown-name",
                    "unknown tool",
                    found=name,
                    allowed=", ".join(tools.names[:50]),
                    help="`needs` has names of tools that can be called",
                )

    def missing(self, name: str) -> list[str]:
        """The tools that a tool needs and that were not answered yet, in the order of `needs`."""
        return [needed for needed in self.needs.get(name, ()) if needed not in self.answers]

    def open(self) -> list[str]:
        """The names of the tools that may be called next, in the order of the set."""
        return [name for name in self.set.names if not self.missing(name)]

    def tools(self) -> list[dict[str, Any]]:
        """The open tools in the form of the field `tools` of a chat completion."""
        return self.set.definitions(self.open())

    def call(self, name: str, arguments: Mapping[str, Any] | None = None, /) -> None:
        """Checks that a tool is open and may have these arguments; raises `RejectedError` if not."""
        if missing := self.missing(name):
            raise usage_error(
                "tools/needs",
                f"`{name}` needs other tools first",
                found=name,
                allowed=", ".join(missing),
                help="call these first, and `answered` for each result",
                kind=RejectedError,
            )
        self.set.check(name, arguments)

    def answered(self, name: str, /) -> None:
        """Records that a call of a tool had a result. Do not use it for a call that failed."""
        self.answers.append(name)
