"""Compilers with a cache, and compiled grammars."""

from __future__ import annotations

from typing import Any

from grammata import _native
from grammata._native import Compiler, GrammarCache, Source
from grammata.compat.xgrammar.exception import InvalidStructuralTagError, translated
from grammata.compat.xgrammar.grammar import Grammar
from grammata.compat.xgrammar.tokenizer_info import TokenizerInfo

_UNBOUNDED = 1 << 62
"""Size in bytes that is used for a cache without a bound."""


class CompiledGrammar:
    """A grammar compiled for a vocabulary. Matchers on any number of threads may use it."""

    __slots__ = ("_compiled", "_grammar", "_owner")

    _grammar: Grammar
    _compiled: _native.CompiledGrammar
    _owner: GrammarCompiler

    def __init__(self) -> None:
        raise TypeError("compile grammars with a GrammarCompiler")

    @classmethod
    def _of(cls, grammar: Grammar, compiled: _native.CompiledGrammar, owner: GrammarCompiler) -> CompiledGrammar:
        made = object.__new__(cls)
        made._grammar, made._compiled, made._owner = grammar, compiled, owner
        return made

    @property
    def grammar(self) -> Grammar:
        """The grammar that was compiled."""
        return self._grammar

    @property
    def tokenizer_info(self) -> TokenizerInfo:
        """The vocabulary for which the grammar was compiled."""
        return self._owner._info

    @property
    def memory_size_bytes(self) -> int:
        """Bytes of the automaton, its tables and the masks that were computed so far."""
        return self._compiled.memory_usage()

    def _matcher(self, stop: tuple[int, ...]) -> _native.Matcher:
        """A matcher whose sequences end with these tokens."""
        if list(stop) == self._owner._info.stop_token_ids:
            return self._compiled.matcher()
        return self._compiled.matcher(end_tokens=list(stop))


class GrammarCompiler:
    """Compiles grammars for one vocabulary and keeps them in a cache. Threads may share it.

    `max_threads` has no effect: grammars are compiled on the caller's thread, most of them in milliseconds. Neither has
    `enable_dynamic_compilation`: masks are always computed when they are first needed.
    `cache_limit_bytes` bounds the cache; -1 is no bound.
    """

    def __init__(
        self,
        tokenizer_info: TokenizerInfo,
        *,
        max_threads: int = 8,
        cache_enabled: bool = True,
        cache_limit_bytes: int = -1,
        enable_dynamic_compilation: bool = False,
    ) -> None:
        if not isinstance(tokenizer_info, TokenizerInfo):
            raise ValueError(f"a GrammarCompiler needs a TokenizerInfo, not {type(tokenizer_info).__name__}")
        if not isinstance(enable_dynamic_compilation, int):
            found = type(enable_dynamic_compilation).__name__
            raise TypeError(f"enable_dynamic_compilation is a bool, not {found}; it has no effect: compilation is always lazy")
        if max_threads < 1:
            raise RuntimeError(f"max_threads={max_threads} is less than 1")
        if cache_limit_bytes < -1:
            raise RuntimeError(f"cache_limit_bytes={cache_limit_bytes} is neither a number of bytes nor -1")
        self._info, self._limit = tokenizer_info, cache_limit_bytes
        self._compiler = Compiler(tokenizer_info.vocabulary)
        most = _UNBOUNDED if cache_limit_bytes < 0 else cache_limit_bytes
        self._cache = GrammarCache(self._compiler, max_bytes=most) if cache_enabled else None

    def compile_grammar(self, grammar: Grammar | str, *, root_rule_name: str = "root") -> CompiledGrammar:
        """Compiles a Grammar, or the text of one. Raises RuntimeError; ValueError for an argument of another type."""
        if isinstance(grammar, str):
            grammar = Grammar.from_ebnf(grammar, root_rule_name=root_rule_name)
        if not isinstance(grammar, Grammar):
            raise ValueError(f"a grammar is a str or a Grammar, not {type(grammar).__name__}")
        return CompiledGrammar._of(grammar, self._compile(grammar), self)

    def compile_json_schema(
        self,
        schema: Any,
        *,
        any_whitespace: bool = True,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        strict_mode: bool = True,
        max_whitespace_cnt: int | None = None,
        any_order: bool = False,
    ) -> CompiledGrammar:
        """Compiles a JSON Schema; see `Grammar.from_json_schema`."""
        grammar = Grammar.from_json_schema(
            schema,
            any_whitespace=any_whitespace,
            indent=indent,
            separators=separators,
            strict_mode=strict_mode,
            max_whitespace_cnt=max_whitespace_cnt,
            any_order=any_order,
        )
        return self.compile_grammar(grammar)

    def compile_builtin_json_grammar(self) -> CompiledGrammar:
        """Compiles the grammar of all objects and arrays of JSON."""
        return self.compile_grammar(Grammar.builtin_json_grammar())

    def compile_regex(self, regex: str) -> CompiledGrammar:
        """Compiles a regular expression; see `Grammar.from_regex`."""
        return self.compile_grammar(Grammar.from_regex(regex))

    def compile_lark(self, lark_string: str, *, named_grammars: Any = None) -> CompiledGrammar:
        """Compiles a grammar in Lark; see `Grammar.from_lark`."""
        return self.compile_grammar(Grammar.from_lark(lark_string, tokenizer_info=self._info, named_grammars=named_grammars))

    def compile_structural_tag(self, *args: Any, **kwargs: Any) -> CompiledGrammar:
        """Compiles a structural tag; see `Grammar.from_structural_tag`."""
        return self.compile_grammar(Grammar.from_structural_tag(*args, **kwargs))

    def clear_cache(self) -> None:
        """Removes the grammars from the cache. Matchers that use them stay valid."""
        self._compiler.clear_cache()
        if self._cache is not None:
            self._cache.clear()

    def get_cache_size_bytes(self) -> int:
        """Bytes of the grammars in the cache; 0 without a cache."""
        return 0 if self._cache is None else self._cache.memory_usage()

    @property
    def cache_limit_bytes(self) -> int:
        """The bound of the cache in bytes; -1 without a bound."""
        return self._limit

    def _compile(self, grammar: Grammar) -> _native.CompiledGrammar:
        source: Source = grammar._source
        with translated(*([InvalidStructuralTagError] if source.notation == "structural-tag" else [])):
            return self._compiler.compile(source) if self._cache is None else self._cache.get(source)
