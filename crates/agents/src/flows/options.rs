//! Which plans of a domain: levels of strictness and their options.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;

/// What a plan keeps; each level is a sub-language of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Level {
    /// 1: the form of a plan, whatever the names: a language of texts alone, see [`grammar`](super::grammar).
    Format,
    /// 2: names of the domain's APIs, any number of calls.
    Names,
    /// 3: no API more often than once or than a flow has it, the end last.
    Bounded,
    /// 4: also each call after what makes its inputs.
    Data,
    /// 5: the APIs of one flow, as often as it has them.
    Apis,
    /// 6: the steps of one flow, one after the other.
    Steps,
}

impl Level {
    /// All levels, from 1 to 6.
    pub const ALL: [Level; 6] =
        [Level::Format, Level::Names, Level::Bounded, Level::Data, Level::Apis, Level::Steps];

    /// The level of a number, 1 to 6.
    ///
    /// # Errors
    /// `flow/level` for others.
    pub fn of(number: u8) -> Result<Level> {
        let place = usize::from(number).wrapping_sub(1);
        Level::ALL.get(place).copied().ok_or_else(|| errors::level(number))
    }

    /// Its number, 1 to 6.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// The order of the APIs of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Within {
    /// Any that the data allow.
    Any,
    /// That of the file.
    Declared,
}

/// Which plans.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct FlowOptions {
    /// The level; 6 by default.
    pub level: Level,
    /// The order in a step; any by default.
    pub within: Within,
    /// The flow, or any of them, which is the default.
    pub flow: Option<usize>,
    /// The number of intents: a plan has the bodies of this number of different flows, in any order, before one end. 1 by default.
    pub intents: usize,
    /// Whether a letter also says which step the API carries out. Not by default; only at level 6.
    pub by_step: bool,
    /// Whether calls in texts name the API that made each input, `FindFlight(airport_code=GetAirports)`, of those called so far;
    /// `given` stands for what was there before. Not by default; only from level 4 on.
    pub arguments: bool,
    /// Answers that are known beforehand: an API and one of its outcomes, by their places. Plans have no others of these APIs, though they must
    /// be such that they could be finished after the others too. None by default.
    pub answers: Vec<(usize, usize)>,
    /// `plan_states` bounds the states.
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
