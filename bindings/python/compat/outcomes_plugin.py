"""A pytest plugin that records the outcome of each test.

`GRAMMATA_OUTCOMES` is the file for the outcomes: a line of JSON for each test. `GRAMMATA_PREFIX` comes before the names of tests.
`GRAMMATA_SECONDS` is how long a test may take.
"""

from __future__ import annotations

import json
import linecache
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

SECONDS = int(os.environ.get("GRAMMATA_SECONDS", "60"))
"""A test that takes longer fails."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_OUTCOMES] = open(os.environ["GRAMMATA_OUTCOMES"], "w", encoding="utf-8")  # noqa: SIM115


_OUTCOMES = pytest.StashKey[Any]()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_OUTCOMES].close()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    report = outcome.get_result()
    if report.when == "call" or report.outcome != "passed":
        name = item.nodeid.rpartition("/")[2] if "::" not in item.nodeid else _name(item.nodeid)
        line = {"test": name, "outcome": report.outcome, "seconds": round(report.duration, 3)}
        if report.outcome == "failed":
            line["why"] = str(call.excinfo.value) if call.excinfo else ""
            line["kind"] = call.excinfo.typename if call.excinfo else ""
            line["where"] = _where(call)
            line["report"] = report.longreprtext[-6000:]
        elif report.outcome == "skipped":
            line["why"] = str(report.longrepr)[-200:]
        file = item.config.stash[_OUTCOMES]
        file.write(json.dumps(line) + "\n")
        file.flush()


def _name(node: str) -> str:
    """The name of a test without the folder of its file."""
    file, colons, rest = node.partition("::")
    return os.environ.get("GRAMMATA_PREFIX", "") + file.rpartition("/")[2] + colons + rest


def _where(call: pytest.CallInfo[None]) -> list[dict[str, str]]:
    """The values of variables in the innermost frames of test files, for a person who looks for the difference."""
    frames = []
    for entry in call.excinfo.traceback if call.excinfo else []:
        if "/tests/" in str(entry.path):
            values = {name: repr(value)[:1500] for name, value in entry.frame.f_locals.items() if not name.startswith("@")}
            frames.append({"line": linecache.getline(str(entry.path), entry.lineno + 1).strip(), **values})
    return frames[-2:]
