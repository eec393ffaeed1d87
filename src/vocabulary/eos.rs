//! Well-known names of end-of-sequence tokens.

/// Names of special tokens that end a sequence.
///
/// Tokenizer files do not say which tokens end a sequence; a model's generation settings do. If the caller does not
/// give end-of-sequence ids, every special token with a name from this list is used. The list contains names that end a
/// sequence in every model family that uses them. The list omits `<|end|>`, which ends a turn in one family and only a
/// part of a turn in another.
pub const EOS_NAMES: &[&str] = &[
    "</s>",                  // Llama 1 and 2, Mistral, T5
    "<eos>",                 // Gemma
    "<end_of_turn>",         // Gemma, instruction-tuned
    "<|endoftext|>",         // GPT-2 to GPT-4o, Qwen, SmolLM
    "<|im_end|>",            // ChatML: Qwen, SmolLM
    "<|end_of_text|>",       // Llama 3, Granite
    "<|eot_id|>",            // Llama 3, end of turn
    "<|eom_id|>",            // Llama 3, end of a message that calls a tool
    "<|eot|>",               // Llama 4, end of turn
    "<|eom|>",               // Llama 4, end of a message that calls a tool
    "<|return|>",            // GPT-OSS, end of the answer
    "<|call|>",              // GPT-OSS, end of a message that calls a tool
    "<|eos|>",               // several
    "<|END_OF_TURN_TOKEN|>", // Command R
    "<｜end▁of▁sentence｜>", // DeepSeek
    "<|endofsequence|>",     // several
    "[EOS]",                 // several
];
