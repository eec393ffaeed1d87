"""Vocabularies as XGrammar describes them: encoded tokens, their encoding, the length of the logits, stop tokens."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from grammata._errors import GrammataError
from grammata._native import Vocabulary
from grammata.compat.xgrammar.exception import InvalidJSONError, translated

STOP_TOKENS = frozenset(
    ["</s>", "<|end_of_text|>", "<|eot_id|>", "<|endoftext|>", "<eos>", "<|eos|>", "<end_of_turn>", "<｜end▁of▁sentence｜>"]
)
"""Tokens that end a sequence if the caller names no stop tokens, as in XGrammar 0.2.9."""

_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"

_END = (1 << 20) - 1
"""An id past the tokens of every tokenizer: the largest that the limits of vocabularies allow."""


class VocabType(enum.Enum):
    """How a vocabulary spells its tokens."""

    RAW = 0
    """A token is written as its text or its bytes."""
    BYTE_FALLBACK = 1
    """A space is written as U+2581, and a single byte may be written as `<0x1B>`."""
    BYTE_LEVEL = 2
    """Each byte is written as a printable character, as in GPT-2."""


def _byte_level() -> dict[str, int]:
    """The byte of each character of byte-level vocabularies. Bytes that are not printable have characters from U+0100
    on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in set(printable)]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + place): byte for place, byte in enumerate(rest)}


_BYTE_LEVEL = _byte_level()
_LETTERS = frozenset(_BYTE_LEVEL)
_AS_LATIN_1 = {ord(letter): byte for letter, byte in _BYTE_LEVEL.items()}
"""The table with which `str.translate` writes byte-level text so that its Latin-1 encoding is the token's bytes."""


def _decoded(token: str | bytes, kind: VocabType) -> bytes:
    """The bytes of a token."""
    if kind is VocabType.RAW:
        return token if isinstance(token, bytes) else token.encode()
    try:
        text = token.decode() if isinstance(token, bytes) else token
    except UnicodeDecodeError:
        return bytes(token)  # type: ignore[arg-type] # only bytes raise UnicodeDecodeError
    if kind is VocabType.BYTE_LEVEL:
        return text.translate(_AS_LATIN_1).encode("latin-1") if _LETTERS.issuperset(text) else text.encode()
    if len(text) == 6 and text.startswith("<0x") and text.endswith(">"):
        try:
            return bytes([int(text[3:5], 16)])
        except ValueError:
            pass
    return text.replace(_SPACE, " ").encode()


class TokenizerInfo:
    """The tokens of a model.

    As in XGrammar, each token with text is a text token: a special token such as `<|channel|>` is allowed where the
    grammar allows its text. Stop tokens, empty tokens and ids past the vocabulary have no text. An empty vocabulary is
    only for matching strings. Raises RuntimeError if `vocab_size` is less than the number of tokens.
    """

    def __init__(
        self,
        encoded_vocab: Sequence[str | bytes],
        vocab_type: Any = VocabType.RAW,
        *,
        vocab_size: int | None = None,
        stop_token_ids: int | Sequence[int] | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        # an installed XGrammar has another enumeration with the same values
        self._type = VocabType(vocab_type.value if isinstance(vocab_type, enum.Enum) else vocab_type)
        self._decoded = [_decoded(token, self._type) for token in encoded_vocab]
        self._size = len(self._decoded) if vocab_size is None else vocab_size
        if self._size < len(self._decoded):
            raise RuntimeError(f"vocab_size={vocab_size} is less than the {len(self._decoded)} tokens of the vocabulary")
        if stop_token_ids is None:
            stop = _stop_tokens(self._decoded)
        else:
            given = [stop_token_ids] if isinstance(stop_token_ids, int) else list(stop_token_ids)
            stop = sorted({place for place in given if 0 <= place < self._size})
        self._stop = stop
        self._add_prefix_space = bool(add_prefix_space)

    @staticmethod
    def from_huggingface(
        tokenizer: Any, *, vocab_size: int | None = None, stop_token_ids: int | Sequence[int] | None = None
    ) -> TokenizerInfo:
        """The vocabulary of a tokenizer of `transformers`.

        `vocab_size` is the length of the model's logits; tokens past it are left out. Sequences end with
        `stop_token_ids`, by default the tokenizer's `eos_token_id`. The bytes of tokens are those of
        `grammata.Vocabulary.from_transformers`, and special tokens have their names as text. Raises ValueError for
        tokenizers whose tokens have no exact bytes, and for empty `stop_token_ids`.
        """
        if not isinstance(stop_token_ids, int) and stop_token_ids is not None and not list(stop_token_ids):
            raise ValueError("stop_token_ids cannot be empty")
        if not hasattr(tokenizer, "get_vocab"):
            raise ValueError(f"a tokenizer with get_vocab() is needed, not {type(tokenizer).__name__}")
        ids: dict[str, int] = tokenizer.get_vocab()
        size = vocab_size or max(len(ids), max(ids.values(), default=-1) + 1)
        if stop_token_ids is None:
            stop_token_ids = getattr(tokenizer, "eos_token_id", None)
        kind, add_prefix_space = _detected(tokenizer, ids)
        tokens: list[str | bytes] = [""] * size
        if _lists_exact_tokens(tokenizer):
            for token, place in ids.items():
                if place < size:
                    tokens[place] = token
            exact = None
        else:
            exact = _exact(tokenizer, size)
        info = TokenizerInfo(tokens, kind, vocab_size=size, stop_token_ids=[] if stop_token_ids is None else stop_token_ids, add_prefix_space=add_prefix_space)
        if exact is not None:
            info._decoded = exact
        if stop_token_ids is None:
            info._stop = _stop_tokens(info._decoded)
        return info

    @staticmethod
    def from_vocab_and_metadata(encoded_vocab: Sequence[str | bytes], metadata: str) -> TokenizerInfo:
        """A vocabulary of these tokens with the metadata that `dump_metadata` wrote. Raises RuntimeError."""
        try:
            value = json.loads(metadata)
            kind, size, stop, prefix = (
                value[name] for name in ("vocab_type", "vocab_size", "stop_token_ids", "add_prefix_space")
            )
            return TokenizerInfo(
                encoded_vocab, VocabType(kind), vocab_size=size, stop_token_ids=stop, add_prefix_space=prefix
            )
        except (ValueError, KeyError, TypeError) as cause:
            raise InvalidJSONError(f"not the metadata of a vocabulary: {cause!r}") from cause

    def dump_metadata(self) -> str:
        """The encoding, the length of the logits and the stop tokens as JSON."""
        metadata = {
            "add_prefix_space": self._add_prefix_space,
            "stop_token_ids": self._stop,
            "vocab_size": self._size,
            "vocab_type": self._type.value,
        }
        return json.dumps(metadata, separators=(",", ":"))

    @property
    def vocab_type(self) -> VocabType:
        """The encoding of the tokens."""
        return self._type

    @property
    def vocab_size(self) -> int:
        """The length of the model's logits."""
        return self._size

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before texts. It changes nothing in this package."""
        return self._add_prefix_space

    @property
    def decoded_vocab(self) -> list[bytes]:
        """The bytes of each token, by id."""
        return list(self._decoded)

    @property
    def stop_token_ids(self) -> list[int]:
        """The ids of the tokens that end a sequence."""
        return list(self._stop)

    @property
    def special_token_ids(self) -> list[int]:
        """The ids without text that are not stop tokens, those past the vocabulary included."""
        stop = set(self._stop)
        empty = [place for place, token in enumerate(self._decoded) if not token and place not in stop]
        return empty + [place for place in range(len(self._decoded), self._size) if place not in stop]

    @cached_property
    def is_all_text(self) -> bool:
        """Whether each token is a stop token or has text."""
        return not self.special_token_ids

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary for Grammata's own classes. An empty one becomes one of all bytes, so that strings can be
        matched."""
        return self.vocabulary_ending_with(self._stop)

    def vocabulary_ending_with(self, stop: Iterable[int]) -> Vocabulary:
        """The vocabulary with other stop tokens. Its own stop tokens stay without text. Raises RuntimeError."""
        if not self._size:
            return Vocabulary.from_tokens([bytes([byte]) for byte in range(256)])
        ends = list(stop)
        tokens: list[bytes | None] = [token or None for token in self._decoded]
        tokens += [None] * (max([*self._stop, *ends], default=-1) + 1 - len(tokens))
        specials: dict[str, int] = {}
        for place in sorted({*self._stop, *ends}):
            name = (tokens[place] or b"").decode(errors="replace")
            # each special token needs a different name
            specials[name if name and name not in specials else f"<stop {place}>"] = place
            tokens[place] = None
        with translated():
            return Vocabulary.from_tokens(tokens, specials=specials, eos=ends, width=self._size)


def _stop_tokens(tokens: Sequence[bytes]) -> list[int]:
    """The ids of tokens that end a sequence by their names."""
    names = {name.encode() for name in STOP_TOKENS}
    return [place for place, token in enumerate(tokens) if token in names]


def _lists_exact_tokens(tokenizer: Any) -> bool:
    """Whether `get_vocab` describes the bytes of the tokens: tokenizers with an encoding of tiktoken, or with a
    SentencePiece model of which XGrammar knows the place."""
    if any(hasattr(tokenizer, name) for name in ("backend_tokenizer", "sp_model")):
        return False
    inner = getattr(tokenizer, "tokenizer", None)
    is_encoding = type(inner).__module__.partition(".")[0] == "tiktoken"
    file = (getattr(tokenizer, "vocab_files_names", None) or {}).get("vocab_file") or ""
    is_sentencepiece = hasattr(inner, "sp_model") or type(getattr(tokenizer, "tok", None)).__name__ == "SentencePieceProcessor"
    return is_encoding or "tiktoken" in file or is_sentencepiece


def _exact(tokenizer: Any, size: int) -> list[bytes]:
    """The bytes of the first `size` tokens, with names as the text of special tokens. Raises ValueError."""
    try:
        # an end past all tokens, so that no token loses its text
        whole = Vocabulary.from_transformers(tokenizer, eos=[_END], width=_END + 1)
    except GrammataError as cause:
        raise ValueError(f"Unsupported tokenizer type: {type(tokenizer)}: {cause}") from cause
    names = {place: name.encode() for name, place in whole.specials.items()}
    return [whole.bytes(place) or names.get(place, b"") for place in range(min(size, len(whole)))]


def _detected(tokenizer: Any, ids: dict[str, int]) -> tuple[VocabType, bool]:
    """The encoding of a tokenizer's vocabulary, and whether it puts a space before texts."""
    if sum(f"<0x{byte:02X}>" in ids for byte in range(256)) >= 128:
        kind = VocabType.BYTE_FALLBACK
    elif sum(letter in ids for letter in _BYTE_LEVEL) >= 128 and _is_mostly_byte_level(ids):
        kind = VocabType.BYTE_LEVEL
    else:
        kind = VocabType.RAW
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:
        is_sentencepiece = any(hasattr(one, "sp_model") for one in (tokenizer, getattr(tokenizer, "tokenizer", None)))
        return VocabType.BYTE_FALLBACK if is_sentencepiece and kind is VocabType.RAW else kind, is_sentencepiece
    value = json.loads(backend.to_str())
    if kind is VocabType.RAW:
        found = {part.get("type") for part in _parts(value.get("decoder"), "decoders")}
        of_names = {
            "ByteLevel": VocabType.BYTE_LEVEL,
            "ByteFallback": VocabType.BYTE_FALLBACK,
            # U+2581 in place of a space: the encoding of byte fallback without its bytes
            "Metaspace": VocabType.BYTE_FALLBACK,
        }
        for name, of_name in of_names.items():
            if name in found:
                kind = of_name
                break
    prepends = any(
        part.get("type") == "Prepend" and part.get("prepend") == _SPACE for part in _parts(value.get("normalizer"), "normalizers")
    )
    before = value.get("pre_tokenizer") or {}
    metaspace = before.get("type") == "Metaspace" and before.get("prepend_scheme") in ("always", "first")
    return kind, prepends or metaspace


def _is_mostly_byte_level(ids: dict[str, int]) -> bool:
    """Whether at least 99 % of the tokens consist of the characters of bytes. Added tokens may have others."""
    fitting = sum(_LETTERS.issuperset(token) for token in ids)
    return fitting * 100 >= 99 * len(ids)


def _parts(value: Any, name: str) -> list[dict[str, Any]]:
    """The parts of a normalizer or a decoder: those of its sequence, or itself."""
    if not isinstance(value, dict):
        return []
    parts = value.get(name) if value.get("type") == "Sequence" else [value]
    return [part for part in parts or [] if isinstance(part, dict)]
