//! Arms: how much an agent is bound, and by what.

use super::controllers::Controllers;
use crate::procedures::conversation::{Offering, Texts};
use crate::procedures::rules::Mode;
use crate::procedures::step::StepFormat;

/// What the grammar of a step holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// There is none: the agent writes freely.
    None,
    /// The form of steps: all nodes, arguments by their schemas.
    Form,
    /// Only nodes that may come in a mode.
    Open(Mode),
}

/// How an agent is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentOptions {
    /// What the grammar of a step holds. Only nodes that may come in the mode `guarded` by default.
    pub mask: Mask,
    /// Arguments narrowed by what is known. On by default.
    pub narrow: bool,
    /// Texts of answers. Verbatim by default.
    pub texts: Texts,
    /// Claims of one answer are out of the texts of others. On by default.
    pub claims: bool,
    /// The prompt lists what is open and what is blocked by what. On by default.
    pub feedback: bool,
    /// Acts are judged after they were written. `None` by default.
    pub controllers: Option<Controllers>,
    /// How steps are written.
    pub format: StepFormat,
    /// The most characters of a thought; without a number, the default, there is none.
    pub thought: Option<u32>,
    /// The most characters of a text that is not verbatim. 80 by default.
    pub text_characters: u32,
}

impl Default for AgentOptions {
    fn default() -> AgentOptions {
        AgentOptions::DEFAULT
    }
}

crate::setters::setters!(AgentOptions {
    mask: Mask,
    narrow: bool,
    texts: Texts,
    claims: bool,
    feedback: bool,
    controllers: Option<Controllers>,
    format: StepFormat,
    thought: Option<u32>,
    text_characters: u32,
});

impl AgentOptions {
    pub(super) const DEFAULT: AgentOptions = AgentOptions {
        mask: Mask::Open(Mode::Guarded),
        narrow: true,
        texts: Texts::Verbatim,
        claims: true,
        feedback: true,
        controllers: None,
        format: StepFormat::Published,
        thought: None,
        text_characters: 80,
    };

    /// The mode of the mask. Without one: `graph` if there are controllers, otherwise `guarded`.
    pub fn mode(&self) -> Mode {
        match self.mask {
            Mask::Open(mode) => mode,
            Mask::None | Mask::Form if self.controllers.is_some() => Mode::Graph,
            Mask::None | Mask::Form => Mode::Guarded,
        }
    }

    pub(super) fn offering(&self) -> Offering {
        Offering {
            only_open: matches!(self.mask, Mask::Open(_)),
            narrow: self.narrow,
            texts: self.texts,
            claims: self.claims,
        }
    }
}

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
