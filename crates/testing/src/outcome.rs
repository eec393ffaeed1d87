//! How a case in which the engine is compared with an oracle ends.

use grammata::{Error, ErrorKind};

/// What came of a case without disagreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Outcome {
    /// Engine and oracles agreed.
    Agreed,
    /// They agreed that the language is empty.
    EmptyLanguage,
    /// The oracle could not decide within its budget, or the engine within its limits.
    Undecided,
}

/// Why a case ended before its end: a disagreement, in words, or what was not decided.
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
