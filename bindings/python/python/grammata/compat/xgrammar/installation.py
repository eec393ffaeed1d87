"""Putting these classes into the place of XGrammar's."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType

PACKAGE = "xgrammar"

_HERE = "grammata.compat.xgrammar"

_CLASSES = {
    "compiler": ("CompiledGrammar", "GrammarCompiler"),
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
"""What is replaced, by the module that has it, which has the same name in both packages."""


def install() -> None:
    """Makes `xgrammar` run on Grammata's engine, in this process.

    If XGrammar is installed, its classes of grammars, compilers, matchers and vocabularies are replaced in all of its modules. Its
    structural tags, presets, tool schemas and kernels stay. Call it before other packages import names from XGrammar: a name that was
    imported earlier keeps XGrammar's class. If XGrammar is not installed, `import xgrammar` gives this package.

    A second call does nothing.
    """
    if sys.modules.get(PACKAGE) is sys.modules[_HERE]:
        return
    if PACKAGE not in sys.modules and importlib.util.find_spec(PACKAGE) is None:
        sys.modules[PACKAGE] = sys.modules[_HERE]
        for name in ("exception", "structural_tag", "testing", *_CLASSES):
            sys.modules[f"{PACKAGE}.{name}"] = importlib.import_module(f"{_HERE}.{name}")
        return
    importlib.import_module(PACKAGE)
    replacements: dict[int, tuple[object, object]] = {}
    for name, members in _CLASSES.items():
        theirs = importlib.import_module(f"{PACKAGE}.{name}")
        ours = importlib.import_module(f"{_HERE}.{name}")
        for member in members:
            if hasattr(theirs, member):
                # kept alive, so that its id stays its own
                original = getattr(theirs, member)
                replacements[id(original)] = original, getattr(ours, member)
    for module in _modules():
        for member, value in list(vars(module).items()):
            if id(value) in replacements:
                setattr(module, member, replacements[id(value)][1])


def _modules() -> list[ModuleType]:
    """The loaded modules of XGrammar."""
    return [module for name, module in sys.modules.items() if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
