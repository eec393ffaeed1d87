"""Tokenizers: the tokens of a model, its encoder, and a cache of the grammars compiled for its tokens."""

from __future__ import annotations

import bisect
import importlib
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from grammata._native import Compiler, GrammarCache, Vocabulary
from grammata.compat.llguidance import vocabularies
from grammata.compat.llguidance.vocabularies import MARK, Encoder

CACHE_BYTES = 256 << 20
"""Maximum size in bytes of a tokenizer's cache of compiled grammars."""

_LOOKBACK = 4
"""Number of tokens at the end of a text that may change when text follows."""

_NAME = re.compile(r"<[^<>]{1,100}>")
_NUMBERED = re.compile(rb"\[([0-9]{1,9})\]")

_SLICES = [r'[^"\\\x00-\x1F]{1,10}', r'[^"\\\x00-\x1F]{1,30}', r'[^"\\\x00-\x1F]+']


class LLTokenizer:
    """The tokens of a model and its encoder. It is expensive to create, so create one for each model.

    `tokenizer` is the text or the path of a `tokenizer.json`, the name `byte`, or a `TokenizerWrapper`. `n_vocab` is
    the length of the model's logits, for a `tokenizer.json`. `eos_token` is the id or the ids that end a sequence.
    `slices` has no effect.

    Raises ValueError; OSError if a file cannot be read.
    """

    def __init__(
        self,
        tokenizer: Any,
        n_vocab: int | None = None,
        eos_token: int | Sequence[int] | None = None,
        slices: Sequence[str] | None = None,
    ) -> None:
        end = vocabularies.end_tokens(eos_token)
        if tokenizer == "byte":
            self._set(vocabularies.of_bytes(), None, end, is_canonical=True)
        elif isinstance(tokenizer, str):
            vocabulary, encode = vocabularies.of_file(tokenizer, end, n_vocab)
            self._set(vocabulary, encode, end, is_canonical=encode is not None)
        elif getattr(tokenizer, "is_tokenizer_wrapper", False) is True:
            self._set(*_of_wrapper(tokenizer, end), end, is_canonical=True)
        else:
            raise ValueError("Expecting a TokenizerWrapper() class")

    def _set(self, vocabulary: Vocabulary, encode: Encoder | None, end: list[int] | None, *, is_canonical: bool) -> None:
        if not vocabulary.eos:
            raise ValueError("the tokenizer names no end-of-sequence token: give `eos_token`")
        self._vocabulary, self._encode, self._is_canonical = vocabulary, encode, is_canonical
        # in the order of the caller: servers use the first one
        self._end = vocabulary.eos if end is None else end
        compiler = Compiler(vocabulary)
        compiler.prepare()
        self._grammars = GrammarCache(compiler, max_bytes=CACHE_BYTES)

    @classmethod
    def _of(cls, vocabulary: Vocabulary, encode: Encoder | None, end: list[int]) -> LLTokenizer:
        made = object.__new__(cls)
        made._set(vocabulary, encode, end, is_canonical=encode is not None)
        return made

    @staticmethod
    def from_tiktoken(
        *,
        encoder: dict[bytes, int],
        special_tokens: dict[str, int],
        pattern: str,
        eos_token: int | Sequence[int],
        n_vocab: int | None = None,
        slices: Sequence[str] | None = None,
    ) -> LLTokenizer:
        """The tokenizer of an encoding of tiktoken. Needs the package `tiktoken`. Raises ValueError."""
        size = 1 + max([*encoder.values(), *special_tokens.values()], default=-1)
        if n_vocab is not None and n_vocab < size:
            raise ValueError(f"vocab size too small; {n_vocab} vs {size}")
        tokens = [b""] * size
        for text, token in encoder.items():
            tokens[token] = text
        for name, token in special_tokens.items():
            tokens[token] = bytes([MARK]) + name.encode()
        end = vocabularies.end_tokens(eos_token) or []
        tiktoken: Any = importlib.import_module("tiktoken")
        made = tiktoken.Encoding("grammata", pat_str=pattern, mergeable_ranks=encoder, special_tokens=special_tokens)

        def encode(text: str, parse_special: bool) -> list[int]:
            return list(made.encode(text, allowed_special="all") if parse_special else made.encode_ordinary(text))

        return LLTokenizer._of(vocabularies.of_tokens(tokens, end, n_vocab), encode, end)

    @staticmethod
    def from_llamacpp(
        *,
        tokens: Sequence[bytes],
        vocab_ptr: int,
        tokenize_fptr: int,
        eos_token: int | Sequence[int],
        slices: Sequence[str] | None = None,
    ) -> LLTokenizer:
        """The tokenizer of a model of llama.cpp, with the addresses of its vocabulary and of `llama_tokenize`.

        Raises ValueError.
        """
        from grammata.compat.llguidance.llamacpp import encoder

        end = vocabularies.end_tokens(eos_token) or []
        return LLTokenizer._of(vocabularies.of_tokens(tokens, end), encoder(vocab_ptr, tokenize_fptr), end)

    def with_slices(self, slices: Sequence[str]) -> LLTokenizer:
        """Returns this tokenizer itself: slices have no effect."""
        return self

    @staticmethod
    def general_slices() -> list[str]:
        """Patterns that have no effect here."""
        return list(_SLICES)

    @staticmethod
    def json_slices() -> list[str]:
        """Patterns that have no effect here."""
        return list(_SLICES)

    @property
    def vocab_size(self) -> int:
        """The length of the model's logits."""
        return self._vocabulary.width

    @property
    def eos_token(self) -> int:
        """The first token that ends a sequence."""
        return self._end[0]

    @property
    def eos_tokens(self) -> list[int]:
        """The tokens that end a sequence."""
        return list(self._end)

    @property
    def is_canonical(self) -> bool:
        """Whether texts are split by the model's own tokenizer, and not greedily."""
        return self._is_canonical

    def greedy_tokenize(self, text: str) -> list[int]:
        """The tokens of a text: at each position the longest one. Bytes that no token has are left out."""
        return self._greedy(text.encode())

    def tokenize_bytes(self, utf8bytes: bytes, *, parse_special: bool = False) -> list[int]:
        """The tokens of bytes. The tokenizer splits UTF-8; other bytes are split greedily, and left out if no token has
        them."""
        tokens: list[int] = []
        for text, rest in _chunks(utf8bytes):
            tokens += self._tokens(text, parse_special) if text else []
            tokens += self._greedy(rest)
        return tokens

    def tokenize_str(self, text: str, *, parse_special: bool = False) -> list[int]:
        """The tokens of a text."""
        return self.tokenize_bytes(text.encode(), parse_special=parse_special)

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens. A special token is written as its name, a token without text as its id in `<[…]>`."""
        return b"".join(map(self._token_bytes, tokens))

    def decode_str(self, tokens: Sequence[int]) -> str:
        """The text of tokens, with replacement characters for bytes that are not UTF-8."""
        return self.decode_bytes(tokens).decode(errors="replace")

    def dbg_tokens(self, tokens: Sequence[int]) -> str:
        """The text of tokens in quotes, with a mark between tokens."""
        return '"' + "\N{HYPHENATION POINT}".join(self._shown(token) for token in tokens) + '"'

    def test_trace_tokens(self, tokens: Sequence[int]) -> str:
        """The text of tokens with a mark between tokens."""
        return "\N{HYPHENATION POINT}".join(self.decode_str([token]) for token in tokens)

    def is_special_token(self, token: int) -> bool:
        """Whether a token is special; false for an id out of range."""
        return 0 <= token < self.vocab_size and self._vocabulary.special(token) is not None

    def tokenize_partial(self, new_bytes: bytes, recent_tokens: Sequence[int] | None = None) -> tuple[list[int], bytes]:
        """The tokens at the beginning of a text that do not change when text follows, and the remaining bytes.

        `recent_tokens` are the tokens before the text. The byte 0xFF with an id in brackets, or with a name in angle
        brackets, is a special token.
        """
        if not new_bytes:
            return [], b""
        before = list(recent_tokens or [])[-1:]
        whole = b"".join(self._raw(token) for token in before) + new_bytes
        tokens, fixed = self._tokens_of_marked(whole)
        if tokens[: len(before)] == before:
            fixed = max(fixed, len(before))
        else:
            before = []
            tokens, fixed = self._tokens_of_marked(new_bytes)
        kept = len(tokens) - self._changeable(tokens[fixed:])
        rest = sum(len(self._raw(token)) for token in tokens[kept:])
        return tokens[len(before) : kept], new_bytes[len(new_bytes) - rest :]

    def _tokens(self, text: str, parse_special: bool) -> list[int]:
        if not parse_special:
            return self._ordinary(text)
        tokens: list[int] = []
        at = 0
        for found in _NAME.finditer(text):
            special = self._vocabulary.special_id(found[0])
            if special is not None:
                tokens += [*self._ordinary(text[at : found.start()]), special]
                at = found.end()
        return tokens + self._ordinary(text[at:])

    def _ordinary(self, text: str) -> list[int]:
        """The tokens of a text without special tokens."""
        if not text:
            return []
        encoded = text.encode()
        tokens = self._greedy(encoded) if self._encode is None else self._encode(text, False)
        # an encoder may add a space, or replace an unknown character
        return tokens if self.decode_bytes(tokens) == encoded else self._greedy(encoded)

    def _greedy(self, text: bytes) -> list[int]:
        tokens: list[int] = []
        while text:
            whole = self._vocabulary.encode_greedy(text)
            if whole is not None:
                return tokens + whole
            # bytes that no token has are left out
            end = next((end for end in range(1, len(text)) if self._vocabulary.encode_greedy(text[:end]) is None), len(text))
            tokens += self._vocabulary.encode_greedy(text[: end - 1]) or []
            text = text[end:]
        return tokens

    def _tokens_of_marked(self, text: bytes) -> tuple[list[int], int]:
        """The tokens of a text with marks, and the number of tokens up to the last special one, which never change."""
        tokens, fixed, at = list[int](), 0, 0
        while at < len(text):
            mark = text.find(MARK, at)
            end = len(text) if mark < 0 else mark
            tokens += self.tokenize_bytes(text[at:end])
            if mark < 0:
                break
            at = end + 1
            numbered, name = _NUMBERED.match(text, at), text.find(b">", at, at + 100)
            token = int(numbered[1]) if numbered else None
            if numbered is None and text[at : at + 1] == b"<" and name > 0:
                token = self._vocabulary.special_id(text[at : name + 1].decode(errors="replace"))
            if token is not None and token < self.vocab_size:
                tokens.append(token)
                fixed = len(tokens)
                at = numbered.end() if numbered else name + 1
        return tokens, fixed

    def _changeable(self, tokens: Sequence[int]) -> int:
        """How many of the last tokens may change when text follows: those of the longest suffix that begins a longer
        token."""
        suffix = b"".join(self._raw(token) for token in tokens[-_LOOKBACK:])[-self._longest :]
        for begin in range(len(suffix)):
            place = bisect.bisect_right(self._texts, suffix[begin:])
            if place < len(self._texts) and self._texts[place].startswith(suffix[begin:]):
                length = 0
                for count, token in enumerate(reversed(tokens), 1):
                    length += len(self._raw(token))
                    if length >= len(suffix) - begin:
                        return count
        return 0

    @cached_property
    def _texts(self) -> list[bytes]:
        """The different texts of tokens, sorted."""
        found = (self._vocabulary.bytes(token) for token in range(self.vocab_size))
        return sorted({text for text in found if text})

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._texts), default=1)

    def _raw(self, token: int) -> bytes:
        """The bytes of a token; for a token without text, the mark and its id in brackets."""
        text = self._vocabulary.bytes(token) if 0 <= token < self.vocab_size else None
        return text or bytes([MARK]) + f"[{token}]".encode()

    def _token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self.vocab_size:
            return f"<[{token}]>".encode()
        return self._vocabulary.bytes(token) or (self._vocabulary.special(token) or f"<[{token}]>").encode()

    def _shown(self, token: int) -> str:
        text = self._token_bytes(token)
        try:
            return text.decode()
        except UnicodeDecodeError:
            return f"\\x{text.hex()}"

    def __repr__(self) -> str:
        return f"<grammata.compat.llguidance.LLTokenizer: {self.vocab_size} tokens>"


def _of_wrapper(tokenizer: Any, end: list[int] | None) -> tuple[Vocabulary, Encoder]:
    tokens = [bytes(token) for token in tokenizer.tokens]
    if tokenizer.eos_token_id is None:
        tokens.append(b"")
    own = len(tokens) - 1 if tokenizer.eos_token_id is None else int(tokenizer.eos_token_id)
    for token in tokenizer.special_token_ids:
        if token < len(tokens) and tokens[token][:1] != bytes([MARK]):
            tokens[token] = bytes([MARK]) + tokens[token]

    def encode(text: str, parse_special: bool) -> list[int]:
        return list(tokenizer(text))

    return vocabularies.of_tokens(tokens, end or [own]), encode


def _chunks(text: bytes) -> Iterator[tuple[str, bytes]]:
    """The parts of a text that are UTF-8, each with the bytes after it that are not UTF-8."""
    while text:
        try:
            yield text.decode(), b""
            return
        except UnicodeDecodeError as error:
            yield text[: error.start].decode(), text[error.start : error.end]
            text = text[error.end :]
