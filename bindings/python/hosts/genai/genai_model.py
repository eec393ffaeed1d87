"""SmolLM2 as a folder of onnxruntime-genai, from the ONNX model that `cargo xtask setup` makes.

usage: genai_model.py FROM TO   (needs onnx)

The model's input `num_logits_to_keep`, which onnxruntime-genai does not give, becomes a constant: all positions have logits.
"""

import json
import shutil
import sys
from pathlib import Path

import onnx
from onnx import TensorProto, helper

ALL = 1 << 30


def main(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    model = onnx.load(source / "model.onnx")
    inputs = [one for one in model.graph.input if one.name != "num_logits_to_keep"]
    assert len(inputs) == len(model.graph.input) - 1
    del model.graph.input[:]
    model.graph.input.extend(inputs)
    model.graph.initializer.append(helper.make_tensor("num_logits_to_keep", TensorProto.INT64, [], [ALL]))
    onnx.save(model, target / "model.onnx")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(source / name, target / name)
    settings = json.loads((target / "tokenizer_config.json").read_text())
    (target / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "GPT2Tokenizer", **settings}))
    config = json.loads((source / "config.json").read_text())
    length, eos = config["max_position_embeddings"], config["eos_token_id"]
    decoder = {
        "session_options": {"provider_options": []},
        "filename": "model.onnx",
        "head_size": config["head_dim"],
        "hidden_size": config["hidden_size"],
        "inputs": {
            "input_ids": "input_ids",
            "attention_mask": "attention_mask",
            "past_key_names": "past_key_values.%d.key",
            "past_value_names": "past_key_values.%d.value",
        },
        "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
        "num_attention_heads": config["num_attention_heads"],
        "num_hidden_layers": config["num_hidden_layers"],
        "num_key_value_heads": config["num_key_value_heads"],
    }
    about = {"bos_token_id": config["bos_token_id"], "eos_token_id": eos, "pad_token_id": eos, "context_length": length}
    search = {"max_length": length, "past_present_share_buffer": False, "do_sample": False, "num_beams": 1}
    whole = {"model": {**about, "type": "llama", "vocab_size": config["vocab_size"], "decoder": decoder}, "search": search}
    (target / "genai_config.json").write_text(json.dumps(whole, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
