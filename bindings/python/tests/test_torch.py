"""Torch and transformers themselves, if they are installed (they are large, and continuous integration does not install
them)."""

import json

import grammata
import numpy as np
import pytest
from conftest import bits
from grammata.integrations.torch import apply_mask, covered
from grammata.integrations.transformers import GrammarLogitsProcessor

torch = pytest.importorskip("torch")


def test_tensors_are_filled_where_they_lie(bytewise):
    matcher = bytewise.compile_regex("[ac]").matcher()
    table = torch.full((3, 9), -1, dtype=torch.int32)
    matcher.fill_mask(table[1])
    assert bits(table[1].numpy()) == [97, 99] and (table[0] == -1).all() and (table[2] == -1).all()
    grammata.fill_masks([matcher, matcher.fork()], table)
    assert torch.equal(table[0], table[1])
    logits = torch.zeros(257)
    grammata.mask_logits(logits, table[0])
    assert torch.isfinite(logits).nonzero().flatten().tolist() == [97, 99]
    for wrong in (torch.zeros(9), torch.zeros(18, dtype=torch.int32)[::2], torch.zeros(9, dtype=torch.int64)):
        with pytest.raises(grammata.UsageError):
            matcher.fill_mask(wrong)
    with pytest.raises(grammata.UsageError) as caught:
        matcher.fill_mask(torch.zeros(9, dtype=torch.int32, device="meta"))
    assert caught.value.code in ("python/device", "python/no-buffer")


def test_scores_are_those_of_numpy(bytewise):
    grammar = bytewise.compile_regex("(a|bb)*c")
    rows, scores = np.array([[1, 2], [3, 4]]), np.random.default_rng(1).normal(size=(2, 300)).astype(np.float32)
    plain, tensors = GrammarLogitsProcessor(grammar), GrammarLogitsProcessor(grammar)
    for token in (97, 98, 98, 99, 256, 0):
        expected = plain(rows, scores)
        assert np.array_equal(tensors(torch.from_numpy(rows), torch.from_numpy(scores)).numpy(), expected)
        rows = np.concatenate([rows, np.full((2, 1), token)], axis=1)


@pytest.mark.parametrize("options", [{}, {"num_beams": 3}, {"do_sample": True}, {"num_beams": 2, "do_sample": True}])
def test_generate(bytewise, options):
    """The texts of a model with random weights are in the grammar."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=257, hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=2, bos_token_id=0, eos_token_id=256, pad_token_id=0,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).eval()
    schema = {"type": "object", "required": ["a", "b"], "additionalProperties": False,
              "properties": {"a": {"enum": ["x", "yy"]}, "b": {"type": "integer", "minimum": 0, "maximum": 99}}}  # fmt: skip
    grammar = bytewise.compile_json_schema(schema, whitespace="compact", numbers="plain")
    prompt = torch.tensor([[5, 6, 7], [8, 9, 10]])
    processor = GrammarLogitsProcessor(grammar)
    for _ in range(2):
        output = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=40, logits_processor=[processor], **options
        )
        for row in output[:, 3:].tolist():
            value = json.loads(bytes(row[: row.index(256)]))
            assert value["a"] in ("x", "yy") and 0 <= value["b"] <= 99


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("width", [257, 288, 300])
def test_masks_of_tensors(bytewise, dtype, width):
    """Masks in place, on the CPU. With `rows`, other rows do not change, and logits without a bit are forbidden."""
    kind = getattr(torch, dtype)
    masks = torch.zeros((2, 9), dtype=torch.int32)
    grammata.fill_masks([bytewise.compile_regex("[ac]").matcher(), bytewise.compile_regex("b?").matcher()], masks)
    expected = [[97, 99], [98, 256]]
    logits = torch.zeros((2, width), dtype=kind)
    apply_mask(logits, masks)
    assert [torch.isfinite(row).nonzero().flatten().tolist() for row in logits] == expected
    table = torch.zeros((4, width * 2), dtype=kind)[:, ::2] if dtype != "float16" else torch.zeros((4, width), dtype=kind)
    apply_mask(table, masks, [3, 0])
    assert [torch.isfinite(table[row]).nonzero().flatten().tolist() for row in (3, 0)] == expected
    assert torch.isfinite(table[1:3]).all()
    apply_mask(logits[0], masks[1])
    assert not torch.isfinite(logits[0]).any()


def test_fewer_logits_than_tokens(bytewise):
    """They are an error, unless the caller passes the part of the masks that has logits."""
    masks = torch.zeros((2, 9), dtype=torch.int32)
    grammata.fill_masks([bytewise.compile_regex("[ac]").matcher(), bytewise.compile_regex("b?").matcher()], masks)
    logits = torch.zeros((2, 250))
    with pytest.raises(grammata.UsageError) as caught:
        apply_mask(logits, masks)
    assert caught.value.code == "python/width" and "masks[:, :8]" in caught.value.help and torch.isfinite(logits).all()
    apply_mask(logits, covered(masks, logits))
    assert [torch.isfinite(row).nonzero().flatten().tolist() for row in logits] == [[97, 99], [98]]


def test_tensors_that_do_not_fit():
    logits, masks = torch.zeros((2, 64)), torch.zeros((2, 2), dtype=torch.int32)
    for wrong, code in (
        ((logits.int(), masks, None), "python/logits"),
        ((torch.zeros((2, 2, 32)), masks, None), "python/logits"),
        ((logits, masks.long(), None), "python/element-type"),
        ((logits, torch.zeros((2, 4), dtype=torch.int32)[:, ::2], None), "python/element-type"),
        ((logits, masks[:1], None), "python/rows"),
        ((logits, masks, [0]), "python/rows"),
        ((logits, masks, [0, 2]), "python/rows"),
        ((logits, masks, [1, 1]), "python/rows"),
        ((logits, masks, [0, -1]), "python/rows"),
    ):
        with pytest.raises(grammata.UsageError) as caught:
            apply_mask(*wrong)
        assert caught.value.code == code
    assert torch.isfinite(logits).all()
