"""Grammars for `transformers`: batches and beams of `generate`, and continuous batching.

`transformers` and torch are imported only when they are used.

    compiler = compiler_for(model, tokenizer)
    grammar = compiler.compile_json_schema(schema)
    output = generate(model, grammar, **inputs, max_new_tokens=200)

Outputs are complete within `max_new_tokens`. `GrammarLogitsProcessor` is the processor, for programs that call
`model.generate` themselves. `enable_continuous_batching` prepares a model for `generate_batch` and its managers.
"""

from grammata.integrations.transformers.continuous import enable_continuous_batching
from grammata.integrations.transformers.generation import compiler_for, generate
from grammata.integrations.transformers.processor import GrammarLogitsProcessor

__all__ = ["GrammarLogitsProcessor", "compiler_for", "enable_continuous_batching", "generate"]
