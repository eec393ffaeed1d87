//! The events of a decoder, and what it asks of its caller.

use super::finish::FinishReason;

/// A token of the output.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenToken {
    /// Id of the token in the vocabulary.
    pub id: u32,
    /// Whether the constraint allowed no other token at this position.
    pub forced: bool,
    /// Natural log-probability of the token among all tokens of the model, at temperature 1, if
    /// [`GenerationOptions::log_probabilities`](super::GenerationOptions::log_probabilities) or `refused_mass` is set.
    pub log_probability: Option<f64>,
    /// The probability, from 0 to 1 and at temperature 1, of the tokens that the constraint did not allow at this
    /// position, if [`GenerationOptions::refused_mass`](super::GenerationOptions::refused_mass) is set.
    pub refused_mass: Option<f64>,
    /// The most probable tokens at this position and their natural log-probabilities at temperature 1, the most probable
    /// first, as many as [`GenerationOptions::alternatives`](super::GenerationOptions::alternatives) asks for. The
    /// constraint does not matter for them. Empty with exact sampling.
    pub alternatives: Vec<(u32, f64)>,
}

/// An event of a generation, as [`Decoder::next`](super::Decoder::next) returns it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A token was appended.
    Token(ChosenToken),
    /// A piece of text became certain. It is never empty and consists of whole characters. It does not end with the
    /// beginning of a stop string, except at the end of the output.
    Text(String),
    /// The output has ended. Every later call of [`Decoder::next`](super::Decoder::next) returns this event again.
    Finished(FinishReason),
}

/// The result of [`Decoder::poll`](super::Decoder::poll): an event, or what the caller must do before it polls again.
#[derive(Clone, Debug, PartialEq)]
pub enum Poll {
    /// The next event. The caller need not do anything.
    Event(Event),
    /// The caller must truncate the sequence of the model with [`Decoder::rewind`](super::Decoder::rewind). This
    /// happens after rejected drafts and with exact sampling.
    Rewind,
    /// The caller must feed the model with [`Decoder::feed`](super::Decoder::feed) and give the logits to
    /// [`Decoder::supply`](super::Decoder::supply).
    Feed,
}
