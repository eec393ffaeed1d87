"""A pytest plug-in: vLLM's tests run on Grammata in place of both XGrammar and guidance, and a line a test says what became of it.

`GRAMMATA_OUTCOMES` is the file of these lines; `GRAMMATA_PEER=1` leaves vLLM's own engines in place. A line says too whether the test
reached this package at all: tests of vLLM's own classes, or of other back ends, do not.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

sys.setrecursionlimit(20_000)

_calls = [0]


def _replace() -> None:
    from grammata.integrations.vllm import backend, plugin, validation
    from grammata.integrations.vllm.settings import Settings

    def counted(function: Any) -> Any:
        def call(*arguments: Any, **named: Any) -> Any:
            _calls[0] += 1
            return function(*arguments, **named)

        return call

    backend.source_of = counted(backend.source_of)  # type: ignore[attr-defined]
    validation.source_of = counted(validation.source_of)  # type: ignore[attr-defined]
    for name in ("guidance", "xgrammar"):
        for owner, attribute, value in plugin.changes_for(Settings(name=name)):  # type: ignore[arg-type]
            setattr(owner, attribute, value)


if os.environ.get("GRAMMATA_PEER") != "1":
    _replace()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.when == "setup":
        _calls[0] = 0
    if report.when == "call" or report.outcome != "passed":
        kind = report.outcome if report.when == "call" or report.outcome == "skipped" else "error"
        if hasattr(report, "wasxfail"):
            kind = "xfailed" if report.outcome == "skipped" else "xpassed"
        reason = "" if report.outcome == "passed" else str(report.longrepr)[-1500:]
        line = {"test": item.nodeid.split("tests/")[-1], "outcome": kind, "reached": _calls[0] > 0, "reason": reason}
        with open(os.environ["GRAMMATA_OUTCOMES"], "a") as file:
            file.write(json.dumps(line) + "\n")
