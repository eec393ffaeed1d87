"""The compiler for grammars of requests: an implementation of SGLang's `BaseGrammarBackend`."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from grammata import _json
from grammata._errors import GrammataError, usage_error
from grammata._native import CompiledGrammar, Source, Vocabulary
from grammata.compat.xgrammar.ebnf import to_gbnf
from grammata.integrations.serving import metrics
from grammata.integrations.serving.grammars import Grammars, Refusals
from grammata.integrations.sglang.grammar import GrammataGrammar, allocate, _base
from grammata.integrations.sglang.settings import Settings

logger = logging.getLogger("sglang.grammata")

ANY_JSON = "$$ANY$$"
"""The schema with which a request asks for any JSON value."""


class GrammataBackend(_base.BaseGrammarBackend):  # type: ignore[misc]
    """Compiles JSON Schema, regular expressions (ECMA-262), EBNF as XGrammar writes it, Lark, and structural tags.

    For a grammar that cannot be compiled, the result is an `InvalidGrammarObject` with the message, so that only its
    request fails. Objects have no undeclared members unless the schema allows them, as with SGLang's default backend.
    """

    def __init__(
        self,
        tokenizer: Any,
        vocab_size: int,
        eos_token_ids: Iterable[int] | int | None = None,
        *,
        any_whitespace: bool = True,
        max_whitespace_cnt: int | None = None,
        settings: Settings = Settings(),
    ) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.vocab_size = vocab_size
        self._eos = [eos_token_ids] if isinstance(eos_token_ids, int) else sorted(eos_token_ids or ()) or None
        self.settings = settings
        self.metrics = metrics.of_process(logger)
        self._grammars = self._grammars_for(self._vocabulary())
        self._framed = self._grammars
        self._whitespace = f"max={max_whitespace_cnt}" if max_whitespace_cnt else settings.whitespace
        if not any_whitespace:
            self._whitespace = "spaced"

    def _grammars_for(self, vocabulary: Vocabulary) -> Grammars:
        return Grammars(vocabulary, self.settings, self.metrics, logger)

    def _vocabulary(self, special: Sequence[str] | None = None) -> Vocabulary:
        return Vocabulary.from_transformers(self.tokenizer, width=self.vocab_size, eos=self._eos, added_special=special)

    @property
    def is_support_token_filter(self) -> bool:
        return True

    def dispatch_json(self, key_string: str) -> Any:
        def read() -> tuple[Source, dict[str, Any]]:
            schema = "true" if key_string == ANY_JSON else key_string
            content = {"type": "json_schema", "json_schema": _json.loads(schema)}
            source = Source.json_schema(schema, whitespace=self._whitespace, undeclared="refused", limits=self.settings.limits)
            return source, content

        return self._compile("json", key_string, read)

    def dispatch_regex(self, key_string: str) -> Any:
        content = {"type": "regex", "pattern": key_string}
        return self._compile(
            "regex", key_string, lambda: (Source.regex(key_string, dialect="ecma", limits=self.settings.limits), content)
        )

    def dispatch_ebnf(self, key_string: str) -> Any:
        def read() -> tuple[Source, dict[str, Any]]:
            if "::=" not in key_string:
                return Source.lark(key_string, limits=self.settings.limits), {"type": "grammar", "grammar": key_string}
            text = to_gbnf(key_string)
            return Source.gbnf(text, limits=self.settings.limits), {"type": "grammar", "grammar": text}

        return self._compile("ebnf", key_string, read)

    def dispatch_structural_tag(self, key_string: str) -> Any:
        def read() -> tuple[Source, dict[str, Any]]:
            tag = as_format(_json.loads(key_string))
            return Source.structural_tag(_json.dumps(tag), limits=self.settings.limits), tag["format"]

        return self._compile("structural_tag", key_string, read)

    def _compile(self, kind: str, key: str, read: Callable[[], tuple[Source, dict[str, Any]]]) -> Any:
        try:
            with Refusals(self.metrics):
                source, content = read()
                compiled = self._grammars.get(source)
        except (GrammataError, RuntimeError, ValueError, KeyError, TypeError, AttributeError) as error:
            return _base.InvalidGrammarObject(str(error) or repr(error))
        return self._grammar(compiled, content, key, kind)

    def _grammar(self, compiled: CompiledGrammar, content: dict[str, Any], key: str, kind: str) -> GrammataGrammar:
        stats = _base.GrammarStats(dispatch_type=kind)
        return GrammataGrammar(compiled, self.vocab_size, content, key, stats, self.settings.budget, self.metrics)

    def reserve_framing_tokens(self, token_ids: Sequence[int]) -> None:
        """Makes these tokens special in framed grammars. Raises UsageError for a token that is not an added one."""
        vocabulary = self._grammars.vocabulary
        missing = [token for token in token_ids if vocabulary.special(token) is None]
        if not missing:
            return
        added = {token: str(one) for token, one in self.tokenizer.added_tokens_decoder.items()}
        unknown = [token for token in missing if token not in added]
        if unknown:
            raise usage_error(
                "sglang/framing-token",
                "a framing token is an ordinary token, which text may hold",
                found=f"the ids {unknown}",
                allowed="added tokens of the tokenizer",
                help="use another grammar backend for this model",
            )
        names = {name for token, name in added.items() if vocabulary.special(token) is not None}
        self._framed = self._grammars_for(self._vocabulary(sorted(names | {added[token] for token in missing})))

    def compile_framed_grammar(self, grammar: Any, frame: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
        """Compiles the structural tag that `frame` makes of a grammar's format. Returns None for other backends'
        grammars."""
        if not isinstance(grammar, GrammataGrammar):
            return None
        tag = frame(grammar.content)
        text = _json.dumps(tag)
        compiled = self._framed.get(Source.structural_tag(text, limits=self.settings.limits))
        return self._grammar(compiled, tag["format"], text, "structural_tag")

    @staticmethod
    def set_token_filter(
        vocab_mask: Any, token_ids: list[int], batch_idx: int, is_allowed: bool = True, reset_vocab_mask: bool = True
    ) -> None:
        """Allows or forbids tokens in a row of a mask, with SGLang's operators."""
        on_cuda = vocab_mask.device.type == "cuda"
        name = "sglang.kernels.ops.grammar.token_filter_ops" if on_cuda else "sglang.srt.constrained.torch_ops.token_filter_torch_ops"
        module: Any = importlib.import_module(name)
        function = module.set_token_filter_triton if on_cuda else module.set_token_filter_torch
        function(vocab_mask, token_ids, batch_idx, is_allowed=is_allowed, reset_vocab_mask=reset_vocab_mask)

    # the wrapper for reasoning calls the following functions without a grammar
    @staticmethod
    def allocate_vocab_mask(vocab_size: int, batch_size: int, device: Any) -> Any:
        return allocate(vocab_size, batch_size)

    move_vocab_mask = staticmethod(GrammataGrammar.move_vocab_mask)
    apply_vocab_mask = staticmethod(GrammataGrammar.apply_vocab_mask)

    def reset(self) -> None:
        super().reset()
        for grammars in {self._grammars, self._framed}:
            grammars.clear()


def as_format(tag: dict[str, Any]) -> dict[str, Any]:
    """A structural tag in the form with `format`. A missing schema becomes the empty one, which allows any value; a schema
    that is a text becomes its value."""
    if tag.get("structures") is None:
        return {**tag, "format": _with_schemas(tag["format"])}
    tags = [
        {
            "type": "tag",
            "begin": one["begin"],
            "content": {"type": "json_schema", "json_schema": _schema(one.get("schema"))},
            "end": one["end"],
        }
        for one in tag["structures"]
    ]
    triggered = {"type": "triggered_tags", "triggers": tag["triggers"], "tags": tags}
    triggered["at_least_one"] = bool(tag.get("at_least_one", False))
    return {"type": "structural_tag", "format": triggered}


def _schema(value: Any) -> Any:
    """The value of a schema, which may be a JSON text."""
    if isinstance(value, str):
        return _json.loads(value)
    return {} if value is None else value


def _with_schemas(value: Any) -> Any:
    if isinstance(value, list):
        return [_with_schemas(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") in ("json_schema", "qwen_xml_parameter"):
        return {**value, "json_schema": _schema(value.get("json_schema"))}
    return {name: _with_schemas(one) for name, one in value.items()}
