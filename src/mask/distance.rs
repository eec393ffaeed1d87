//! The distance of a text from a complete one, in tokens or bytes.

use std::fmt;

/// How many tokens, or bytes, lead from a text to a complete one. The end-of-sequence token is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distance {
    /// This many suffice, and no fewer do.
    Exact(usize),
    /// This many suffice; whether fewer do is unknown.
    AtMost(usize),
    /// No number suffices: no completion can be spelled with the tokens of the vocabulary.
    Unreachable,
    /// No completion was found within the limits.
    Unknown,
}

impl Distance {
    /// The number of tokens, or bytes, that is known to suffice to complete the text; `None` if unreachable or unknown.
    pub fn known(self) -> Option<usize> {
        match self {
            Distance::Exact(number) | Distance::AtMost(number) => Some(number),
            Distance::Unreachable | Distance::Unknown => None,
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Distance::Exact(number) => write!(f, "{number}"),
            Distance::AtMost(number) => write!(f, "at most {number}"),
            Distance::Unreachable => f.write_str("unreachable"),
            Distance::Unknown => f.write_str("unknown"),
        }
    }
}
