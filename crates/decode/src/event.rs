//! What a decoder reports.

use super::finish::FinishReason;

/// A token of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenToken {
    /// Its id.
    pub id: u32,
    /// Whether the constraint allowed no other token.
    pub forced: bool,
    /// Natural log-probability of the token among all tokens of the model, at temperature 1, if log-probabilities were
    /// requested.
    pub log_probability: Option<f64>,
    /// The probability, from 0 to 1, of the tokens that the constraint did not allow in its place, if it was requested.
    pub refused_mass: Option<f64>,
}

/// An event of a generation, as [`Decoder::next`](super::Decoder::next) returns it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A token was appended.
    Token(ChosenToken),
    /// A piece of text became certain: whole characters, no beginning of a stop string, never empty.
    Text(String),
    /// The output has ended. Every later event is this one again.
    Finished(FinishReason),
}

/// What [`Decoder::poll`](super::Decoder::poll) asks of its caller.
#[derive(Clone, Debug, PartialEq)]
pub enum Poll {
    /// Nothing: the next event is there.
    Event(Event),
    /// To cut the sequence of the model with [`Decoder::rewind`](super::Decoder::rewind), and to poll again. Only exact
    /// sampling needs this.
    Rewind,
    /// To feed a model with [`Decoder::feed`](super::Decoder::feed) and give the logits to [`Decoder::supply`](super::Decoder::supply).
    Feed,
}
