"""XGrammar's Python interface on Grammata's engine: the parts of XGrammar 0.2.9 that servers of language models call.

`install()` puts these classes into an installed `xgrammar`, so that vLLM, SGLang and others use them without changes.
If `xgrammar` is not installed, `import xgrammar` returns this module after `install()`. The module can also be used
directly:

>>> from grammata.compat import xgrammar as xgr
>>> info = xgr.TokenizerInfo(["yes", "no", "y", "es", "</s>"])
>>> compiler = xgr.GrammarCompiler(info)
>>> matcher = xgr.GrammarMatcher(compiler.compile_regex("yes|no"))
>>> matcher.accept_token(2), matcher.accept_token(1), matcher.find_jump_forward_string()
(True, False, 'es')
>>> matcher.accept_token(3), matcher.accept_token(4), matcher.is_terminated()
(True, True, True)

`GrammarMatcher` and `contrib.hf.LogitsProcessor` have an option of this package: with `budget=N` masks allow only texts
that are complete within N tokens.

Arguments without a meaning here raise an error that names them. Accepted without effect are `max_threads`,
`max_rollback_tokens` (rollback is unlimited), `enable_dynamic_compilation` (compilation is always lazy) and
`debug_print`. Where XGrammar drops constraints, the languages of grammars differ; docs/structural-tags.md lists the
differences.

Bitmasks are torch tensors if torch is installed, otherwise NumPy arrays.
"""

from __future__ import annotations

from grammata.compat.xgrammar import bitmask, contrib, exception, structural_tag, testing
from grammata.compat.xgrammar.bitmask import (
    allocate_token_bitmask,
    apply_token_bitmask_inplace,
    get_bitmask_shape,
    reset_token_bitmask,
)
from grammata.compat.xgrammar.compiler import CompiledGrammar, GrammarCompiler
from grammata.compat.xgrammar.exception import InvalidJSONError, InvalidStructuralTagError
from grammata.compat.xgrammar.grammar import Grammar
from grammata.compat.xgrammar.installation import install
from grammata.compat.xgrammar.matcher import BatchGrammarMatcher, GrammarMatcher
from grammata.compat.xgrammar.structural_tag import StructuralTag, StructuralTagItem
from grammata.compat.xgrammar.tokenizer_info import TokenizerInfo, VocabType

__all__ = [
    "BatchGrammarMatcher",
    "CompiledGrammar",
    "Grammar",
    "GrammarCompiler",
    "GrammarMatcher",
    "InvalidJSONError",
    "InvalidStructuralTagError",
    "StructuralTag",
    "StructuralTagItem",
    "TokenizerInfo",
    "VocabType",
    "allocate_token_bitmask",
    "apply_token_bitmask_inplace",
    "bitmask_dtype",
    "contrib",
    "exception",
    "get_bitmask_shape",
    "install",
    "reset_token_bitmask",
    "structural_tag",
    "testing",
]


def __getattr__(name: str) -> object:
    """Makes `bitmask_dtype` at its first use, since it needs torch or NumPy."""
    if name == "bitmask_dtype":
        return bitmask.bitmask_dtype()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
