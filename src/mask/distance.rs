//! How far a text is from a complete one, in tokens or bytes, as far as that is known.

use std::fmt;

/// How many tokens, or bytes, lead from a text to a complete one. The end-of-sequence token is not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Distance {
    /// This many, and no fewer.
    Exact(usize),
    /// This many are known to do; whether fewer would, is not.
    AtMost(usize),
    /// None do: the vocabulary cannot spell any completion.
    Unreachable,
    /// None were found within the limits.
    Unknown,
}

impl Distance {
    /// The number that is known to do.
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
