//! Generation with candle under a grammar.

use candle_core::{Device, Tensor};
use candle_transformers::generation::LogitsProcessor;
use candle_transformers::models::quantized_llama::ModelWeights;
use grammata::CompiledGrammar;
use grammata::vocabulary::TokenId;

/// An error of candle, of Grammata or of the tokenizer.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// Returns a text of the grammar of at most `max_tokens` tokens, including an end token.
///
/// # Errors
/// No text of the grammar is so short; errors of the model.
pub fn generate(
    model: &mut ModelWeights,
    grammar: &CompiledGrammar,
    sampler: &mut LogitsProcessor,
    prompt: &[u32],
    max_tokens: usize,
) -> Result<String, Error> {
    model.clear_kv_cache();
    let mut matcher = grammar.matcher();
    let mut mask = vec![0; grammar.vocabulary().mask_words()];
    let (mut input, mut position) = (prompt.to_vec(), 0);
    for left in (1..=max_tokens).rev() {
        matcher.fill_mask_within(left, &mut mask)?;
        let tokens = Tensor::new(&input[..], &Device::Cpu)?.unsqueeze(0)?;
        let logits = model.forward(&tokens, position)?.squeeze(0)?;
        position += input.len();
        let token = sampler.sample(&masked(&logits, &mask)?)?;
        matcher.accept_token(TokenId::new(token))?;
        if matcher.is_finished() {
            break;
        }
        input = vec![token];
    }
    Ok(String::from_utf8_lossy(&matcher.bytes()).into_owned())
}

/// Returns the logits with −∞ for each token that the mask forbids. Masking in `LogitsProcessor::sample_f` would be wrong:
/// it is not called for greedy sampling, and sees probabilities, which may all have become 0.
fn masked(logits: &Tensor, mask: &[u32]) -> candle_core::Result<Tensor> {
    let mut values = logits.to_vec1::<f32>()?;
    for (id, value) in values.iter_mut().enumerate() {
        let word = mask.get(id / 32).copied().unwrap_or(0);
        if word >> (id % 32) & 1 == 0 {
            *value = f32::NEG_INFINITY;
        }
    }
    Tensor::new(values, logits.device())
}
