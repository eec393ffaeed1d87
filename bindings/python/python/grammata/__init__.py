"""Token masks for constrained decoding: which tokens may come next so that a text stays in the language of a grammar.

>>> import grammata
>>> vocabulary = grammata.Vocabulary.from_tokens(["yes", "no", "y", "es", "n", "o", None], specials={"<end>": 6}, eos=6)
>>> grammar = grammata.Compiler(vocabulary).compile_regex("yes|no")
>>> matcher = grammar.matcher()
>>> matcher.mask().ids()
[0, 1, 2, 4]
>>> matcher.accept_token(2)
>>> matcher.mask().ids()
[3]
>>> matcher.accept_token(3)
>>> matcher.is_finished()
True

The package is a binding of the Rust library of the same name. Calls that may take long release the interpreter's lock.
"""

import atexit as _atexit
import os as _os

from grammata._errors import (
    BatchError,
    Diagnostic,
    FileError,
    GrammarError,
    GrammataError,
    LimitError,
    ModelError,
    RejectedError,
    TypeWarning,
    UsageError,
    VocabularyError,
)
from grammata._native import (
    Archive,
    ArchiveBuilder,
    CompiledGrammar,
    Compiler,
    GrammarCache,
    MaskBuffer,
    MaskFile,
    Matcher,
    Source,
    TokenMask,
    Vocabulary,
    WarmUp,
    __version__,
    _after_fork_in_child,
    _after_fork_in_parent,
    _before_fork,
    _end,
    accept_tokens,
    fill_masks,
    mask_logits,
    structural_tag,
)
from grammata._schemas import json_schema_of
from grammata._values import Distance, Event, Expectation, Explanation

# ends calls into Python code before daemon threads lose the interpreter
_atexit.register(_end)
if hasattr(_os, "register_at_fork"):
    # no other thread is inside a call when the process forks
    _os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)

__all__ = [
    "Archive",
    "ArchiveBuilder",
    "BatchError",
    "CompiledGrammar",
    "Compiler",
    "Diagnostic",
    "Distance",
    "Event",
    "Expectation",
    "Explanation",
    "FileError",
    "GrammarCache",
    "GrammarError",
    "GrammataError",
    "LimitError",
    "MaskBuffer",
    "MaskFile",
    "Matcher",
    "ModelError",
    "RejectedError",
    "Source",
    "TokenMask",
    "TypeWarning",
    "UsageError",
    "Vocabulary",
    "VocabularyError",
    "WarmUp",
    "__version__",
    "accept_tokens",
    "fill_masks",
    "json_schema_of",
    "mask_logits",
    "structural_tag",
]
