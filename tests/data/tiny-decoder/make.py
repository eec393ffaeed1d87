#!/usr/bin/env python3
"""Writes the tiny decoder for the tests of crates/decode/src/ort: random weights with the interface of a real model.

usage: make.py   (needs numpy and onnx, as pinned in xtask/scripts/requirements.txt)

Writes into its own folder: model.onnx (f32), model-f16.onnx (f16 weights, cache and logits; no position_ids),
model-last.onnx and model-keep.onnx (f32, with the logits of the last position, or of the last num_logits_to_keep), a
byte-level tokenizer and its settings, expected.json, and under wrong/ the graphs that the driver must refuse.
expected.json has the logits of a forward pass in numpy: in f64, without a cache, with rotation and attention written
separately, so that only the weights are common with the graph.
"""

import json
import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = os.path.dirname(os.path.abspath(__file__))
VOCABULARY, WIDTH, LAYERS, HEADS, KV_HEADS, HEAD, INNER, CONTEXT = 320, 32, 2, 4, 2, 8, 48, 128
EPSILON, THETA = 1e-5, 10000.0
PROMPT = [1, 72, 101, 108, 108, 111, 300, 319, 0, 44]


def weights():
    """Random weights from a fixed seed, rounded to f16 so that the f32 and the f16 models have equal numbers."""
    random = np.random.Generator(np.random.PCG64(20261121))

    def matrix(rows, columns):
        return random.standard_normal((rows, columns)) / np.sqrt(rows)

    table = {"embedding": random.standard_normal((VOCABULARY, WIDTH)), "output": matrix(WIDTH, VOCABULARY) * 2}
    for layer in range(LAYERS):
        table[f"{layer}.q"] = matrix(WIDTH, HEADS * HEAD)
        table[f"{layer}.k"] = matrix(WIDTH, KV_HEADS * HEAD)
        table[f"{layer}.v"] = matrix(WIDTH, KV_HEADS * HEAD)
        table[f"{layer}.o"] = matrix(HEADS * HEAD, WIDTH)
        table[f"{layer}.gate"] = matrix(WIDTH, INNER)
        table[f"{layer}.up"] = matrix(WIDTH, INNER)
        table[f"{layer}.down"] = matrix(INNER, WIDTH)
        table[f"{layer}.norm1"] = 1 + 0.1 * random.standard_normal(WIDTH)
        table[f"{layer}.norm2"] = 1 + 0.1 * random.standard_normal(WIDTH)
    return {name: array.astype(np.float16) for name, array in table.items()}


def forward(table, tokens):
    """Returns the logits of every position, computed in f64 and one position at a time."""
    w = {name: array.astype(np.float64) for name, array in table.items()}

    def norm(x, gain):
        return x / np.sqrt(np.mean(x * x) + EPSILON) * gain

    def rotate(vector, position):
        out = np.empty_like(vector)
        for i in range(HEAD // 2):
            angle = position * THETA ** (-2 * i / HEAD)
            a, b = vector[i], vector[i + HEAD // 2]
            out[i] = a * np.cos(angle) - b * np.sin(angle)
            out[i + HEAD // 2] = b * np.cos(angle) + a * np.sin(angle)
        return out

    hidden = [w["embedding"][token] for token in tokens]
    for layer in range(LAYERS):
        unit = [norm(x, w[f"{layer}.norm1"]) for x in hidden]
        keys = [[rotate(h, p) for h in (x @ w[f"{layer}.k"]).reshape(KV_HEADS, HEAD)] for p, x in enumerate(unit)]
        values = [(x @ w[f"{layer}.v"]).reshape(KV_HEADS, HEAD) for x in unit]
        for position, x in enumerate(unit):
            mixed = []
            for head, query in enumerate((x @ w[f"{layer}.q"]).reshape(HEADS, HEAD)):
                group = head // (HEADS // KV_HEADS)
                query = rotate(query, position)
                scores = np.array([query @ keys[p][group] for p in range(position + 1)]) / np.sqrt(HEAD)
                shares = np.exp(scores - scores.max())
                shares /= shares.sum()
                mixed.append(sum(share * values[p][group] for p, share in enumerate(shares)))
            hidden[position] = hidden[position] + np.concatenate(mixed) @ w[f"{layer}.o"]
        for position, x in enumerate(hidden):
            unit_x = norm(x, w[f"{layer}.norm2"])
            gate = unit_x @ w[f"{layer}.gate"]
            hidden[position] = x + (gate / (1 + np.exp(-gate)) * (unit_x @ w[f"{layer}.up"])) @ w[f"{layer}.down"]
    return [norm(x, np.ones(WIDTH)) @ w["output"] for x in hidden]


class Graph:
    """The ONNX graph under construction; `half` makes the f16 variant.

    The logits are those of all positions (`logits` is "all"), of the last one ("last"), or of as many of the last ones
    as the input num_logits_to_keep says ("keep").
    """

    def __init__(self, table, half, logits="all"):
        self.table, self.half, self.logits = table, half, logits
        self.nodes, self.constants, self.made = [], [], set()

    def constant(self, name, array):
        if name not in self.made:
            self.made.add(name)
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def ints(self, name, *values):
        return self.constant(name, np.array(values, np.int64))

    def floats(self, name, value):
        return self.constant(name, np.array(value, np.float32))

    def weight(self, name):
        """Adds a weight and returns the name of its f32 values; the f16 variant stores f16 and converts."""
        if not self.half:
            return self.constant(name, self.table[name].astype(np.float32))
        if name + ".f32" not in self.made:
            self.made.add(name + ".f32")
            self.add("Cast", [self.constant(name, self.table[name])], name + ".f32", to=TensorProto.FLOAT)
        return name + ".f32"

    def add(self, kind, inputs, out, **attributes):
        outputs = [out] if isinstance(out, str) else out
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=f"{outputs[0]}/{kind}", **attributes))
        return outputs[0]

    def norm(self, x, gain, out):
        self.add("Mul", [x, x], out + ".square")
        self.add("ReduceMean", [out + ".square"], out + ".mean", axes=[-1], keepdims=1)
        self.add("Add", [out + ".mean", self.floats("epsilon", EPSILON)], out + ".stable")
        self.add("Sqrt", [out + ".stable"], out + ".root")
        self.add("Div", [x, out + ".root"], out + ".unit")
        return self.add("Mul", [out + ".unit", gain], out)

    def project(self, x, name, heads, out):
        """Multiplies x [B, S, WIDTH] by a weight and splits the result into heads: [B, heads, S, HEAD]."""
        self.add("MatMul", [x, self.weight(name)], out + ".flat")
        self.add("Reshape", [out + ".flat", self.ints(f"shape{heads}", 0, 0, heads, HEAD)], out + ".split")
        return self.add("Transpose", [out + ".split"], out, perm=[0, 2, 1, 3])

    def rotary(self, x, out):
        self.add("Split", [x, self.ints("halves", HEAD // 2, HEAD // 2)], [out + ".a", out + ".b"], axis=-1)
        self.add("Neg", [out + ".b"], out + ".minus")
        self.add("Concat", [out + ".minus", out + ".a"], out + ".turned", axis=-1)
        self.add("Mul", [x, "cos"], out + ".cos")
        self.add("Mul", [out + ".turned", "sin"], out + ".sin")
        return self.add("Add", [out + ".cos", out + ".sin"], out)

    def repeat(self, x, out):
        """Repeats each head for the query heads of its group: [B, KV_HEADS, T, HEAD] -> [B, HEADS, T, HEAD]."""
        self.add("Unsqueeze", [x, self.ints("axis2", 2)], out + ".five")
        self.add("Concat", [out + ".five"] * (HEADS // KV_HEADS), out + ".wide", axis=2)
        return self.add("Reshape", [out + ".wide", self.ints("grouped", 0, HEADS, -1, HEAD)], out)

    def positions(self):
        """Adds the position of each key and query, and from them the rotary tables and the bias of attention.

    Keys get their positions from the attention mask. Queries get theirs from position_ids or, in the f16 variant, from
    the last keys.
    """
        self.add("CumSum", ["attention_mask", self.constant("axis1", np.array(1, np.int64))], "counted")
        self.add("Sub", ["counted", self.ints("one", 1)], "key_positions")
        if self.half:
            self.add("Shape", ["input_ids"], "input_shape")
            self.add("Slice", ["input_shape", self.ints("from1", 1), self.ints("to2", 2)], "length")
            self.add("Neg", ["length"], "minus_length")
            ends = self.ints("end", np.iinfo(np.int64).max)
            self.add("Slice", ["key_positions", "minus_length", ends, self.ints("along1", 1)], "query_positions")
        else:
            self.add("Identity", ["position_ids"], "query_positions")
        angle = np.arange(CONTEXT)[:, None] * THETA ** (-np.arange(0, HEAD, 2) / HEAD)[None]
        for name, wave in (("cos", np.cos), ("sin", np.sin)):
            table = self.floats(name + ".table", np.concatenate([wave(angle)] * 2, -1))
            self.add("Gather", [table, "query_positions"], name + ".rows")
            self.add("Unsqueeze", [name + ".rows", self.ints("heads_axis", 1)], name)
        self.add("Unsqueeze", ["key_positions", self.ints("axes12", 1, 2)], "keys4")
        self.add("Unsqueeze", ["query_positions", self.ints("axes13", 1, 3)], "queries4")
        self.add("LessOrEqual", ["keys4", "queries4"], "causal")
        self.add("Cast", ["attention_mask"], "present_mask", to=TensorProto.BOOL)
        self.add("Unsqueeze", ["present_mask", "axes12"], "mask4")
        self.add("And", ["causal", "mask4"], "seen")
        self.add("Where", ["seen", self.floats("zero", 0), self.floats("never", -1e9)], "bias")

    def cached(self, x, name, out):
        """Appends new rows to the cache. The graph outputs the cache's element type; the returned value is f32."""
        past, present = f"past_key_values.{name}", f"present.{name}"
        if not self.half:
            return self.add("Concat", [past, x], present, axis=2)
        self.add("Cast", [x], out + ".half", to=TensorProto.FLOAT16)
        self.add("Concat", [past, out + ".half"], present, axis=2)
        return self.add("Cast", [present], out + ".full", to=TensorProto.FLOAT)

    def layer(self, index, x):
        out = f"layer{index}."
        unit = self.norm(x, self.weight(f"{index}.norm1"), out + "in1")
        query = self.rotary(self.project(unit, f"{index}.q", HEADS, out + "q"), out + "qr")
        key = self.rotary(self.project(unit, f"{index}.k", KV_HEADS, out + "k"), out + "kr")
        value = self.project(unit, f"{index}.v", KV_HEADS, out + "v")
        key = self.repeat(self.cached(key, f"{index}.key", out + "kc"), out + "keys")
        value = self.repeat(self.cached(value, f"{index}.value", out + "vc"), out + "values")
        self.add("Transpose", [key], out + "keysT", perm=[0, 1, 3, 2])
        self.add("MatMul", [query, out + "keysT"], out + "raw")
        self.add("Mul", [out + "raw", self.floats("scale", HEAD**-0.5)], out + "scaled")
        self.add("Add", [out + "scaled", "bias"], out + "scores")
        self.add("Softmax", [out + "scores"], out + "shares", axis=-1)
        self.add("MatMul", [out + "shares", value], out + "mixed")
        self.add("Transpose", [out + "mixed"], out + "mixedT", perm=[0, 2, 1, 3])
        self.add("Reshape", [out + "mixedT", self.ints("joined", 0, 0, HEADS * HEAD)], out + "joined")
        self.add("MatMul", [out + "joined", self.weight(f"{index}.o")], out + "attended")
        x = self.add("Add", [x, out + "attended"], out + "middle")
        unit = self.norm(x, self.weight(f"{index}.norm2"), out + "in2")
        self.add("MatMul", [unit, self.weight(f"{index}.gate")], out + "gate")
        self.add("MatMul", [unit, self.weight(f"{index}.up")], out + "up")
        self.add("Sigmoid", [out + "gate"], out + "sigmoid")
        self.add("Mul", [out + "gate", out + "sigmoid"], out + "silu")
        self.add("Mul", [out + "silu", out + "up"], out + "gated")
        self.add("MatMul", [out + "gated", self.weight(f"{index}.down")], out + "down")
        return self.add("Add", [x, out + "down"], out + "out")

    def model(self):
        self.positions()
        x = self.add("Gather", [self.weight("embedding"), "input_ids"], "hidden")
        for index in range(LAYERS):
            x = self.layer(index, x)
        if self.logits == "last":
            x = self.add("Gather", [x, self.ints("last", -1)], "kept", axis=1)
        if self.logits == "keep":
            self.add("Unsqueeze", ["num_logits_to_keep", self.ints("axis0", 0)], "count")
            self.add("Neg", ["count"], "first")
            x = self.add("Slice", [x, "first", self.ints("end", 2**62), self.ints("axis_1", 1)], "kept")
        x = self.norm(x, self.floats("ones", np.ones(WIDTH)), "final")
        if self.half:
            self.add("MatMul", [x, self.weight("output")], "logits.full")
            self.add("Cast", ["logits.full"], "logits", to=TensorProto.FLOAT16)
        else:
            self.add("MatMul", [x, self.weight("output")], "logits")
        info, ints = helper.make_tensor_value_info, TensorProto.INT64
        floats = TensorProto.FLOAT16 if self.half else TensorProto.FLOAT
        inputs = [info("input_ids", ints, ["batch", "sequence"]), info("attention_mask", ints, ["batch", "total"])]
        if not self.half:
            inputs.append(info("position_ids", ints, ["batch", "sequence"]))
        if self.logits == "keep":
            inputs.append(info("num_logits_to_keep", ints, []))
        positions = {"all": "sequence", "last": 1, "keep": "kept"}[self.logits]
        outputs = [info("logits", floats, ["batch", positions, VOCABULARY])]
        for index in range(LAYERS):
            for part in ("key", "value"):
                shape = ["batch", KV_HEADS, "past", HEAD]
                inputs.append(info(f"past_key_values.{index}.{part}", floats, shape))
                outputs.append(info(f"present.{index}.{part}", floats, ["batch", KV_HEADS, "total", HEAD]))
        return finish(helper.make_graph(self.nodes, "tiny", inputs, outputs, self.constants))


def finish(graph):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="grammata")
    onnx.checker.check_model(model)
    return model


def wrong_models():
    """Small graphs, each with one property that the driver must refuse."""
    info, ints, floats = helper.make_tensor_value_info, TensorProto.INT64, TensorProto.FLOAT
    ids, mask = info("input_ids", ints, ["b", "s"]), info("attention_mask", ints, ["b", "t"])
    cache = lambda name, shape: info(name, floats, ["b", *shape])
    past = [cache(f"past_key_values.0.{part}", [1, "p", 4]) for part in ("key", "value")]
    present = [cache(f"present.0.{part}", [1, "p", 4]) for part in ("key", "value")]
    copies = [helper.make_node("Identity", [i.name], [o.name]) for i, o in zip(past, present)]
    scores = helper.make_node("Cast", ["input_ids"], ["logits"], to=floats)
    logits = info("logits", floats, ["b", "s"])

    def graph(nodes, inputs, outputs):
        return finish(helper.make_graph(nodes, "wrong", inputs, outputs))

    wide = [cache(f"past_key_values.0.{part}", [1, "p", "d"]) for part in ("key", "value")]
    open_present = [cache(f"present.0.{part}", [1, "p", "d"]) for part in ("key", "value")]
    states = info("encoder_hidden_states", floats, ["b", "n", 4])
    return {
        "no-cache": graph([scores], [ids, mask], [logits]),
        "extra-input": graph([scores, *copies], [ids, mask, *past, states], [logits, *present]),
        "no-logits": graph(copies, [ids, mask, *past], present),
        "no-present": graph([scores], [ids, mask, *past], [logits]),
        "open-shape": graph([scores, *copies], [ids, mask, *wide], [logits, *open_present]),
        "flat-logits": graph([scores, *copies], [ids, mask, *past], [logits, *present]),
    }


def tokenizer():
    """A byte-level tokenizer of 320 ids: 3 special, 256 bytes, 61 merges."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters, extra = {}, 0
    for byte in range(256):
        letters[byte] = chr(byte) if byte in printable else chr(256 + extra)
        extra += byte not in printable
    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(letters[byte] for byte in range(256))]
    pairs = "t h,th e,i n,e r,a n,r e,o n,a t,e n,n d,t i,e s,o r,t e,o f,e d,i s,i t,a l,a r,s t,t o,n t,n g,s e,h a"
    pairs += ",a s,o u,i o,l e,v e,c o,m e,d e,h i,r i,r o,i c,n e,e a,r a,c e,l i,c h,l l,b e,m a,s i,o m,u r,t r,u e"
    pairs += ",f a,l s,n u,nu ll,tr ue,fa ls,fals e,in g,io n"
    merges = [pair.split(" ") for pair in pairs.split(",")]
    tokens += ["".join(pair) for pair in merges]
    assert len(tokens) == len(set(tokens)) == VOCABULARY, (len(tokens), len(set(tokens)))
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": id, "content": tokens[id]} | plain for id in range(3)],
        "normalizer": None,
        "pre_tokenizer": byte_level,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: id for id, token in enumerate(tokens)},
            "merges": merges,
        },
    }


def write_json(name, value, indent):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False, indent=indent)
        file.write("\n")


def main():
    table = weights()
    os.makedirs(os.path.join(HERE, "wrong"), exist_ok=True)
    onnx.save(Graph(table, half=False).model(), os.path.join(HERE, "model.onnx"))
    onnx.save(Graph(table, half=True).model(), os.path.join(HERE, "model-f16.onnx"))
    for logits in ("last", "keep"):
        onnx.save(Graph(table, half=False, logits=logits).model(), os.path.join(HERE, f"model-{logits}.onnx"))
    for name, model in wrong_models().items():
        onnx.save(model, os.path.join(HERE, "wrong", name + ".onnx"))
    logits = [[round(float(x), 6) for x in row] for row in forward(table, PROMPT)]
    write_json("expected.json", {"tokens": PROMPT, "logits": logits}, None)
    write_json("tokenizer.json", tokenizer(), None)
    template = "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    template += "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    settings = {"bos_token": "<|im_start|>", "eos_token": "<|im_end|>", "chat_template": template}
    write_json("tokenizer_config.json", settings, 1)
    config = {"vocab_size": VOCABULARY, "max_position_embeddings": CONTEXT, "bos_token_id": 1, "eos_token_id": 2}
    write_json("config.json", config, 1)


if __name__ == "__main__":
    main()
