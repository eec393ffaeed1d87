"""A pytest plugin that runs llguidance's tests on Grammata's engine, without a network.

With `GRAMMATA_PEER` set, llguidance's own engine runs, which shows wrong expectations. `GRAMMATA_TOKENIZERS` is a
folder of tokenizers. They stand in for those that the tests name on a model hub, and for tiktoken's, which comes from a server of its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]

TOKENIZERS = Path(os.environ["GRAMMATA_TOKENIZERS"])

HUB = {
    "unsloth/Meta-Llama-3.1-8B-Instruct": (TOKENIZERS / "llama3_1", "<|eot_id|>"),
    # the test needs a tokenizer that lacks some bytes; SmolLM2's does too
    "HuggingFaceTB/SmolLM-135M-Instruct": (ROOT / "tests/data/smollm2", "<|im_end|>"),
}
"""The folder and the end token of the tokenizers that the tests name."""

if os.environ["GRAMMATA_PREFIX"] == "alone/" and importlib.util.find_spec("llguidance") is not None:
    raise SystemExit("llguidance is installed: these tests run without it")

if not os.environ.get("GRAMMATA_PEER"):
    from grammata.compat import llguidance

    llguidance.install()


def _printable() -> dict[str, int]:
    """The byte of each character of byte-level vocabularies."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    rest = [byte for byte in range(256) if byte not in set(shown)]
    return {chr(byte): byte for byte in shown} | {chr(0x100 + place): byte for place, byte in enumerate(rest)}


def _encoding(name: str) -> Any:
    """tiktoken's o200k_base, made of a `tokenizer.json` with the same ranks."""
    import tiktoken

    assert name == "o200k_base"
    value = json.loads((TOKENIZERS / "gpt4o/tokenizer.json").read_text(encoding="utf-8"))
    special = {token["content"]: token["id"] for token in value["added_tokens"] if token["special"]}
    printable = _printable()
    ranks = {
        bytes(printable[letter] for letter in token): rank
        for token, rank in value["model"]["vocab"].items()
        if token not in special and set(token) <= printable.keys()
    }
    parts = value["pre_tokenizer"].get("pretokenizers", [value["pre_tokenizer"]])
    pattern = next(part["pattern"]["Regex"] for part in parts if part.get("pattern"))
    return tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=special)


@pytest.fixture(autouse=True, scope="session")
def _stand_ins() -> None:
    try:
        import tiktoken

        tiktoken.get_encoding = _encoding
    except ImportError:
        pass
    try:
        import transformers
    except ImportError:
        return

    def load(name: str) -> Any:
        folder, end = HUB[name]
        return transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"), eos_token=end)

    transformers.AutoTokenizer.from_pretrained = load


@pytest.fixture(autouse=True)
def _vocabulary_of_llama_cpp(request: pytest.FixtureRequest) -> None:
    """Copies llama.cpp's vocabulary to the place where the test looks for a fetched one."""
    given = os.environ.get("GRAMMATA_LLAMA_VOCAB")
    if given and request.module.__name__.endswith("test_llamacpp"):
        folder = TOKENIZERS / "llama-cpp"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(given, folder / "vocab.gguf")
        request.module.get_llama_vocab_file = lambda config: str(folder / "vocab.gguf")
