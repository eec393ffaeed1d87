//! How an agent is bound: the grammar of its steps, and what its prompts and answers hold.

use super::controllers::Controllers;
use crate::procedures::automaton::rules::Mode;
use crate::procedures::conversation::step::StepFormat;
use crate::procedures::conversation::{Offering, Texts};

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
    /// Somebody must have said the values of narrowed arguments: the user, a result, a decision or the file. On by default.
    pub provenance: bool,
    /// Acts that bring a closing answer no nearer are bounded. On by default.
    pub progress: bool,
    /// Texts of answers. Verbatim by default.
    pub texts: Texts,
    /// Claims of one answer are out of the texts of others. On by default.
    pub claims: bool,
    /// The prompt lists what is open and what is blocked by what. On by default.
    pub feedback: bool,
    /// The prompt has the text of the procedure. Off by default.
    pub procedure: bool,
    /// The prompt of a step, as a Jinja template; without one the default, which the source has as `prompt.jinja`.
    pub template: Option<String>,
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

grammata_base::setters!(AgentOptions {
    mask: Mask,
    narrow: bool,
    provenance: bool,
    progress: bool,
    texts: Texts,
    claims: bool,
    feedback: bool,
    procedure: bool,
    template: Option<String>,
    controllers: Option<Controllers>,
    format: StepFormat,
    thought: Option<u32>,
    text_characters: u32,
});

impl AgentOptions {
    /// The defaults, as a constant: a mask over nodes and arguments.
    pub const DEFAULT: AgentOptions = AgentOptions {
        mask: Mask::Open(Mode::Guarded),
        narrow: true,
        provenance: true,
        progress: true,
        texts: Texts::Verbatim,
        claims: true,
        feedback: true,
        procedure: false,
        template: None,
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

    /// What the conversation offers an agent that is bound like this.
    pub fn offering(&self) -> Offering {
        Offering {
            only_open: matches!(self.mask, Mask::Open(_)),
            narrow: self.narrow,
            texts: self.texts,
            claims: self.claims,
            progress: self.progress,
        }
    }
}
