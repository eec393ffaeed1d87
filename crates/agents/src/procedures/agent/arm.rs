//! Arms: how much an agent is bound, and by what.

use super::controllers::Controllers;
use super::options::{AgentOptions, Mask};
use crate::procedures::rules::Mode;

/// An arm of the evaluation: options of the agent under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub description: &'static str,
    /// How the agent is bound.
    pub options: AgentOptions,
}

const BASE: AgentOptions = AgentOptions::DEFAULT;

/// The arms of the evaluation. Informs are verbatim in all that have a mask.
pub const ARMS: [Arm; 7] = [
    Arm {
        name: "A0",
        description: "no mask, no controllers, three tries to parse",
        options: AgentOptions { mask: Mask::None, narrow: false, claims: false, feedback: false, ..BASE },
    },
    Arm {
        name: "A1",
        description: "the form of steps",
        options: AgentOptions { mask: Mask::Form, narrow: false, claims: false, feedback: false, ..BASE },
    },
    Arm {
        name: "A2",
        description: "the form, feedback, refusals",
        options: AgentOptions {
            mask: Mask::Form,
            narrow: false,
            claims: false,
            controllers: Some(Controllers::PAPER),
            ..BASE
        },
    },
    Arm {
        name: "A3",
        description: "graph",
        options: AgentOptions { mask: Mask::Open(Mode::Graph), narrow: false, claims: false, ..BASE },
    },
    Arm {
        name: "A4",
        description: "guarded",
        options: AgentOptions { narrow: false, claims: false, ..BASE },
    },
    Arm { name: "A5", description: "guarded, arguments narrowed, claims", options: BASE },
    Arm {
        name: "A6",
        description: "strict, arguments narrowed, claims",
        options: AgentOptions { mask: Mask::Open(Mode::Strict), ..BASE },
    },
];

impl Arm {
    /// The arm of a name.
    pub fn named(name: &str) -> Option<Arm> {
        ARMS.into_iter().find(|arm| arm.name.eq_ignore_ascii_case(name))
    }
}
