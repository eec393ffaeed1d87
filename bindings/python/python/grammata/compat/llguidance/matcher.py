"""Matchers in the interface of llguidance. A matcher follows one sequence under a grammar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from grammata import _native
from grammata._errors import GrammataError
from grammata._native import Source
from grammata.compat.llguidance import memory, sources
from grammata.compat.llguidance.limits import LLParserLimits
from grammata.compat.llguidance.options import JsonCompileOptions
from grammata.compat.llguidance.tokenizer import LLTokenizer

StopReason = Literal[
    "NotStopped",
    "MaxTokensTotal",
    "MaxTokensParser",
    "ParserTooComplex",
    "LexerTooComplex",
    "NoExtension",
    "NoExtensionBias",
    "EndOfSentence",
    "InternalError",
]

_BIAS = tuple(bytes(200 * (byte >> bit & 1) for bit in range(8)) for byte in range(256))
"""For each byte of a mask, the biases of its eight tokens, one byte each."""


class LLMatcher:
    """One sequence under a grammar. The grammar is a string as the functions `grammar_from_…` return it, or a dict.

    Bad grammars, tokens that are not allowed and exceeded limits raise no exception. The matcher keeps the first error:
    `is_error()` is true from then on, and masks allow only the end-of-sequence tokens. Misuse raises exceptions, for
    instance a null or unaligned address, or a wrong size of a mask.

    `budget` is an option of this package: masks allow only texts that are complete within this number of tokens. If
    there is none, the matcher has an error.
    """

    __slots__ = ("_budget", "_end", "_error", "_matcher", "_tokenizer", "_warnings")

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: Any,
        *,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
        budget: int | None = None,
    ) -> None:
        if not isinstance(tokenizer, LLTokenizer):
            raise TypeError(f"'{type(tokenizer).__name__}' object is not an instance of 'LLTokenizer'")
        self._tokenizer, self._budget, self._error = tokenizer, budget, ""
        self._end = frozenset(tokenizer.eos_tokens)
        self._matcher: _native.Matcher | None = None
        self._warnings: list[str] = []
        source: Source | None = None
        try:
            source = sources.source(grammar, tokenizer.vocab_size)
            compiled = tokenizer._grammars.get(source)
            matcher = compiled.matcher()
            if budget is not None:
                matcher.check_budget(budget)
            self._matcher, self._warnings = matcher, [str(warning) for warning in compiled.warnings]
        except (GrammataError, ValueError, TypeError, RecursionError) as error:
            self._error = sources.message(error, source)

    # --- grammars

    @staticmethod
    def grammar_from_json_schema(
        schema: str | dict[str, Any], defaults: JsonCompileOptions | None = None, overrides: JsonCompileOptions | None = None
    ) -> str:
        """The string of a JSON Schema. Raises ValueError.

        Options of `overrides` win over those of the schema's `x-guidance`, and these over `defaults`.
        """
        return sources.of_json_schema(schema, defaults, overrides)

    @staticmethod
    def grammar_from_lark(lark: str) -> str:
        """The string of a Lark grammar, which is its text."""
        return lark

    @staticmethod
    def grammar_from_regex(regex: str) -> str:
        """The string of a regular expression."""
        return sources.grammar_list("regex", regex)

    @staticmethod
    def validate_grammar(grammar: Any, tokenizer: LLTokenizer | None = None, *, limits: LLParserLimits | None = None) -> str:
        """The error of a grammar, or an empty string if it has none."""
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar, tokenizer, limits=limits)
        return messages[0] if is_error else ""

    @staticmethod
    def validate_grammar_with_warnings(
        grammar: Any, tokenizer: LLTokenizer | None = None, *, limits: LLParserLimits | None = None
    ) -> tuple[bool, list[str]]:
        """Whether a grammar has an error, and the error or the warnings.

        Without a tokenizer, special tokens are not looked up.
        """
        source: Source | None = None
        try:
            source = sources.source(grammar, 1 if tokenizer is None else tokenizer.vocab_size)
            if tokenizer is not None:
                return False, [str(warning) for warning in tokenizer._grammars.get(source).warnings]
            warnings = [str(warning) for warning in source.check()]
        except (GrammataError, ValueError, TypeError, RecursionError) as error:
            return True, [sources.message(error, source)]
        if sources.needs_tokens(source):
            warnings.insert(0, "special tokens are not looked up: no tokenizer was given")
        return False, warnings

    def get_grammar_warnings(self) -> list[str]:
        """The warnings about the grammar; none after an error."""
        return list(self._warnings) if not self._error else []

    # --- state

    def is_error(self) -> bool:
        """Whether the matcher has an error. An error is permanent."""
        return bool(self._error)

    def get_error(self) -> str:
        """The first error, or an empty string if there was none."""
        return self._error

    def is_accepting(self) -> bool:
        """Whether the text so far is complete; false after an error."""
        return self._matcher is not None and self._matcher.is_accepting()

    def is_stopped(self) -> bool:
        """Whether at most an end-of-sequence token may follow. Also true after an error."""
        return self._matcher is None or self._matcher.is_finished()

    def stop_reason(self) -> StopReason:
        """Why the matcher stopped: "NotStopped", "NoExtension", "EndOfSentence", or "InternalError" after an error."""
        if self._matcher is None:
            return "InternalError"
        if not self._matcher.is_finished():
            return "NotStopped"
        # a finished matcher allows the end-of-sequence token before it was accepted, and nothing after it
        return "NoExtension" if self._matcher.is_token_allowed(self._tokenizer.eos_token) else "EndOfSentence"

    def deep_copy(self) -> LLMatcher:
        """An independent copy of the matcher with the same state."""
        made = object.__new__(LLMatcher)
        for name in LLMatcher.__slots__:
            setattr(made, name, getattr(self, name))
        made._matcher = None if self._matcher is None else self._matcher.fork()
        return made

    # --- tokens

    def consume_token(self, sampled_token: int) -> bool:
        """Accepts a token. If it is not allowed, returns False and keeps the error.

        If the matcher has stopped, an end-of-sequence token changes nothing, and the result is True.
        """
        if sampled_token in self._end and self.is_stopped():
            return True
        return self._consume(sampled_token)

    def consume_tokens(self, sampled_tokens: Sequence[int]) -> bool:
        """Accepts tokens in order. At the first one that is not allowed, returns False and keeps the error."""
        if self._matcher is not None and sampled_tokens and self._matcher.is_finished():
            return self._fail("the matcher has stopped: no token may follow")
        return all(map(self._consume, sampled_tokens)) and not self._error

    def try_consume_tokens(self, tokens: Sequence[int]) -> int:
        """Accepts tokens up to the first one that is not allowed, and returns their number; 0 if there is an error."""
        for count, token in enumerate(tokens):
            if self._matcher is None or not self._is_in_range(token):
                return 0
            try:
                if self._matcher.is_finished() or not self._matcher.try_accept(token):
                    return count
            except GrammataError as error:
                self._fail(str(error))
                return 0
        return len(tokens) if self._matcher is not None else 0

    def validate_tokens(self, tokens: Sequence[int]) -> int:
        """The number of leading tokens that are allowed in this order.

        The matcher accepts none of them, but keeps an error, for instance of an id out of range.
        """
        if self._matcher is not None:
            if self._matcher.is_finished():
                return 0
            if all(map(self._is_in_range, tokens)):
                try:
                    return self._matcher.validate_tokens(tokens)
                except GrammataError as error:
                    self._fail(str(error))
        # after an error, masks allow only end-of-sequence tokens
        return int(bool(tokens) and tokens[0] == self._tokenizer.eos_token and not self._is_out_of_range(tokens))

    def rollback(self, num_tokens: int) -> bool:
        """Undoes the last tokens. If there were fewer, returns False and keeps the error."""
        if self._matcher is None:
            return False
        try:
            self._matcher.rollback(num_tokens)
        except GrammataError as error:
            return self._fail(str(error))
        return True

    def reset(self) -> bool:
        """Undoes all tokens, and returns True. After an error, does nothing and returns False."""
        if self._matcher is None:
            return False
        self._matcher.reset()
        return True

    def compute_ff_bytes(self) -> bytes:
        """The bytes with which each continuation begins; empty after an error."""
        try:
            return b"" if self._matcher is None else self._matcher.forced_bytes()
        except GrammataError as error:
            self._fail(str(error))
            return b""

    def compute_ff_tokens(self) -> list[int]:
        """The tokens of the forced bytes, as the tokenizer writes them.

        Tokens that may change when further text follows are left out. Without the model's tokenizer, the list is empty.
        """
        if not self._tokenizer.is_canonical:
            return []
        forced = self.compute_ff_bytes()
        if not forced or self._matcher is None:
            return []
        after = self._matcher.fork()
        if after.try_accept_bytes(forced) and after.is_finished():
            tokens = self._tokenizer.tokenize_bytes(forced)
        else:
            tokens, _ = self._tokenizer.tokenize_partial(forced)
        return tokens if self._matcher.validate_tokens(tokens) == len(tokens) else []

    # --- masks

    def compute_bitmask(self) -> bytes:
        """The mask as bytes: a bit for each token, in words of 32 bits."""
        mask = bytearray(self._tokenizer._vocabulary.mask_words * 4)
        return bytes(mask) if self._fill(mask) else self._end_mask()

    def compute_logit_bias(self) -> bytes:
        """The mask as a byte for each token: 200 if the token is allowed, otherwise 0."""
        return b"".join([_BIAS[byte] for byte in self.compute_bitmask()])[: self._tokenizer.vocab_size]

    def unsafe_compute_mask_ptr(self, trg_pointer: int, trg_byte_size: int) -> None:
        """Writes the mask to an address. Raises ValueError if the address is null or not aligned, or the size is
        wrong."""
        memory.check(trg_pointer, trg_byte_size, self._tokenizer.vocab_size)
        if not self._fill(memory.row(trg_pointer, trg_byte_size)):
            memory.write(trg_pointer, self._end_mask())

    def unsafe_compute_mask_ptr_with_draft_token(self, trg_pointer: int, trg_byte_size: int, draft_tokens: Sequence[int]) -> None:
        """Writes the masks along a draft to consecutive rows; see `LLExecutor`."""
        from grammata.compat.llguidance.executor import fill

        memory.check(trg_pointer, trg_byte_size, self._tokenizer.vocab_size)
        fill([(self, 0, list(draft_tokens))], trg_pointer, trg_byte_size, len(draft_tokens) + 1)

    def get_capture(self, name: str) -> bytes | None:
        """Always None: captures are read and not reported."""
        return None

    def get_captures(self) -> list[tuple[str, bytes]]:
        """Always an empty list: captures are read and not reported."""
        return []

    def _left(self) -> int | None:
        """The number of tokens that the budget still allows; None without a budget or after an error."""
        if self._budget is None or self._matcher is None:
            return None
        return max(self._budget - self._matcher.steps, 0)

    def _fill(self, buffer: Any) -> bool:
        """Writes the mask and returns True. If the matcher has stopped or fails, returns False."""
        if self._matcher is None or self._matcher.is_finished():
            return False
        try:
            left = self._left()
            if left is None:
                self._matcher.fill_mask(buffer)
            else:
                self._matcher.fill_mask_within(left, buffer)
        except GrammataError as error:
            return self._fail(str(error))
        return True

    def _end_mask(self) -> bytes:
        """The mask of the end-of-sequence tokens."""
        bits = sum(1 << token for token in self._end)
        return bits.to_bytes(self._tokenizer._vocabulary.mask_words * 4, "little")

    def _consume(self, token: int) -> bool:
        if self._matcher is None or not self._is_in_range(token):
            return False
        try:
            self._matcher.accept_token(token)
        except GrammataError as error:
            shown = self._tokenizer.dbg_tokens([token])
            return self._fail(f"the token {token} ({shown}) doesn't satisfy the grammar: {error}")
        return True

    def _is_out_of_range(self, tokens: Sequence[int]) -> bool:
        return any(not 0 <= token < self._tokenizer.vocab_size for token in tokens)

    def _is_in_range(self, token: int) -> bool:
        return 0 <= token < self._tokenizer.vocab_size or self._fail(f"token id {token} out of range")

    def _fail(self, message: str) -> bool:
        """Keeps an error, unless there is an earlier one. Returns False."""
        if not self._error:
            self._error, self._matcher = message, None
        return False

    def __repr__(self) -> str:
        return f"<grammata.compat.llguidance.LLMatcher: {self._error or self.stop_reason()}>"
