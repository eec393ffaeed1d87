//! What a decoder reports.

use super::finish::FinishReason;

/// A token of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenToken {
    /// Its id.
    pub id: u32,
    /// The constraint allowed no other.
    pub forced: bool,
    /// The natural logarithm of the probability that the model gives it among all tokens, if log-probabilities were asked
    /// for.
    pub log_probability: Option<f64>,
    /// The probability, from 0 to 1, of the tokens that the constraint did not allow in its place, if it was asked for.
    pub refused_mass: Option<f64>,
}

/// What happened to the output.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A token was appended.
    Token(ChosenToken),
    /// A piece of text became certain: whole characters, no beginning of a stop string, never empty.
    Text(String),
    /// The output has ended. All later events are this one again.
    Finished(FinishReason),
}

/// What [`Decoder::poll`](super::Decoder::poll) asks of its caller.
#[derive(Clone, Debug, PartialEq)]
pub enum Poll {
    /// Nothing: this happened.
    Event(Event),
    /// To cut the sequence of the model with [`Decoder::rewind`](super::Decoder::rewind), and to poll again. Only exact
    /// sampling goes back.
    Rewind,
    /// To feed a model with [`Decoder::feed`](super::Decoder::feed) and give the logits to [`Decoder::supply`](super::Decoder::supply).
    Feed,
}
