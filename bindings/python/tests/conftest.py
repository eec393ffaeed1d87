"""Fixtures of the tests: the vocabulary of SmolLM2, and one of single bytes."""

from pathlib import Path

import grammata
import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def vocabulary() -> grammata.Vocabulary:
    return grammata.Vocabulary.from_file(ROOT / "tests/data/smollm2/tokenizer.json")


@pytest.fixture(scope="session")
def compiler(vocabulary: grammata.Vocabulary) -> grammata.Compiler:
    return grammata.Compiler(vocabulary)


@pytest.fixture(scope="session")
def bytewise() -> grammata.Compiler:
    tokens = [bytes([byte]) for byte in range(256)]
    return grammata.Compiler(grammata.Vocabulary.from_tokens([*tokens, None], specials={"<end>": 256}, eos=256))


def bits(words: object) -> list[int]:
    """The ids of the tokens that a mask in memory allows."""
    number = int.from_bytes(bytes(memoryview(words).cast("B")), "little")  # type: ignore[arg-type]
    return [place for place in range(number.bit_length()) if number >> place & 1]
