//! The required inputs and outputs of a language model.
//!
//! The format is that of Hugging Face's exporters (optimum, transformers.js). Inputs are `input_ids`, `attention_mask`
//! and optionally `position_ids` and `num_logits_to_keep` (a scalar), all of 64-bit integers, and for each layer N
//! `past_key_values.N.key` and `past_key_values.N.value`. Outputs are `logits`, `present.N.key` and `present.N.value`.

use super::errors;
use grammata::error::Result;
use ort::session::Session;
use ort::value::{Outlet, TensorElementType, ValueType};

/// The input that tells the model how many of the last positions to return logits for.
pub(super) const KEEP: &str = "num_logits_to_keep";

/// The most layers of a model. The largest decoders have some hundreds.
const MAX_LAYERS: usize = 4096;

/// Shape of the keys or the values in the cache of one layer: `[sequences, heads, length, size]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KvCacheShape {
    /// Number of key-value heads.
    pub heads: usize,
    /// Number of floats of a head at one position.
    pub size: usize,
    /// Whether the floats are 16-bit floats instead of 32-bit floats.
    pub half: bool,
}

/// The positions of a run whose logits a model returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogitsPositions {
    /// Every position fed.
    All,
    /// The last position.
    Last,
    /// As many of the last positions as the input `num_logits_to_keep` says.
    Kept,
}

/// The inputs and outputs of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelSignature {
    /// Number of logits of a position.
    pub vocabulary: usize,
    /// The positions whose logits the model returns.
    pub logits: LogitsPositions,
    /// Whether the logits are 16-bit floats instead of 32-bit floats.
    pub half_logits: bool,
    /// Whether the model has the input `position_ids`.
    pub position_ids: bool,
    /// Whether the first dimension of every input (except `num_logits_to_keep`) and of the logits is free, so that one
    /// run can compute several sequences.
    pub any_batch: bool,
    /// Shapes of the caches: keys of layer 0, values of layer 0, keys of layer 1, and so on; two for each layer.
    pub cache: Vec<KvCacheShape>,
}

impl ModelSignature {
    /// Returns the number of layers of the model.
    pub fn layers(&self) -> usize {
        self.cache.len() / 2
    }

    /// Returns the names of the inputs for the caches, in the order of `cache`.
    pub(super) fn past_names(&self) -> Vec<String> {
        names("past_key_values", self.cache.len())
    }

    /// Returns the names of the outputs for the caches, in the order of `cache`.
    pub(super) fn present_names(&self) -> Vec<String> {
        names("present", self.cache.len())
    }

    /// Reads the inputs and outputs of a session, and checks that they are those of a language model.
    pub(super) fn of(session: &Session) -> Result<ModelSignature> {
        let (inputs, outputs) = (session.inputs(), session.outputs());
        let listed = || format!("inputs {}; outputs {}", list(inputs), list(outputs));
        for name in ["input_ids", "attention_mask"] {
            if !inputs.iter().any(|i| i.name() == name) {
                return Err(errors::signature(format!("the model has no input `{name}`"), listed()));
            }
        }
        let count = inputs.iter().filter(|i| i.name().starts_with("past_key_values.")).count();
        if count == 0 {
            return Err(errors::signature("the model has no key-value cache", listed()));
        }
        if count > 2 * MAX_LAYERS {
            return Err(errors::signature("the model has too many layers", format!("{count} cache inputs")));
        }
        let past_names = names("past_key_values", count);
        let present_names = names("present", count);
        let (mut position_ids, mut keep) = (false, false);
        for input in inputs {
            match input.name() {
                "input_ids" | "attention_mask" => integers(input)?,
                "position_ids" => {
                    integers(input)?;
                    position_ids = true;
                }
                KEEP => {
                    integer(input)?;
                    keep = true;
                }
                name if past_names.iter().any(|n| n == name) => {}
                name => {
                    return Err(errors::signature(
                        format!("the model has an unknown input `{name}`"),
                        listed(),
                    ));
                }
            }
        }
        let mut cache = Vec::with_capacity(count);
        for (past_name, present_name) in past_names.iter().zip(&present_names) {
            let Some(input) = inputs.iter().find(|i| i.name() == past_name) else {
                return Err(errors::signature(format!("the model has no input `{past_name}`"), listed()));
            };
            if !outputs.iter().any(|o| o.name() == present_name) {
                return Err(errors::signature(format!("the model has no output `{present_name}`"), listed()));
            }
            cache.push(cache_shape(input)?);
        }
        let Some(logits) = outputs.iter().find(|o| o.name() == "logits") else {
            return Err(errors::signature("the model has no output `logits`", listed()));
        };
        let (half_logits, dimensions) = floats(logits)?;
        let positions = match dimensions {
            _ if keep => LogitsPositions::Kept,
            [_, 1, _] => LogitsPositions::Last,
            _ => LogitsPositions::All,
        };
        let vocabulary = match dimensions {
            [_, _, vocabulary] => usize::try_from(*vocabulary).ok().filter(|&n| n > 0),
            _ => None,
        };
        let Some(vocabulary) = vocabulary else {
            return Err(errors::signature("the output `logits` has another shape", describe(logits)));
        };
        let mut sized = inputs.iter().filter(|input| input.name() != KEEP).chain([logits]);
        let any_batch = sized.all(|outlet| first_dimension(outlet) == Some(-1));
        Ok(ModelSignature { vocabulary, logits: positions, half_logits, position_ids, any_batch, cache })
    }
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|i| format!("{prefix}.{}.{}", i / 2, if i % 2 == 0 { "key" } else { "value" })).collect()
}

fn cache_shape(input: &Outlet) -> Result<KvCacheShape> {
    let (half, dimensions) = floats(input)?;
    let fixed = |n: i64| usize::try_from(n).ok().filter(|&n| n > 0);
    match dimensions {
        // -1 is any number: any number of sequences, any length
        [-1 | 1, heads, -1, size] => match (fixed(*heads), fixed(*size)) {
            (Some(heads), Some(size)) => Some(KvCacheShape { heads, size, half }),
            _ => None,
        },
        _ => None,
    }
    .ok_or_else(|| {
        errors::signature(format!("the input `{}` has another shape", input.name()), describe(input))
    })
}

fn integers(input: &Outlet) -> Result<()> {
    match input.dtype() {
        ValueType::Tensor { ty: TensorElementType::Int64, shape, .. } if shape.len() == 2 => Ok(()),
        _ => Err(errors::signature(
            format!("the input `{}` is of another type", input.name()),
            describe(input),
        )),
    }
}

fn integer(input: &Outlet) -> Result<()> {
    match input.dtype() {
        ValueType::Tensor { ty: TensorElementType::Int64, shape, .. } if shape.is_empty() => Ok(()),
        _ => Err(errors::signature(
            format!("the input `{}` is of another type", input.name()),
            describe(input),
        )),
    }
}

/// Returns whether the floats of an outlet are 16-bit floats, and its dimensions. An outlet of another type is an
/// error.
fn floats(outlet: &Outlet) -> Result<(bool, &[i64])> {
    match outlet.dtype() {
        ValueType::Tensor { ty: TensorElementType::Float32, shape, .. } => Ok((false, shape)),
        ValueType::Tensor { ty: TensorElementType::Float16, shape, .. } => Ok((true, shape)),
        _ => Err(errors::signature(format!("`{}` is of another type", outlet.name()), describe(outlet))),
    }
}

/// Returns the first dimension of an outlet, -1 if it is free; `None` if the outlet is not a tensor or has no
/// dimension.
fn first_dimension(outlet: &Outlet) -> Option<i64> {
    outlet.dtype().tensor_shape().and_then(|shape| shape.first().copied())
}

fn describe(outlet: &Outlet) -> String {
    match outlet.dtype() {
        ValueType::Tensor { ty, shape, .. } => format!("`{}`: {ty} {:?}", outlet.name(), &shape[..]),
        other => format!("`{}`: {other}", outlet.name()),
    }
}

fn list(outlets: &[Outlet]) -> String {
    outlets.iter().map(Outlet::name).collect::<Vec<_>>().join(", ")
}
