"""The state of one request: an implementation of SGLang's `BaseGrammarObject` with a matcher."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Sequence
from typing import Any

from grammata._errors import BatchError, LimitError, RejectedError
from grammata._native import CompiledGrammar, fill_masks
from grammata.integrations.serving.metrics import Metrics
from grammata.integrations.serving.settings import BudgetMode
from grammata.integrations.torch import apply_mask, covered

_base: Any = importlib.import_module("sglang.srt.constrained.base_grammar_backend")

BATCH = 5
"""The smallest number of rows without budgets that are filled by several threads."""


class GrammataGrammar(_base.BaseGrammarObject):  # type: ignore[misc]
    """A matcher of a request, with a budget if the request has a limit of tokens.

    If a mask cannot be computed (a limit on work), it allows only end tokens, and `accept_token` then raises ValueError
    with the reason, so that SGLang aborts only this request.
    """

    def __init__(
        self,
        compiled: CompiledGrammar,
        vocab_size: int,
        content: dict[str, Any],
        key: str,
        stats: Any,
        budget_mode: BudgetMode = "strict",
        metrics: Metrics = Metrics(),
    ) -> None:
        super().__init__()
        self.compiled = compiled
        self.matcher = compiled.matcher()
        self.vocab_size = vocab_size
        self.content = content
        """The grammar as a format of structural tags."""
        self.key_string = key
        self.grammar_stats = stats
        self.budget_mode = budget_mode
        """Whether outputs are complete within `max_new_tokens`, and whether a request fails if none is short enough."""
        self.metrics = metrics
        self.accepted_tokens: list[int] = []
        self._budget: int | None = None
        self._before: Callable[[], int] = int
        self._is_certain = True
        self._is_cut = False
        self._terminated_at: int | None = None
        self._failure: str | None = None

    def set_budget(self, tokens: int, before: Callable[[], int] = int, is_certain: bool = True) -> None:
        """Bounds the output to `tokens` tokens. `before` returns how many of them do not belong to this grammar.
        Without `is_certain`, the rest may be too small for any text; then masks do not regard the budget."""
        self._budget, self._before, self._is_certain = tokens, before, is_certain

    def accept_token(self, token: int) -> None:
        """Accepts a token. Raises ValueError if it is not allowed. After the end, tokens are only counted."""
        if self._failure is not None:
            raise ValueError(self._failure)
        if not self.is_terminated():
            if not self.matcher.try_accept(token):
                raise ValueError(f"{self.matcher.explain_token(token)}\nafter {self.accepted_tokens}, of {self.key_string}")
            if token in self.matcher.end_tokens and self.matcher.is_finished():
                self._terminated_at = len(self.accepted_tokens)
        self.current_token = token
        self.accepted_tokens.append(token)

    def rollback(self, k: int) -> None:
        """Undoes the last k tokens, those after the end included."""
        if k <= 0:
            return
        kept = len(self.accepted_tokens) - k
        moved = len(self.accepted_tokens) if self._terminated_at is None else self._terminated_at + 1
        if moved > kept:
            self.matcher.rollback(moved - kept)
            self._terminated_at = None
        del self.accepted_tokens[kept:]
        self._failure = None

    def is_terminated(self) -> bool:
        """Whether an end token was accepted."""
        return self._terminated_at is not None

    def copy(self) -> GrammataGrammar:
        """The grammar in its initial state. SGLang copies the grammars of its cache for requests."""
        stats = self.grammar_stats and dataclasses.replace(self.grammar_stats, is_cache_hit=True, tree_traversal_time=[])
        return GrammataGrammar(
            self.compiled, self.vocab_size, self.content, self.key_string, stats, self.budget_mode, self.metrics
        )

    def allocate_vocab_mask(self, vocab_size: int, batch_size: int, device: Any) -> Any:
        return allocate(vocab_size, batch_size)

    def fill_vocab_mask(self, vocab_mask: Any, idx: int) -> None:
        with self.metrics.timed_mask():
            self._fill(vocab_mask[idx].numpy())

    def _fill(self, row: Any) -> None:
        left = self._left()
        try:
            if left is None:
                self.matcher.fill_mask(row)
                return
            try:
                self.matcher.fill_mask_within(left, row)
            except RejectedError:
                if self._is_certain:
                    raise
                if not self._is_cut:
                    self._is_cut = True
                    self.metrics.cut()
                self.matcher.fill_mask(row)
        except (LimitError, RejectedError) as error:
            self._fail(error, row)

    def _left(self) -> int | None:
        if self._budget is None:
            return None
        return max(self._budget - self._before() - len(self.accepted_tokens), 0)

    def _fail(self, error: Exception, row: Any) -> None:
        self._failure = str(error)
        self.metrics.failed(getattr(error, "code", "other"))
        row[:] = 0
        for token in self.matcher.end_tokens:
            bit = token % 32
            row[token // 32] |= (1 << bit) if bit < 31 else -(1 << 31)

    @staticmethod
    def fill_vocab_mask_batched(entries: Sequence[Any], vocab_mask: Any) -> None:
        """Fills the rows of the entries.

        If at least `BATCH` of them have no budget, several threads compute these, without the interpreter's lock.
        """
        plain = [entry for entry in entries if isinstance(entry.grammar, GrammataGrammar) and entry.grammar._budget is None]
        if len(plain) < BATCH:
            plain = []
        else:
            torch: Any = importlib.import_module("torch")
            masks = torch.empty((len(plain), vocab_mask.shape[1]), dtype=torch.int32)
            try:
                with plain[0].grammar.metrics.timed_mask():
                    fill_masks([entry.grammar.matcher for entry in plain], masks)
            except BatchError as error:
                for row, (entry, one) in enumerate(zip(plain, error.errors, strict=True)):
                    if one is not None:
                        entry.grammar._fail(one, masks[row].numpy())
            vocab_mask[[entry.row for entry in plain]] = masks
        done = {id(entry.grammar) for entry in plain}
        for entry in entries:
            if id(entry.grammar) not in done:
                entry.grammar.fill_vocab_mask(vocab_mask, entry.row)

    def fill_tree(self, first_child: list[int], next_sibling: list[int], tokens: list[int], rows: Any) -> None:
        """Writes the mask of each node of a draft tree to which allowed tokens lead. The state does not change. The
        rows of other nodes, and of nodes after the end, allow everything, as after SGLang's function."""
        table = rows.numpy()
        if self._budget is not None or self.is_terminated():
            self._walk(first_child, next_sibling, tokens, table)
            return
        try:
            self.matcher.fill_tree_masks(first_child, next_sibling, tokens, rows)
        except LimitError as error:
            self._fail(error, table[0])
            table[1:] = -1
            return
        table[~table.any(axis=1)] = -1

    def _walk(self, first_child: list[int], next_sibling: list[int], tokens: list[int], table: Any) -> None:
        """Does the work of `fill_tree` token by token, with the remaining budget at each node."""
        if self.is_terminated():
            return
        self._fill(table[0])
        # a node to visit and its parent; None undoes the token of a visited node
        stack: list[tuple[int, int] | None] = [(first_child[0], 0)] if first_child[0] != -1 else []
        while stack:
            step = stack.pop()
            if step is None:
                self.rollback(1)
                continue
            node, parent = step
            if next_sibling[node] != -1:
                stack.append((next_sibling[node], parent))
            token = tokens[node]
            if self._failure is not None or not table[parent][token // 32] >> (token % 32) & 1:
                continue
            self.accept_token(token)
            stack.append(None)
            if not self.is_terminated():
                self._fill(table[node])
                if first_child[node] != -1:
                    stack.append((first_child[node], node))

    @staticmethod
    def reset_vocab_mask(vocab_mask: Any) -> None:
        vocab_mask.fill_(-1)

    @staticmethod
    def move_vocab_mask(vocab_mask: Any, device: Any) -> Any:
        return vocab_mask.to(device, non_blocking=True)

    @staticmethod
    def apply_vocab_mask(logits: Any, vocab_mask: Any) -> None:
        """Masks logits: on CUDA, XPU and MUSA with SGLang's kernel, which is not tested here; otherwise with
        `apply_mask`."""
        if logits.device.type in ("cuda", "xpu", "musa"):
            kernel: Any = importlib.import_module("sglang.kernels.ops.grammar.bitmask_ops")
            kernel.apply_token_bitmask_inplace_triton(logits, vocab_mask)
        else:
            apply_mask(logits, covered(vocab_mask, logits))

    def try_jump_forward(self, tokenizer: Any) -> tuple[list[int], str] | None:
        """The whole characters of the forced text; None if there are none."""
        forced = b"" if self.is_terminated() else self.matcher.forced_bytes()
        text = forced.decode("utf-8", errors="ignore")
        return ([], text) if text and forced.startswith(text.encode()) else None

    def jump_forward_str_state(self, helper: tuple[list[int], str]) -> tuple[str, int]:
        return helper[1], -1

    def jump_and_retokenize(self, old_output_ids: Sequence[int], new_output_ids: Sequence[int], next_state: int) -> None:
        """Undoes the old tokens from the first different one, and accepts the new ones."""
        same = 0
        while same < min(len(old_output_ids), len(new_output_ids)) and old_output_ids[same] == new_output_ids[same]:
            same += 1
        self.rollback(len(old_output_ids) - same)
        for token in new_output_ids[same:]:
            self.accept_token(token)

    def __repr__(self) -> str:
        return f"GrammataGrammar({self.key_string!r}, {self.accepted_tokens})"


def allocate(vocab_size: int, batch_size: int) -> Any:
    """Masks that allow everything, in pinned memory if it is available."""
    torch: Any = importlib.import_module("torch")
    common: Any = importlib.import_module("sglang.srt.utils.common")
    size = (batch_size, (vocab_size + 31) // 32)
    return torch.full(size, -1, dtype=torch.int32, pin_memory=common.is_pin_memory_available())
