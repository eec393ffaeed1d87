"""A pytest plugin that runs XGrammar's tests on Grammata's engine and writes down how each ended.

`GRAMMATA_OUTCOMES` is the file for the outcomes: a line of JSON for each test. With `GRAMMATA_PEER` set, XGrammar's own engine runs, which
tells wrong expectations from differences.
"""

from __future__ import annotations

import json
import linecache
import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

TEXT_HELPERS = ("check_stag_with_grammar", "check_grammar_with_expected_grammar", "check_grammar_with_expected")
"""Functions of test modules that compare the text of EBNF, which is XGrammar's own. They pass; acceptance is checked after them."""

SECONDS = 60
"""A test that takes longer fails."""

# vLLM's modules of models are deeper than the default allows
sys.setrecursionlimit(20_000)

IS_PEER = bool(os.environ.get("GRAMMATA_PEER"))

if not IS_PEER:
    from grammata.compat import xgrammar

    xgrammar.install()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_OUTCOMES] = open(os.environ["GRAMMATA_OUTCOMES"], "w", encoding="utf-8")  # noqa: SIM115


_OUTCOMES = pytest.StashKey[Any]()


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[_OUTCOMES].close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        for name in TEXT_HELPERS:
            if hasattr(module, name):
                setattr(module, name, lambda *arguments, **named: None)


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
    return file.rpartition("/")[2] + colons + rest


def _where(call: pytest.CallInfo[None]) -> list[dict[str, str]]:
    """The values of the innermost frames of test files, which a person needs to tell what differs."""
    frames = []
    for entry in call.excinfo.traceback if call.excinfo else []:
        if "/tests/" in str(entry.path):
            values = {name: repr(value)[:1500] for name, value in entry.frame.f_locals.items() if not name.startswith("@")}
            frames.append({"line": linecache.getline(str(entry.path), entry.lineno + 1).strip(), **values})
    return frames[-2:]
