"""llguidance's Python interface on Grammata's engine: the parts of llguidance 1.9.1 that servers of language models call.

`install()` puts these classes into an installed `llguidance`, so that vLLM, SGLang, Outlines and others use them
without changes. If `llguidance` is not installed, `import llguidance` returns this package after `install()`. The
package can also be used directly:

>>> from grammata.compat import llguidance
>>> tokenizer = llguidance.LLTokenizer("byte")
>>> matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_regex("yes|no"))
>>> matcher.consume_token(ord("y")), matcher.compute_ff_bytes()
(True, b'es')
>>> matcher.consume_tokens(list(b"es")), matcher.is_stopped(), matcher.stop_reason()
(True, True, 'NoExtension')

As in llguidance, a matcher keeps the error of a bad grammar or token, and `get_error()` returns it:

>>> llguidance.LLMatcher(tokenizer, "start: missing").is_error()
True

Interfaces and options without a meaning here raise `UnsupportedError`. Accepted without effect are slices, `log_level`,
`num_threads`, `coerce_one_of` (`oneOf` is exact) and `lenient` (no keyword is ignored). A grammar describes the texts
of its rules: no lexer takes the longest terminal. Grammars are strings as in llguidance. For regular expressions, GBNF
and structural tags, lists of grammars have keys that llguidance does not have.
"""

from __future__ import annotations

from grammata.compat.llguidance.compilers import JsonCompiler, LarkCompiler, RegexCompiler, regex_to_lark
from grammata.compat.llguidance.errors import UnsupportedError
from grammata.compat.llguidance.executor import LLExecutor
from grammata.compat.llguidance.installation import VERSION, install
from grammata.compat.llguidance.limits import LLInterpreter, LLParserLimits
from grammata.compat.llguidance.matcher import LLMatcher
from grammata.compat.llguidance.sources import GrammarFormat, grammar_from
from grammata.compat.llguidance.struct_tag import StructTag
from grammata.compat.llguidance.tokenizer import LLTokenizer
from grammata.compat.llguidance.wrapper import TokenizerWrapper

__all__ = [
    "GrammarFormat",
    "JsonCompiler",
    "LLExecutor",
    "LLInterpreter",
    "LLMatcher",
    "LLParserLimits",
    "LLTokenizer",
    "LarkCompiler",
    "RegexCompiler",
    "StructTag",
    "TokenizerWrapper",
    "UnsupportedError",
    "__version__",
    "get_version",
    "grammar_from",
    "install",
    "regex_to_lark",
]

__version__ = VERSION


def get_version() -> str:
    """The version of the interface and that of the engine, as text."""
    import grammata

    return f"llguidance@{VERSION} grammata@{grammata.__version__}"
