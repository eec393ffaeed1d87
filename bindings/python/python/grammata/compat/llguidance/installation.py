"""Replaces the classes of llguidance with those of this package."""

from __future__ import annotations

from grammata.compat import _installation

VERSION = "1.9.1"
"""The version of llguidance whose interface this is."""

PACKAGE = "llguidance"

_HERE = "grammata.compat.llguidance"

_CLASSES = {
    "_lib": (
        "JsonCompiler",
        "LLExecutor",
        "LLInterpreter",
        "LLMatcher",
        "LLParserLimits",
        "LLTokenizer",
        "LarkCompiler",
        "RegexCompiler",
        "get_version",
        "regex_to_lark",
    ),
    "_grammar_from": ("grammar_from",),
    "_struct_tag": ("StructTag",),
}
"""The names that are replaced, by the module of llguidance that defines them. This package defines all of them."""

_MODULES = ("hf", "llamacpp", "numpy", "tiktoken", "torch")


def install() -> None:
    """Makes `llguidance` run on Grammata's engine, in this process.

    If llguidance is installed, its classes of compilers, tokenizers, matchers, executors and structural tags are
    replaced in all of its modules. Its functions for bitmasks and tokenizers stay, and use the new classes. Call it
    before other packages import names from llguidance: a name that was imported earlier keeps llguidance's class. If
    llguidance is not installed, `import llguidance` returns this package.

    A second call does nothing.
    """
    members = {name: _installation.named(_HERE, classes) for name, classes in _CLASSES.items()}
    _installation.install(PACKAGE, _HERE, members, {name: f"{_HERE}.{name}" for name in _MODULES})
