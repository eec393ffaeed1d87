"""Functions that XGrammar's own tests call, and conversions of bitmasks."""

from __future__ import annotations

import importlib
import time
from functools import lru_cache
from typing import Any

from grammata.compat.xgrammar import tags
from grammata.compat.xgrammar.bitmask import WORD, bits, tensors
from grammata.compat.xgrammar.compiler import GrammarCompiler
from grammata.compat.xgrammar.exception import unsupported
from grammata.compat.xgrammar.grammar import Grammar, layout_option, most_whitespace
from grammata.compat.xgrammar.matcher import GrammarMatcher
from grammata.compat.xgrammar.tokenizer_info import TokenizerInfo


@lru_cache(maxsize=1)
def _bytewise() -> GrammarCompiler:
    """The compiler for an empty vocabulary, whose matchers accept only strings."""
    return GrammarCompiler(TokenizerInfo([]), cache_enabled=False)


def _json_schema_to_ebnf(
    schema: Any,
    *,
    any_whitespace: bool = True,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    max_whitespace_cnt: int | None = None,
    strict_mode: bool = True,
    json_format: str = "json",
    any_order: bool = False,
) -> str:
    """The text of a schema's grammar, for `Grammar.from_ebnf`. Raises RuntimeError.

    `json_format` is "json" or another `style` of `json_schema` in structural tags.
    """
    if json_format == "json":
        grammar = Grammar.from_json_schema(
            schema,
            any_whitespace=any_whitespace,
            indent=indent,
            separators=separators,
            strict_mode=strict_mode,
            max_whitespace_cnt=max_whitespace_cnt,
            any_order=any_order,
        )
        return str(grammar)
    layout = layout_option(any_whitespace, indent, separators, max_whitespace_cnt)
    made: dict[str, Any] = {"type": "json_schema", "style": json_format}
    made["json_schema"] = tags.schema_value(schema)
    if not strict_mode:
        raise unsupported("strict_mode=False is not supported with a style", "say `additionalProperties` in the schema")
    if any_order:
        made["any_order"] = True
    if layout != "free":
        made["max_whitespace_cnt"] = most_whitespace(layout)
    return str(Grammar._of("structural_tag", tags.json_text({"type": "structural_tag", "format": made})))


def _regex_to_ebnf(regex: str, with_rule_name: bool = True) -> str:
    """The text of a regular expression's grammar, for `Grammar.from_ebnf`."""
    if not with_rule_name:
        raise unsupported("_regex_to_ebnf: with_rule_name=False is not supported", "leave it out")
    return str(Grammar.from_regex(regex))


def _get_matcher_from_grammar(grammar: Grammar | str, **kwargs: Any) -> GrammarMatcher:
    """A matcher for strings, which terminates as soon as the text is complete."""
    return GrammarMatcher(_bytewise().compile_grammar(grammar), terminate_without_stop_token=True, **kwargs)


def _get_matcher_from_grammar_and_tokenizer_info(
    grammar: Grammar | str, tokenizer_info: TokenizerInfo | None = None, **kwargs: Any
) -> GrammarMatcher:
    """A matcher for tokens; without `tokenizer_info`, for strings."""
    compiler = _bytewise() if tokenizer_info is None else GrammarCompiler(tokenizer_info, cache_enabled=False)
    return GrammarMatcher(compiler.compile_grammar(grammar), **kwargs)


def _is_grammar_accept_string(
    grammar: Grammar | str,
    input_str: str | bytes,
    *,
    debug_print: bool = False,
    print_time: bool = False,
    require_termination: bool = True,
) -> bool:
    """Whether a text is in the language of a grammar; without `require_termination`, whether it is a prefix of such a
    text."""
    matcher = _get_matcher_from_grammar(grammar)
    start = time.monotonic_ns()
    accepted = matcher.accept_string(input_str)
    if print_time:
        print(f"{(time.monotonic_ns() - start) / 1000} us")
    return accepted and (not require_termination or matcher.is_terminated())


def _get_masked_tokens_from_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> list[int]:
    """The ids from 0 to `vocab_size` - 1 that a row forbids."""
    row = bitmask[index] if bitmask.ndim == 2 else bitmask
    return [token for token, allowed in enumerate(bits(row, vocab_size).tolist()) if not allowed]


def _is_single_token_bitmask(bitmask: Any, vocab_size: int, index: int = 0) -> tuple[bool, int]:
    """Whether a row allows exactly one token, and its id; -1 if not."""
    row = bitmask[index] if bitmask.ndim == 2 else bitmask
    allowed = [token for token, bit in enumerate(bits(row, vocab_size).tolist()) if bit]
    return (True, allowed[0]) if len(allowed) == 1 else (False, -1)


def bool_mask_to_bitmask(bool_mask: Any) -> Any:
    """The bitmask of an array of booleans with a row for each sequence. Bits after the last boolean of a row are
    set."""
    numpy = importlib.import_module("numpy")
    rows, width = bool_mask.shape
    padded = numpy.ones((rows, -(-width // WORD) * WORD), dtype=bool)
    padded[:, :width] = numpy.asarray(bool_mask, dtype=bool)
    words = numpy.packbits(padded, axis=1, bitorder="little").view("<i4")
    return _as_tensor(words)


def bitmask_to_bool_mask(bit_mask: Any, vocab_size: int | None = None) -> Any:
    """The array of booleans of a bitmask, cut to `vocab_size` tokens. Raises ValueError if there are fewer."""
    numpy = importlib.import_module("numpy")
    width = bit_mask.shape[1] * WORD
    if vocab_size is not None and vocab_size > width:
        raise ValueError(f"vocab_size={vocab_size} is more than the {width} bits of the bitmask")
    words = numpy.ascontiguousarray(numpy.asarray(bit_mask, dtype="<i4"))
    unpacked = numpy.unpackbits(words.view("uint8"), axis=1, bitorder="little").astype(bool)
    return _as_tensor(numpy.ascontiguousarray(unpacked[:, :vocab_size]))


def _as_tensor(array: Any) -> Any:
    """A tensor in the memory of an array; without torch, the array itself."""
    module = tensors()
    return module.from_numpy(array) if hasattr(module, "from_numpy") else array
