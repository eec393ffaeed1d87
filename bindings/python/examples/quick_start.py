"""JSON under a schema from SmolLM2, one token after the other. Run it in the repository's folder, after `cargo xtask setup`:

pip install ./bindings/python onnxruntime tokenizers numpy && python bindings/python/examples/quick_start.py
"""

import grammata
import numpy
from model import Model  # a session of ONNX Runtime: bindings/python/examples/model.py
from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file(".models/smollm2/tokenizer.json")
model = Model(".models/smollm2/model.onnx")
schema = {"type": "object", "required": ["name", "age"], "additionalProperties": False,
          "properties": {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer", "maximum": 120}}}

vocabulary = grammata.Vocabulary.from_tokenizers(tokenizer)
matcher = grammata.Compiler(vocabulary).compile_json_schema(schema, whitespace="compact", max_digits=3).matcher()
mask = numpy.zeros(vocabulary.mask_words, numpy.int32)
tokens = tokenizer.encode("<|im_start|>user\nInvent a person.<|im_end|>\n<|im_start|>assistant\n").ids
while not matcher.is_finished():
    logits = model.logits(tokens)
    matcher.fill_mask(mask)
    grammata.mask_logits(logits, mask)
    tokens = [int(logits.argmax())]
    matcher.accept_token(tokens[0])
print(matcher.bytes.decode())
