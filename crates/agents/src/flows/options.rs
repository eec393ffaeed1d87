//! Options that select plans of a domain, such as the level of strictness.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;

/// The rules that a plan obeys. The plans of each level are plans of the level before, with these exceptions: texts of
/// level 1 have no answers of APIs; levels 3 and 4 have no calls of APIs of the prelude, and their bounds do not
/// include the extra call of an API of `allow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Level {
    /// 1: only the form of a plan, with any names. This is a language of texts only, see [`grammar`](super::grammar).
    Format,
    /// 2: names of the domain's APIs, with any number of calls.
    Names,
    /// 3: in addition, each API is called at most once, or as often as a flow (or as many flows together as there are
    /// intents) calls it if that is more, an API of `allow` once more than in these flows; APIs of the prelude are not
    /// called; the end is the last call.
    Bounded,
    /// 4: in addition, each call comes after the calls that make its inputs, unless these are available from the start.
    Data,
    /// 5: the APIs of one flow (or of as many flows as there are intents), as often as the flow calls them, when their
    /// inputs are available; and APIs of `allow`, each at most once.
    Apis,
    /// 6: in addition, in the order of the flow's steps.
    Steps,
}

/// The maximum number of calls of a plan that no grammar bounds: at levels that do not bound it, and without a grammar.
/// That of the published decoder.
pub const MOST_CALLS: usize = 30;
/// The maximum number of calls of a plan at levels that bound it.
const MOST_BOUNDED: usize = 4_096;

impl Level {
    /// Returns the number of calls at which a plan is cut. From `Bounded` on, the grammar itself bounds plans, except
    /// for steps that may be repeated any number of times.
    pub fn most_calls(self) -> usize {
        if self < Level::Bounded { MOST_CALLS } else { MOST_BOUNDED }
    }

    /// All levels, from 1 to 6.
    pub const ALL: [Level; 6] =
        [Level::Format, Level::Names, Level::Bounded, Level::Data, Level::Apis, Level::Steps];

    /// Returns the level with a number, 1 to 6.
    ///
    /// # Errors
    /// `flow/level` for other numbers.
    pub fn of(number: u8) -> Result<Level> {
        let place = usize::from(number).wrapping_sub(1);
        Level::ALL.get(place).copied().ok_or_else(|| errors::level(number))
    }

    /// Returns the number of the level, 1 to 6.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// The order of the APIs within a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Within {
    /// Any order that the data allow.
    Any,
    /// The order of the file.
    Declared,
}

grammata_base::options! {
    /// Options that select plans.
    #[derive(Clone, Debug)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct FlowOptions {
        /// The rules that plans obey. Default: level 6.
        pub level: Level = Level::Steps,
        /// The order of the APIs within a step, at levels 5 and 6. Default: any.
        pub within: Within = Within::Any,
        /// The only flow that plans may follow, by index; `None`, the default, allows all feasible flows.
        pub flow: Option<usize>,
        /// The number of intents. At levels 5 and 6, a plan has the bodies of this many different flows, in any order,
        /// before one end; at levels 3 and 4, an API may be called as often as in this many flows together. Default: 1.
        pub intents: usize = 1,
        /// Whether a letter of the automaton also has the step that the API carries out. Default: no. Used only at
        /// levels 5 and 6.
        pub by_step: bool,
        /// Whether calls in texts name the API that made each input, among the APIs called so far:
        /// `FindFlight(airport_code=GetAirports)`. `given` means that the data were available before any call. Default:
        /// no. Allowed only at level 4 or above.
        pub arguments: bool,
        /// Answers known in advance, as pairs of indices of an API and of its outcome. Plans contain no other answers
        /// of these APIs, but it must be possible to finish them after other answers as well. Default: none.
        pub answers: Vec<(usize, usize)>,
        /// Limits; `plan_states` bounds the states.
        pub limits: Limits,
    }
}
