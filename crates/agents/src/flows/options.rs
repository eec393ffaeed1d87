//! Options that select plans of a domain: levels of strictness and more.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;

/// The rules that a plan obeys. Each level is a sub-language of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Level {
    /// 1: only the form of a plan, with any names. This is a language of texts only, see [`grammar`](super::grammar).
    Format,
    /// 2: names of the domain's APIs, with any number of calls.
    Names,
    /// 3: in addition, each API is called at most once, or as often as a flow has it if that is more; the end comes
    /// last.
    Bounded,
    /// 4: in addition, each call comes after the calls that make its inputs.
    Data,
    /// 5: the APIs of one flow, as often as it has them.
    Apis,
    /// 6: the steps of one flow, one after another.
    Steps,
}

impl Level {
    /// All levels, from 1 to 6.
    pub const ALL: [Level; 6] =
        [Level::Format, Level::Names, Level::Bounded, Level::Data, Level::Apis, Level::Steps];

    /// The level with a number, 1 to 6.
    ///
    /// # Errors
    /// `flow/level` for other numbers.
    pub fn of(number: u8) -> Result<Level> {
        let place = usize::from(number).wrapping_sub(1);
        Level::ALL.get(place).copied().ok_or_else(|| errors::level(number))
    }

    /// The number of the level, 1 to 6.
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

/// Options that select plans.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct FlowOptions {
    /// The level. Default: 6.
    pub level: Level,
    /// The order within a step. Default: any.
    pub within: Within,
    /// The only flow; `None`, the default, allows all.
    pub flow: Option<usize>,
    /// The number of intents: a plan has the bodies of this many different flows, in any order, before one end.
    /// Default: 1.
    pub intents: usize,
    /// Whether a letter also names the step that the API carries out. Default: no. Only at level 6.
    pub by_step: bool,
    /// Whether calls in texts name the API that made each input, among those called so far:
    /// `FindFlight(airport_code=GetAirports)`. `given` means data available before. Default: no. Only at level 4 or
    /// above.
    pub arguments: bool,
    /// Answers known in advance, as pairs of indices of an API and of its outcome. Plans contain no other answers of
    /// these APIs, but it must be possible to finish them after other answers as well. Default: none.
    pub answers: Vec<(usize, usize)>,
    /// The limit `plan_states` bounds the states.
    pub limits: Limits,
}

impl Default for FlowOptions {
    fn default() -> FlowOptions {
        let (level, within, limits) = (Level::Steps, Within::Any, Limits::default());
        FlowOptions {
            level,
            within,
            flow: None,
            intents: 1,
            by_step: false,
            arguments: false,
            answers: Vec::new(),
            limits,
        }
    }
}

grammata_base::setters!(FlowOptions {
    level: Level,
    within: Within,
    flow: Option<usize>,
    intents: usize,
    by_step: bool,
    arguments: bool,
    answers: Vec<(usize, usize)>,
    limits: Limits,
});
