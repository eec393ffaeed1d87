"""Matchers in the interface of XGrammar. A matcher follows one sequence under a compiled grammar."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from typing import Any

from grammata import _native
from grammata._errors import GrammataError
from grammata.compat.xgrammar.compiler import CompiledGrammar
from grammata.compat.xgrammar.exception import translated


class GrammarMatcher:
    """One sequence under a grammar.

    A sequence terminates with a stop token, which is allowed if the text is complete; with
    `terminate_without_stop_token`, it terminates as soon as the text is complete, and stop tokens are not allowed. `override_stop_tokens` replace the
    vocabulary's stop tokens. `max_rollback_tokens` has no effect: rollback is unlimited. No grammar sets temperatures,
    so `temperature` is always `default_temperature`.

    `budget` is an option of this package: masks allow only texts that are complete within this number of tokens, stop
    tokens not counted. A string that `accept_string` accepts counts as one token. A budget within which no complete
    text is known is a RuntimeError that names the least number that is known to be enough.
    """

    __slots__ = (
        "_budget",
        "_compiled",
        "_is_stopped",
        "_is_terminated_when_complete",
        "_matcher",
        "_stop",
        "_stops",
        "_temperature",
    )

    def __init__(
        self,
        compiled_grammar: CompiledGrammar,
        *,
        override_stop_tokens: int | Sequence[int] | None = None,
        terminate_without_stop_token: bool = False,
        max_rollback_tokens: int = -1,
        default_temperature: float | None = None,
        budget: int | None = None,
    ) -> None:
        if not isinstance(compiled_grammar, CompiledGrammar):
            raise ValueError(f"a GrammarMatcher needs a CompiledGrammar, not {type(compiled_grammar).__name__}")
        if max_rollback_tokens != -1:
            warnings.warn("max_rollback_tokens has no effect: rollback is unlimited", DeprecationWarning, stacklevel=2)
        if default_temperature is not None and not (math.isfinite(default_temperature) and default_temperature >= 0):
            raise RuntimeError(f"default_temperature={default_temperature!r} is not a finite non-negative number")
        self._compiled = compiled_grammar
        self._stops = _stop_tokens(compiled_grammar, override_stop_tokens)
        self._stop = frozenset(self._stops)
        self._matcher: _native.Matcher = compiled_grammar._matcher(self._stops)
        self._is_terminated_when_complete = terminate_without_stop_token
        self._is_stopped = False
        self._temperature = None if default_temperature is None else float(default_temperature)
        self._budget = budget
        if budget is not None:
            with translated(RuntimeError):
                self._matcher.check_budget(budget)

    def accept_token(self, token_id: int, *, debug_print: bool = False) -> bool:
        """Accepts a token, or returns False and changes nothing. Raises RuntimeError if a limit is exceeded."""
        if self._is_stopped or not 0 <= token_id < self._compiled.tokenizer_info.vocab_size:
            return False
        if self._is_terminated_when_complete and token_id in self._stop and self._matcher.is_accepting():
            return False
        try:
            accepted = self._matcher.try_accept(token_id)
        except GrammataError as cause:
            raise RuntimeError(str(cause)) from cause
        # a grammar may contain a stop token as a token terminal, which does not end the sequence
        self._is_stopped = accepted and token_id in self._stop and self._matcher.is_accepting()
        return accepted

    def accept_string(self, input_str: str | bytes, *, debug_print: bool = False) -> bool:
        """Accepts a text as one step, or returns False and changes nothing. Raises RuntimeError if a limit is
        exceeded."""
        if self._is_stopped:
            return False
        with translated(RuntimeError):
            return self._matcher.try_accept_bytes(input_str)

    def fill_next_token_bitmask(self, bitmask: Any, index: int = 0, *, debug_print: bool = False) -> bool:
        """Writes the next token's mask into row `index`, and returns False if it allows every token.

        The bitmask is a tensor or array of signed 32-bit integers on the CPU, as `allocate_token_bitmask` creates it.
        Raises RuntimeError for another bitmask or a row that it lacks, after a stop token, if a limit is exceeded, or
        if no complete text is known within the budget: a token was accepted that the last mask did not allow.
        """
        info = self._compiled.tokenizer_info
        size = info.vocab_size
        row = _row(bitmask, index, -(-size // 32))
        self._check_running()
        if not size:
            return False
        # this runs for each token, and a context manager would cost as much as the mask
        try:
            left = self._left()
            if left is None:
                self._matcher.fill_mask(row)
            else:
                self._matcher.fill_mask_within(left, row)
            # stop tokens are allowed only after complete texts, and tokens without text never, so that counting is
            # rarely needed
            if not info.is_all_text or (self._stop and not self._matcher.is_accepting()):
                if self._is_terminated_when_complete and self._matcher.is_accepting():
                    _clear(row, self._stops)
                return True
            if self._is_terminated_when_complete and self._stop:
                _clear(row, self._stops)
                return True
            return len(self._matcher.mask() if left is None else self._matcher.mask_within(left)) != size
        except GrammataError as cause:
            raise RuntimeError(str(cause)) from cause

    def traverse_draft_tree(
        self,
        retrieve_next_token: Any,
        retrieve_next_sibling: Any,
        draft_tokens: Any,
        token_bitmask: Any,
        time_threshold: float = -1.0,
        temperatures: Any = None,
    ) -> bool:
        """Fills the row of each node of a tree of drafted tokens with the mask after its token. The matcher does not
        change.

        Node 0 is the root, whose token has been accepted already. The first two arrays have the first child and the
        next sibling of each node, or -1. The row of a token that its parent's mask does not allow, or after which the
        sequence has terminated, becomes zero; the rows of its descendants are not written. Returns False after more than
        `time_threshold` seconds, if that is positive; then some rows are not written. `temperatures`, an array with an
        element for each node, gets `temperature` for each node with a mask, and -1 for the others. Raises RuntimeError
        if the arrays are not those of a tree.
        """
        children, siblings, tokens = _tree(retrieve_next_token, retrieve_next_sibling, draft_tokens, token_bitmask)
        if temperatures is not None:
            shape, kind = tuple(temperatures.shape), str(temperatures.dtype).removeprefix("torch.")
            if shape != (len(tokens),) or kind != "float32":
                raise RuntimeError(f"a temperatures tensor has {len(tokens)} elements of float32, not {shape} of {kind}")
            temperatures[...] = -1
        end = time.monotonic() + time_threshold if time_threshold > 0 else math.inf
        # nodes to visit, each with the number of tokens above it
        waiting, depth = [(0, 0)], 0
        try:
            while waiting:
                node, above = waiting.pop()
                if time.monotonic() > end:
                    return False
                if siblings[node] != -1:
                    waiting.append((siblings[node], above))
                self.rollback(depth - above)
                depth = above
                accepted = node == 0 or (self._is_within_budget(tokens[node]) and self.accept_token(tokens[node]))
                depth += accepted and node != 0
                if not accepted or self.is_terminated():
                    token_bitmask[node] = 0
                    continue
                self.fill_next_token_bitmask(token_bitmask, node)
                if temperatures is not None and self._temperature is not None:
                    temperatures[node] = self._temperature
                if children[node] != -1:
                    waiting.append((children[node], depth))
        finally:
            self.rollback(depth)
        return True

    def is_terminated(self) -> bool:
        """Whether the sequence has ended with a stop token; with `terminate_without_stop_token`, whether the text is complete."""
        return self.is_completed() if self._is_terminated_when_complete else self._is_stopped

    def is_completed(self) -> bool:
        """Whether the text so far is complete."""
        return self._matcher.is_accepting()

    def reset(self) -> None:
        """Undoes all steps."""
        self._matcher.reset()
        self._is_stopped = False

    def rollback(self, num_tokens: int = 1) -> None:
        """Undoes the last steps: accepted tokens and strings. Raises RuntimeError if there were fewer."""
        with translated(RuntimeError):
            self._matcher.rollback(num_tokens)
        self._is_stopped = self._is_stopped and num_tokens == 0

    def fork(self) -> GrammarMatcher:
        """An independent copy of the matcher with the same state."""
        made = object.__new__(GrammarMatcher)
        for name in GrammarMatcher.__slots__:
            setattr(made, name, getattr(self, name))
        made._matcher = self._matcher.fork()
        return made

    def find_jump_forward_string(self) -> str:
        """The longest text with which every completion begins, without a last character that is only forced in part."""
        self._check_running()
        with translated(RuntimeError):
            return _whole_characters(self._matcher.forced_bytes())

    def find_jump_forward_tokens(self) -> list[int]:
        """Tokens that spell the text with which every completion begins, as far as tokens fit into it.

        Each token is the longest that fits. The last one is left out if a longer token of the vocabulary begins with it.
        Stop tokens are neither in the list nor longer tokens. The list is empty if the text may end here, and after a stop
        token. The tokens are not accepted. Raises RuntimeError if a limit is exceeded.
        """
        if self._is_stopped or not self._compiled.tokenizer_info.vocab_size:
            return []
        with translated(RuntimeError):
            return self._matcher.greedy_forced_tokens()

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end the sequence."""
        return list(self._stops)

    @property
    def max_rollback_tokens(self) -> int:
        """Always -1: rollback is unlimited."""
        return -1

    @property
    def temperature(self) -> float | None:
        """The default temperature; None without one. Grammars set no temperature."""
        return self._temperature

    def _debug_print_internal_state(self) -> str:
        """The matcher's state as a text, for XGrammar's tests: the same text in the same state."""
        return f"{self._matcher!r} {'stopped' if self._is_stopped else 'running'}"

    def _left(self) -> int | None:
        """The number of tokens that the budget still allows; None without a budget."""
        return None if self._budget is None else max(self._budget - self._matcher.steps, 0)

    def _is_within_budget(self, token: int) -> bool:
        """Whether the budget allows a drafted token. Raises RuntimeError if a limit is exceeded, or nothing is within
        the budget."""
        left = self._left()
        if left is None:
            return True
        if not 0 <= token < self._compiled.tokenizer_info.vocab_size:
            return False
        with translated(RuntimeError):
            return self._matcher.is_token_allowed_within(token, left)

    def _check_running(self) -> None:
        if self._is_stopped:
            raise RuntimeError("the sequence has terminated with a stop token")


class BatchGrammarMatcher:
    """Calls for several matchers. `max_threads` is a number or "auto" and has no effect."""

    def __init__(self, max_threads: int | str = "auto") -> None:
        if max_threads != "auto" and (not isinstance(max_threads, int) or max_threads < 1):
            raise RuntimeError(f'max_threads={max_threads!r} is neither a number from 1 nor "auto"')

    def batch_fill_next_token_bitmask(
        self, matchers: Sequence[GrammarMatcher], bitmask: Any, indices: Sequence[int] | None = None, debug_print: bool = False
    ) -> None:
        """Fills the row of each matcher: its index in the list, or the element of `indices` at that index."""
        rows = range(len(matchers)) if indices is None else indices
        if len(rows) != len(matchers):
            raise RuntimeError(f"{len(rows)} indices for {len(matchers)} matchers")
        for matcher, row in zip(matchers, rows, strict=True):
            matcher.fill_next_token_bitmask(bitmask, row)

    @staticmethod
    def batch_accept_token(matchers: Sequence[GrammarMatcher], tokens: Sequence[int], debug_print: bool = False) -> list[bool]:
        """Accepts a token in each matcher, and returns for each whether it was allowed."""
        _check_length(matchers, tokens)
        return [matcher.accept_token(token) for matcher, token in zip(matchers, tokens, strict=True)]

    @staticmethod
    def batch_accept_string(
        matchers: Sequence[GrammarMatcher], strings: Sequence[str | bytes], debug_print: bool = False
    ) -> list[bool]:
        """Accepts a text in each matcher, and returns for each whether it was allowed."""
        _check_length(matchers, strings)
        return [matcher.accept_string(text) for matcher, text in zip(matchers, strings, strict=True)]

    @staticmethod
    def batch_rollback(matchers: Sequence[GrammarMatcher], num_tokens: Sequence[int]) -> None:
        """Undoes steps in each matcher: in each as many as its element of `num_tokens`."""
        _check_length(matchers, num_tokens)
        for matcher, count in zip(matchers, num_tokens, strict=True):
            matcher.rollback(count)


def _check_length(matchers: Sequence[GrammarMatcher], others: Sequence[object]) -> None:
    if len(matchers) != len(others):
        raise RuntimeError(f"{len(others)} values for {len(matchers)} matchers")


def _stop_tokens(compiled: CompiledGrammar, override: int | Sequence[int] | None) -> tuple[int, ...]:
    info = compiled.tokenizer_info
    if override is None:
        return tuple(info.stop_token_ids)
    ids = (override,) if isinstance(override, int) else tuple(override)
    if not ids:
        raise RuntimeError("override_stop_tokens is empty")
    for token in ids:
        if not 0 <= token < info.vocab_size:
            raise RuntimeError(f"override_stop_tokens has {token}, which is not a token of the {info.vocab_size}")
    return ids


def _tree(*arrays: Any) -> list[list[int]]:
    """The children, siblings and tokens of a draft tree as lists. Raises RuntimeError if the arrays are not those of a
    tree."""
    *parts, bitmask = arrays
    count = len(parts[0])
    for part in parts:
        if part.ndim != 1 or len(part) != count or not count or str(part.dtype).removeprefix("torch.") != "int64":
            raise RuntimeError("a draft tree has three arrays of int64 with an element for each node, at least one")
    if bitmask.ndim != 2 or bitmask.shape[0] != count:
        raise RuntimeError(f"a draft tree of {count} nodes has a bitmask of as many rows, not of the shape {tuple(bitmask.shape)}")
    children, siblings, tokens = (part.tolist() for part in parts)
    targets = [edge for edge in children + siblings if edge != -1]
    # at most one edge leads to each node and none to the root, so that there is no cycle
    if siblings[0] != -1 or len(set(targets)) != len(targets) or any(not 0 < target < count for target in targets):
        raise RuntimeError("the edges of a draft tree lead from the root to each node at most once, and the root has no sibling")
    return [children, siblings, tokens]


def _clear(row: Any, tokens: Sequence[int]) -> None:
    """Clears the bits of tokens in a row of signed 32-bit integers."""
    for token in tokens:
        word, bit = divmod(token, 32)
        row[word] &= 0x7FFF_FFFF if bit == 31 else ~(1 << bit)


_WORDS: set[Any] = set()
"""The element types that were found to be signed 32-bit integers, of torch or NumPy."""


def _row(bitmask: Any, index: int, words: int) -> Any:
    """A row of a bitmask. Raises RuntimeError if it is not a row of `words` signed 32-bit integers on the CPU."""
    dtype, shape = getattr(bitmask, "dtype", None), tuple(getattr(bitmask, "shape", ()))
    if dtype not in _WORDS:
        if str(dtype).removeprefix("torch.") != "int32":
            raise RuntimeError(f"a bitmask has elements of int32, not {dtype}")
        _WORDS.add(dtype)
    device = getattr(getattr(bitmask, "device", None), "type", "cpu")
    if device != "cpu":
        raise RuntimeError(f"a bitmask must be on the CPU, not on {device}")
    if len(shape) not in (1, 2) or shape[-1] != words:
        raise RuntimeError(f"a bitmask for this vocabulary has {words} elements a row, not the shape {shape}")
    rows = shape[0] if len(shape) == 2 else 1
    if not 0 <= index < rows:
        raise RuntimeError(f"there is no row {index} in a bitmask of {rows}")
    return bitmask[index] if len(shape) == 2 else bitmask


def _whole_characters(text: bytes) -> str:
    """The UTF-8 text without a character that is cut off at its end."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        return text[: error.start].decode()
