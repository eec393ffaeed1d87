"""Replaces the classes of XGrammar with those of this package."""

from __future__ import annotations

from grammata.compat import _installation

PACKAGE = "xgrammar"

_HERE = "grammata.compat.xgrammar"

_CLASSES = {
    "compiler": ("CompiledGrammar", "GrammarCompiler"),
    "contrib.hf": ("LogitsProcessor",),
    "exception": ("InvalidJSONError", "InvalidStructuralTagError"),
    "grammar": ("Grammar",),
    "matcher": ("BatchGrammarMatcher", "GrammarMatcher"),
    "tokenizer_info": ("TokenizerInfo", "VocabType"),
    "testing": (
        "_get_masked_tokens_from_bitmask",
        "_get_matcher_from_grammar",
        "_get_matcher_from_grammar_and_tokenizer_info",
        "_is_grammar_accept_string",
        "_is_single_token_bitmask",
        "_json_schema_to_ebnf",
        "_regex_to_ebnf",
        "bitmask_to_bool_mask",
        "bool_mask_to_bitmask",
    ),
}
"""The names that are replaced, by the module that defines them. The modules have the same names in both packages."""


def install() -> None:
    """Makes `xgrammar` run on Grammata's engine, in this process.

    If XGrammar is installed, its classes of grammars, compilers, matchers and vocabularies, its logits processor for
    `transformers`, its exceptions and its functions for tests are replaced in all of its modules. Its structural tags,
    presets, tool schemas and kernels stay. Call it before other packages import names from XGrammar: a name that was
    imported earlier keeps XGrammar's class.
    If XGrammar is not installed, `import xgrammar` returns this package.

    A second call does nothing.
    """
    members = {name: _installation.named(f"{_HERE}.{name}", classes) for name, classes in _CLASSES.items()}
    aliases = {name: f"{_HERE}.{name}" for name in ("contrib", "structural_tag", *_CLASSES)}
    _installation.install(PACKAGE, _HERE, members, aliases)
