#!/usr/bin/env python3
"""Writes the tiny sentence encoders that the driver's tests run, and the results that they must give.

usage: make.py      (in the Python environment of `cargo xtask setup`: needs numpy and onnx)

An encoder has one layer of attention, a vocabulary of 24 tokens, vectors of 8 coordinates, and random weights from a
fixed seed. `tokens.onnx` outputs a vector for each token and reads token_type_ids. `pooled.onnx` outputs the mean,
which is not normalised. `half.onnx` outputs a vector for each token in 16-bit floats. The word `broken` has the
embedding NaN. `wrong/` has models that must be refused. expected.json is computed in numpy, for each text alone and
without padding.
"""

import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE, MOST, POSITIONS = 8, 12, 32
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = "a the cat dog sat ran on under mat tree red blue big small and or not broken über 猫".split()
VOCABULARY = {word: id for id, word in enumerate(SPECIAL + WORDS)}
TEXTS = [
    "the cat sat on the mat",
    "a dog ran",
    "",
    "red",
    "the big red dog and the small blue cat ran under the tree and sat on a mat",
    "nothing of this is known",
    "über 猫",
    "the cat sat on the mat",
    "a cat or a dog or a cat or",
    "a cat or a dog or a cat or a",
    "a cat or a dog or a cat or a dog",
]
RANDOM = np.random.default_rng(22)
WEIGHTS = {
    name: RANDOM.standard_normal(shape).astype(np.float32)
    for name, shape in {
        "word": (len(VOCABULARY), SIZE),
        "position": (POSITIONS, SIZE),
        "type": (2, SIZE),
        "query": (SIZE, SIZE),
        "key": (SIZE, SIZE),
        "value": (SIZE, SIZE),
    }.items()
}
WEIGHTS["word"][VOCABULARY["broken"]] = np.nan


def graph(pooled=False, half=False, types=True, by_input=False):
    """Returns the nodes, the constants and the name of the output of an encoder."""
    nodes = []

    def add(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    constants = {name: array for name, array in WEIGHTS.items() if types or name != "type"}
    constants |= {"one": np.array(1, np.int64), "axis1": np.array(1, np.int64), "one.float": np.float32(1)}
    constants |= {"hidden": np.float32(-1e9), "axes1": np.array([1], np.int64), "last": np.array([-1], np.int64)}
    constants["scale"] = np.float32(SIZE**-0.5)
    add("CumSum", ["attention_mask", "axis1"], "count")
    add("Sub", ["count", "one"], "place")
    add("Gather", ["word", "input_ids"], "x.word")
    add("Gather", ["position", "place"], "x.place")
    add("Add", ["x.word", "x.place"], "x.sum")
    x = "x.sum"
    if types:
        add("Gather", ["type", "token_type_ids"], "x.type")
        x = add("Add", ["x.sum", "x.type"], "x")
    for name in ("query", "key", "value"):
        add("MatMul", [x, name], "x." + name)
    add("Transpose", ["x.key"], "turned", perm=[0, 2, 1])
    add("MatMul", ["x.query", "turned"], "product")
    add("Mul", ["product", "scale"], "scaled")
    add("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
    add("Sub", ["one.float", "mask"], "padding")
    add("Mul", ["padding", "hidden"], "padding.score")
    add("Unsqueeze", ["padding.score", "axes1"], "bias")
    add("Add", ["scaled", "bias"], "score")
    add("Softmax", ["score"], "weights", axis=-1)
    add("MatMul", ["weights", "x.value"], "context")
    out = add("Add", ["context", x], "last_hidden_state32" if half else "last_hidden_state")
    if by_input:
        # the size of the vectors becomes the number of tokens, so that only a run of the model shows it
        out = "full"
        nodes[-1].output[:] = [out]
        constants["axes2"] = np.array([2], np.int64)
        constants["start"] = np.array([0], np.int64)
        add("ReduceMax", ["count"], "tokens", keepdims=0)
        add("Unsqueeze", ["tokens", "start"], "end")
        out = add("Slice", [out, "start", "end", "axes2"], "last_hidden_state")
    if half:
        out = add("Cast", [out], "last_hidden_state", to=TensorProto.FLOAT16)
    if pooled:
        add("Unsqueeze", ["mask", "last"], "mask.column")
        add("Mul", [out, "mask.column"], "masked")
        add("ReduceSum", ["masked", "axes1"], "total", keepdims=0)
        add("ReduceSum", ["mask", "axes1"], "tokens", keepdims=1)
        out = add("Div", ["total", "tokens"], "sentence_embedding")
    return nodes, constants, out


def save(name, pooled=False, half=False, types=True, rename=(), announce=None, extra=None, mask_type=TensorProto.INT64):
    nodes, constants, out = graph(pooled, half, types, by_input=announce is not None)
    renamed = dict(rename)
    info = helper.make_tensor_value_info
    inputs = [info("input_ids", TensorProto.INT64, ["batch", "sequence"])]
    inputs.append(info("attention_mask", mask_type, ["batch", "sequence"]))
    if types:
        inputs.append(info("token_type_ids", TensorProto.INT64, ["batch", "sequence"]))
    if extra:
        inputs.append(info(extra, TensorProto.INT64, ["batch", "sequence"]))
    if mask_type != TensorProto.INT64:
        nodes.insert(0, helper.make_node("Cast", ["attention_mask"], ["integer_mask"], to=TensorProto.INT64))
        for node in nodes[1:]:
            node.input[:] = ["integer_mask" if i == "attention_mask" else i for i in node.input]
    for node in nodes:
        node.output[:] = [renamed.get(o, o) for o in node.output]
        node.input[:] = [renamed.get(i, i) for i in node.input]
    for value in inputs:
        value.name = renamed.get(value.name, value.name)
    shape = ["batch", SIZE] if pooled else ["batch", "sequence", SIZE]
    kind = TensorProto.FLOAT16 if half else TensorProto.FLOAT
    outputs = [info(renamed.get(out, out), kind, announce or shape)]
    used = {i for node in nodes for i in node.input}
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items() if n in used]
    made = helper.make_graph(nodes, "tiny", inputs, outputs, tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, os.path.join(HERE, name))


def tokenizer():
    words = {"type": "WordLevel", "vocab": VOCABULARY, "unk_token": "[UNK]"}
    sides = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    single = [sides[0], {"Sequence": {"id": "A", "type_id": 0}}, sides[1]]
    special = {t: {"id": t, "ids": [VOCABULARY[t]], "tokens": [t]} for t in ("[CLS]", "[SEP]")}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0",
        # the embedder must ignore `truncation` and `padding`, which the files of real sentence encoders have
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
        "padding": {
            "strategy": {"Fixed": 16},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        },
        "added_tokens": [{"id": VOCABULARY[t], "content": t} | flags for t in SPECIAL],
        "normalizer": None,
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "post_processor": {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special},
        "decoder": None,
        "model": words,
    }


def forward(text, types):
    """Returns the number of tokens and the unit vector of a text, computed in 64-bit floats."""
    w = {name: array.astype(np.float64) for name, array in WEIGHTS.items()}
    words = [VOCABULARY.get(word, VOCABULARY["[UNK]"]) for word in text.split()]
    ids = [VOCABULARY["[CLS]"], *words[: MOST - 2], VOCABULARY["[SEP]"]]
    x = w["word"][ids] + w["position"][: len(ids)]
    if types:
        x = x + w["type"][0]
    score = (x @ w["query"]) @ (x @ w["key"]).T * SIZE**-0.5
    weights = np.exp(score - score.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    mean = (weights @ (x @ w["value"]) + x).mean(0)
    return len(words) + 2, (mean / np.linalg.norm(mean)).round(7).tolist()


def main():
    save("tokens.onnx")
    save("half.onnx", half=True)
    save("pooled.onnx", pooled=True, types=False)
    save("wrong/no-mask.onnx", rename=[("attention_mask", "mask_of_attention")])
    save("wrong/extra-input.onnx", extra="position_ids")
    save("wrong/no-output.onnx", rename=[("last_hidden_state", "pooler_output")])
    save("wrong/flat.onnx", rename=[("last_hidden_state", "sentence_embedding")])
    save("wrong/float-mask.onnx", mask_type=TensorProto.FLOAT)
    save("wrong/open-size.onnx", announce=["batch", "sequence", "size"])
    save("wrong/other-size.onnx", announce=["batch", "sequence", SIZE])
    with open(os.path.join(HERE, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(tokenizer(), file, ensure_ascii=False, indent=1)
    expected = {"max_tokens": MOST, "texts": []}
    for text in TEXTS:
        tokens, with_types = forward(text, True)
        _, without = forward(text, False)
        expected["texts"].append({"text": text, "tokens": tokens, "vector": with_types, "without_types": without})
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
