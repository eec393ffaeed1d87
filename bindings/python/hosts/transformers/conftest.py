"""Tests on `transformers` itself with SmolLM2, run by `cargo xtask full transformers`: `GRAMMATA_SMOLLM2` is the model's folder."""

import json
import os
from pathlib import Path
from typing import Any

import grammata
import pytest
import torch
import transformers
from grammata.integrations.transformers import compiler_for

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return transformers.AutoTokenizer.from_pretrained(os.environ["GRAMMATA_SMOLLM2"], padding_side="left")


@pytest.fixture(scope="session")
def model() -> Any:
    torch.manual_seed(0)
    return transformers.AutoModelForCausalLM.from_pretrained(os.environ["GRAMMATA_SMOLLM2"], dtype=torch.float32).eval()


@pytest.fixture(scope="session")
def compiler(model: Any, tokenizer: Any) -> grammata.Compiler:
    return compiler_for(model, tokenizer)


@pytest.fixture(scope="session")
def schemas() -> dict[str, Any]:
    return json.loads((HERE / "schemas.json").read_text())


def prompt(tokenizer: Any, what: str) -> list[int]:
    """The tokens of a chat that asks for a value."""
    chat = [{"role": "user", "content": f"Write a JSON value: {what}. Answer with JSON only."}]
    text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    return tokenizer(text)["input_ids"]


def padded(tokenizer: Any, prompts: list[list[int]]) -> Any:
    return tokenizer.pad({"input_ids": prompts}, return_tensors="pt")


def text_of(tokenizer: Any, tokens: Any) -> str:
    """The text up to the first end token."""
    ids = [int(token) for token in tokens]
    ids = ids[: ids.index(tokenizer.eos_token_id)] if tokenizer.eos_token_id in ids else ids
    return tokenizer.decode(ids)
