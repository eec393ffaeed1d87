//! The results of comparing the engine with an oracle.

use grammata::{Error, ErrorKind};

/// The result of a case without disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Engine and oracles agreed.
    Agreed,
    /// Nothing to compare: both agreed that the language is empty or a token terminal invalid, or a part of the grammar
    /// has no words.
    EmptyLanguage,
    /// The oracle could not decide within its budget, or the engine within its limits.
    Undecided,
}

/// The reason why a case ended early: a disagreement, described in words, or something undecided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    Disagreement(String),
    Undecided,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match error.kind() {
            ErrorKind::Limit => Stop::Undecided,
            _ => Stop::Disagreement(format!("the engine failed: {error}")),
        }
    }
}

pub(super) type Step<T = ()> = Result<T, Stop>;

pub(super) fn decided<T>(answer: Option<T>) -> Step<T> {
    answer.ok_or(Stop::Undecided)
}

pub(super) fn same<T: PartialEq + std::fmt::Debug>(what: &str, engine: T, oracle: T) -> Step {
    if engine == oracle {
        return Ok(());
    }
    Err(Stop::Disagreement(format!("{what}: the engine says {engine:?}, the oracle {oracle:?}")))
}
