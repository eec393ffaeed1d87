"""Tokenizers of llama-cpp-python."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Sequence
from typing import Any

from grammata.compat.llguidance.tokenizer import LLTokenizer
from grammata.compat.llguidance.vocabularies import MARK, Encoder

_MOST = 16 * 1024
"""Maximum length of a token, in bytes."""


def lltokenizer_from_vocab(
    vocab: Any,
    n_vocab: int | None = None,
    eos_token: int | Sequence[int] | None = None,
    slices: Sequence[str] | None = None,
) -> LLTokenizer:
    """The tokenizer of a vocabulary of llama.cpp (`llama_cpp.llama_vocab_p`). Do not use it after the model is freed.

    Control tokens, and user-defined tokens of the form `<…>`, are special. Raises ValueError, for instance for a token
    of more than 16 KiB.
    """
    llama_cpp: Any = importlib.import_module("llama_cpp")
    # the older name of the function warns at each call
    kind_of = getattr(llama_cpp, "llama_vocab_get_attr", None) or llama_cpp.llama_token_get_attr
    buffer = ctypes.create_string_buffer(_MOST + 1)
    tokens: list[bytes] = []
    for token in range(llama_cpp.llama_vocab_n_tokens(vocab)):
        length = llama_cpp.llama_token_to_piece(vocab, token, buffer, _MOST, 0, True)
        if length < 0:
            raise ValueError(f"the token {token} takes {-length} bytes, more than {_MOST}")
        text = buffer.raw[:length]
        kind = kind_of(vocab, token)
        is_marked = kind & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED and text.startswith(b"<") and text.endswith(b">")
        tokens.append(bytes([MARK]) + text if kind & llama_cpp.LLAMA_TOKEN_ATTR_CONTROL or is_marked else text)
    tokens += [b""] * ((n_vocab or 0) - len(tokens))
    address = ctypes.cast(llama_cpp.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value
    return LLTokenizer.from_llamacpp(
        tokens=tokens,
        vocab_ptr=ctypes.cast(vocab, ctypes.c_void_p).value or 0,
        tokenize_fptr=address or 0,
        eos_token=llama_cpp.llama_vocab_eos(vocab) if eos_token is None else eos_token,
    )


def encoder(vocab_ptr: int, tokenize_fptr: int) -> Encoder:
    """The encoder that calls the function `llama_tokenize`, given the addresses. Raises ValueError if one is null."""
    if not vocab_ptr or not tokenize_fptr:
        raise ValueError("Null pointer")
    tokenize = ctypes.CFUNCTYPE(
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_char_p,
        ctypes.c_int32,
        ctypes.POINTER(ctypes.c_int32),
        ctypes.c_int32,
        ctypes.c_bool,
        ctypes.c_bool,
    )(tokenize_fptr)

    def encode(text: str, parse_special: bool) -> list[int]:
        encoded = text.encode()
        count = len(encoded) + 8
        for _ in range(2):
            tokens = (ctypes.c_int32 * count)()
            found = tokenize(vocab_ptr, encoded, len(encoded), tokens, count, False, parse_special)
            if found >= 0:
                return tokens[:found]
            count = -found
        raise ValueError("llama_tokenize does not say how many tokens a text has")

    return encode
