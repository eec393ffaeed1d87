"""Vocabularies and encoders of the tokenizers that llguidance reads."""

from __future__ import annotations

import importlib
import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grammata._errors import GrammataError
from grammata._native import Vocabulary

Encoder = Callable[[str, bool], list[int]]
"""Returns the tokens of a text. With the second argument, names of special tokens become these tokens."""

MARK = 0xFF
"""The byte before the name of a special token in lists of tokens, as in llguidance."""

END_TOKENS = ("</s>", "<|endoftext|>", "<|end_of_text|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<eos>")
"""Added tokens that end a sequence by default. If a tokenizer has several, the one with the greatest id does."""

BYTE_SPECIALS = ("<|tool|>", "<|/tool|>", "<|user|>", "<|system|>", "<|assistant|>", "<|end|>")
"""The special tokens of the tokenizer `byte`, after its 256 bytes. The last one ends a sequence."""


def end_tokens(given: Any) -> list[int] | None:
    """The ids of an argument `eos_token`; None for None. Raises ValueError if it is no id and no list of ids, or
    empty."""
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool):
        return [given]
    if isinstance(given, Sequence) and all(isinstance(token, int) for token in given):
        if not given:
            raise ValueError("eos_token list must not be empty")
        return list(given)
    raise ValueError("eos_token must be an int or a non-empty list of ints")


def check_end_tokens(tokens: Sequence[int], width: int) -> None:
    """Raises ValueError if an id is not from 0 to `width` - 1."""
    for token in tokens:
        if not 0 <= token < width:
            raise ValueError(f"EOS token ID {token} is out of range (vocab_size={width})")


def of_bytes() -> Vocabulary:
    """The vocabulary of the tokenizer `byte`."""
    tokens = [bytes([byte]) for byte in range(256)]
    return of_tokens([*tokens, *(bytes([MARK]) + name.encode() for name in BYTE_SPECIALS)], [255 + len(BYTE_SPECIALS)])


def of_tokens(tokens: Sequence[bytes], end: Sequence[int], width: int | None = None) -> Vocabulary:
    """The vocabulary of a list of tokens. Tokens that begin with `MARK`, and end tokens, are special.

    Raises ValueError.
    """
    size = max(len(tokens), width or 0)
    check_end_tokens(end, size)
    specials: dict[str, int] = {}
    texts: list[bytes | None] = [token or None for token in tokens] + [None] * (size - len(tokens))
    for place, token in enumerate(tokens):
        is_marked = len(token) > 1 and token[0] == MARK
        if is_marked or place in end:
            name = (token[1:] if is_marked else token).decode(errors="replace")
            # each special token needs a different name
            specials[name if name and name not in specials else f"<[{place}]>"] = place
            texts[place] = None
    for place in end:
        if place not in specials.values():
            specials[f"<[{place}]>"] = place
    try:
        return Vocabulary.from_tokens(texts, specials=specials, eos=list(end), width=size)
    except GrammataError as error:
        raise ValueError(str(error)) from error


def of_file(text: str, end: Sequence[int] | None, width: int | None) -> tuple[Vocabulary, Encoder | None]:
    """The vocabulary and the encoder of a `tokenizer.json`, given its text or its path.

    Without the package `tokenizers`, there is no encoder. Raises ValueError; OSError if the file cannot be read.
    """
    content = text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8")
    value = json.loads(content)
    added = value.get("added_tokens") or []
    if end is None:
        names = {token["content"]: token["id"] for token in added if token["content"] in END_TOKENS}
        end = [max(names.values())] if names else None
    # as in llguidance, added tokens of the form `<…>` are special, whether or not the file marks them as special
    unflagged = [
        token["content"]
        for token in added
        if not token.get("special") and token["content"].startswith("<") and token["content"].endswith(">")
    ]
    given = None if end is None else list(end)
    vocabulary = _read(content, given, unflagged, None)
    if width is not None and width < vocabulary.width:
        raise ValueError(f"vocab size too small; {width} vs {vocabulary.width}")
    if width is not None and width > vocabulary.width:
        vocabulary = _read(content, given, unflagged, width)
    return vocabulary, _encoder_of(value)


def _read(content: str, end: list[int] | None, unflagged: list[str], width: int | None) -> Vocabulary:
    """The vocabulary of the text of a `tokenizer.json`. Raises ValueError."""
    try:
        return Vocabulary.from_file_bytes(content, eos=end, added_special=unflagged or None, width=width)
    except GrammataError as error:
        raise ValueError(str(error)) from error


def _encoder_of(value: dict[str, Any]) -> Encoder | None:
    """The encoder of a `tokenizer.json` without the space that it may put before texts; None without `tokenizers`."""
    if importlib.util.find_spec("tokenizers") is None:
        return None
    content = {**value, "truncation": None, "padding": None}
    content["normalizer"] = _without_prepend(value.get("normalizer"))
    content["pre_tokenizer"] = _without_prefix(value.get("pre_tokenizer"))
    tokenizers: Any = importlib.import_module("tokenizers")
    ordinary, special = (tokenizers.Tokenizer.from_str(json.dumps(content)) for _ in range(2))
    ordinary.encode_special_tokens = True

    def encode(text: str, parse_special: bool) -> list[int]:
        return list((special if parse_special else ordinary).encode(text, add_special_tokens=False).ids)

    return encode


def _without_prepend(normalizer: Any) -> Any:
    if not isinstance(normalizer, dict):
        return None
    if normalizer.get("type") == "Sequence":
        parts = [part for part in map(_without_prepend, normalizer.get("normalizers") or []) if part is not None]
        return {**normalizer, "normalizers": parts} if parts else None
    return None if normalizer.get("type") == "Prepend" else normalizer


def _without_prefix(part: Any) -> Any:
    if not isinstance(part, dict):
        return None
    if part.get("type") == "Sequence":
        return {**part, "pretokenizers": [_without_prefix(one) for one in part.get("pretokenizers") or []]}
    if part.get("type") == "Metaspace":
        return {**{name: one for name, one in part.items() if name != "add_prefix_space"}, "prepend_scheme": "never"}
    return part
