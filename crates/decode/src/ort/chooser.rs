//! Chooses tokens on the device that holds the logits.

use super::copied::{Counts, count};
use super::errors;
use super::graph::Graphs;
use super::network::{Kind, build};
use super::session::{Runtime, host_memory};
use crate::choice::{Choice, Chosen};
use crate::errors as decode_errors;
use grammata::error::Result;
use ort::session::IoBinding;
use ort::value::{DynTensor, OwnedTensorArrayData, PrimitiveTensorElementType, Tensor, TensorElementType};
use std::fmt::Debug;
use std::sync::Arc;

/// Runs the graphs of [`network`](super::network) on the device of a model. Each graph is built on first use.
#[derive(Debug)]
pub(super) struct Chooser {
    vocabulary: usize,
    logits: TensorElementType,
    counts: Arc<Counts>,
    graphs: Graphs<Kind>,
}

/// A choice and the row of a tensor to make it from.
pub(super) struct Placed<'a> {
    /// index of the row in the tensor
    pub(super) place: usize,
    pub(super) choice: &'a Choice<'a>,
}

impl Chooser {
    /// Creates a chooser for rows of `vocabulary` logits, which are 16-bit floats if `half` is set, otherwise 32-bit
    /// ones.
    pub(super) fn new(runtime: Runtime, vocabulary: usize, half: bool, counts: Arc<Counts>) -> Chooser {
        let logits = if half { TensorElementType::Float16 } else { TensorElementType::Float32 };
        Chooser { vocabulary, logits, counts, graphs: Graphs::new(runtime) }
    }

    /// Makes choices from rows of `tensor`, of shape `[sequences, positions, vocabulary]`, and returns the results in
    /// the same order.
    ///
    /// # Errors
    /// A failure of the device. The result of a single choice is an error if no token that has a logit is allowed
    /// (`decode/empty-mask`), or no allowed token has a probability (`decode/no-candidate`).
    pub(super) fn choose(
        &mut self,
        tensor: &DynTensor,
        placed: &[Placed<'_>],
    ) -> Result<Vec<Result<Chosen>>> {
        let kind = kind_of(placed);
        let (tokens, scores, _) = self.run(tensor, placed, kind)?;
        let mut scores = scores.into_iter();
        let chosen = tokens.into_iter().zip(placed).map(|(token, Placed { choice, .. })| {
            let score = scores.next();
            let token = u32::try_from(token).map_err(|_| self.refusal(choice))?;
            let log_probability = score.filter(|_| choice.scored).map(f64::from);
            Ok(Chosen { token, log_probability })
        });
        Ok(chosen.collect())
    }

    /// Returns the logits after mask and penalty, as the graph for these choices computes them: one row after the
    /// other.
    #[cfg(feature = "testing")]
    pub(super) fn masked(&mut self, tensor: &DynTensor, placed: &[Placed<'_>]) -> Result<Vec<f32>> {
        let kind = Kind { shows: true, ..kind_of(placed) };
        Ok(self.run(tensor, placed, kind)?.2)
    }

    /// Returns the error of a choice for which the graph found no token.
    fn refusal(&self, choice: &Choice<'_>) -> grammata::Error {
        let exists = |token: u32| (token as usize) < self.vocabulary;
        let allowed = choice.mask.is_none_or(|mask| {
            let words = mask.iter().enumerate().filter(|&(_, &word)| word != 0);
            words.map(|(at, word)| at as u32 * 32 + word.trailing_zeros()).any(exists)
        });
        if allowed { decode_errors::no_candidate() } else { decode_errors::empty_mask() }
    }

    /// Runs the graph of `kind`. Returns tokens, scores and masked logits; the last two are empty if the graph does not
    /// compute them.
    fn run(
        &mut self,
        tensor: &DynTensor,
        placed: &[Placed<'_>],
        kind: Kind,
    ) -> Result<(Vec<i64>, Vec<f32>, Vec<f32>)> {
        let (vocabulary, logits) = (self.vocabulary, self.logits);
        let (session, binding) = self.graphs.get(kind, || build(vocabulary, logits, kind))?;
        let mut inputs = Inputs { binding, bytes: 0, rows: placed.len() };
        let bound = inputs.bind(tensor, placed, kind, self.vocabulary);
        count(&self.counts.choices, inputs.bytes);
        let host = host_memory()?;
        let run = bound.and_then(|()| {
            binding.bind_output_to_device("tokens", &host)?;
            if kind.scores {
                binding.bind_output_to_device("scores", &host)?;
            }
            if kind.shows {
                binding.bind_output_to_device("masked", &host)?;
            }
            let outputs = session.run_binding(binding)?;
            let floats = |name: &str| -> ort::Result<Vec<f32>> {
                let value = outputs.get(name).map(|value| value.try_extract_tensor::<f32>()).transpose()?;
                Ok(value.map(|(_, numbers)| numbers.to_vec()).unwrap_or_default())
            };
            let tokens = outputs.get("tokens").ok_or_else(|| ort::Error::new("no tokens"))?;
            Ok((tokens.try_extract_tensor::<i64>()?.1.to_vec(), floats("scores")?, floats("masked")?))
        });
        // the binding would keep the logits in memory
        binding.clear();
        let run = run.map_err(errors::run)?;
        count(&self.counts.chosen, size_of_val(&run.0[..]) + size_of_val(&run.1[..]));
        Ok(run)
    }
}

/// Returns the kind of graph with exactly the features that the choices need.
fn kind_of(placed: &[Placed<'_>]) -> Kind {
    let mut kind = Kind::default();
    for Placed { choice, .. } in placed {
        let sampling = choice.sampling;
        kind.scores |= choice.scored;
        if sampling.temperature > 0.0 {
            kind.draws = true;
            kind.top_k |= sampling.top_k > 0;
            kind.top_p |= sampling.top_p < 1.0;
            kind.min_p |= sampling.min_p > 0.0;
        }
    }
    kind
}

/// Binds the inputs of one run, and counts their bytes.
struct Inputs<'b> {
    binding: &'b mut IoBinding,
    /// number of bytes that were bound, without the logits
    bytes: usize,
    rows: usize,
}

impl Inputs<'_> {
    fn bind(
        &mut self,
        tensor: &DynTensor,
        placed: &[Placed<'_>],
        kind: Kind,
        vocabulary: usize,
    ) -> ort::Result<()> {
        let settings = || placed.iter().map(|placed| placed.choice.sampling);
        self.binding.bind_input("logits", tensor)?;
        let places: Vec<i64> = placed.iter().map(|placed| placed.place as i64).collect();
        self.add("rows", ([self.rows], places))?;
        let mask = masks(placed, vocabulary.div_ceil(32));
        self.add("mask", ([self.rows, vocabulary.div_ceil(32) * 4], mask))?;
        let (width, ids, penalties) = penalised(placed, vocabulary);
        self.add("penalised", ([self.rows, width], ids))?;
        self.column("penalty", penalties)?;
        if kind.draws {
            self.column("greedy", settings().map(|s| s.temperature == 0.0).collect())?;
            let warm = |t: f32| if t == 0.0 { 1.0 } else { t };
            self.column("temperature", settings().map(|s| warm(s.temperature)).collect())?;
            self.column("uniform", placed.iter().map(|placed| placed.choice.uniform).collect())?;
        }
        if kind.top_k {
            let most = |k: usize| if k == 0 { vocabulary } else { k.min(vocabulary) };
            self.column("top_k", settings().map(|s| most(s.top_k) as f32).collect())?;
        }
        if kind.top_p {
            self.column("top_p", settings().map(|s| s.top_p).collect())?;
        }
        if kind.min_p {
            self.column("min_p", settings().map(|s| s.min_p).collect())?;
        }
        Ok(())
    }

    /// Binds an input of shape `[rows, 1]`: one number for each choice.
    fn column<T: PrimitiveTensorElementType + Clone + Debug + 'static>(
        &mut self,
        name: &str,
        values: Vec<T>,
    ) -> ort::Result<()> {
        self.add(name, ([self.rows, 1], values))
    }

    fn add<T: PrimitiveTensorElementType + Clone + Debug + 'static, const N: usize>(
        &mut self,
        name: &str,
        (shape, values): ([usize; N], Vec<T>),
    ) -> ort::Result<()>
    where
        ([usize; N], Vec<T>): OwnedTensorArrayData<T>,
    {
        self.bytes += size_of_val(&values[..]);
        self.binding.bind_input(name, &Tensor::from_array((shape, values))?)
    }
}

/// Returns the masks, each truncated or extended to `words` words, as little-endian bytes. Words past the end of a mask
/// allow no token; a choice without a mask allows every token.
fn masks(placed: &[Placed<'_>], words: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(placed.len() * words * 4);
    for placed in placed {
        let given = placed.choice.mask.unwrap_or_default();
        let fill = if placed.choice.mask.is_none() { u32::MAX } else { 0 };
        let all = given.iter().copied().chain(std::iter::repeat(fill)).take(words);
        all.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    }
    bytes
}

/// Returns the number of penalised ids per choice (at least 1), the ids, and the penalties. A choice with fewer ids
/// repeats its first id; a choice without ids gets id 0 with penalty 1. Ids outside the vocabulary are dropped.
fn penalised(placed: &[Placed<'_>], vocabulary: usize) -> (usize, Vec<i64>, Vec<f32>) {
    let known = |placed: &Placed<'_>| -> Vec<i64> {
        let ids = placed.choice.penalised.iter().filter(|&&id| (id as usize) < vocabulary);
        ids.map(|&id| i64::from(id)).collect()
    };
    let ids: Vec<Vec<i64>> = placed.iter().map(known).collect();
    let width = ids.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let penalty = |(ids, placed): (&Vec<i64>, &Placed<'_>)| match ids.is_empty() {
        true => 1.0,
        false => placed.choice.sampling.repetition_penalty,
    };
    let penalties = ids.iter().zip(placed).map(penalty).collect();
    let row = |ids: &Vec<i64>| {
        let fill = ids.first().copied().unwrap_or(0);
        ids.iter().copied().chain(std::iter::repeat(fill)).take(width).collect::<Vec<i64>>()
    };
    (width, ids.iter().flat_map(row).collect(), penalties)
}
