//! Options of an agent: the grammar of its steps, and the contents of its prompts and answers.

use super::controllers::Controllers;
use crate::procedures::automaton::rules::Mode;
use crate::procedures::conversation::step::{StepFormat, StepOptions};
use crate::procedures::conversation::{Offering, Texts};
use crate::tools::CallFormat;
use grammata::limits::Limits;

/// The steps that the grammar allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// No grammar: the agent writes freely.
    None,
    /// The form of steps: all nodes, arguments by their schemas.
    Form,
    /// Only nodes that are open in a mode.
    Open(Mode),
}

/// Options that bind an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentOptions {
    /// The steps that the grammar allows. Only nodes that are open in the mode `guarded` by default.
    pub mask: Mask,
    /// Arguments narrowed by the conversation. On by default.
    pub narrow: bool,
    /// Somebody must have said the values of narrowed arguments: the user, a result, a decision or the file. On by default.
    pub provenance: bool,
    /// Acts that do not bring a closing answer nearer are bounded. On by default.
    pub progress: bool,
    /// Texts of answers. Verbatim by default.
    pub texts: Texts,
    /// Claims of one answer are excluded from the texts of others. On by default.
    pub claims: bool,
    /// The prompt lists the open nodes, and the others with their obstacles. On by default.
    pub feedback: bool,
    /// The prompt has the text of the procedure. Off by default.
    pub procedure: bool,
    /// The prompt of a step, as a Jinja template. The default is `prompt.jinja` of the source.
    pub template: Option<String>,
    /// Acts are judged after they were written. `None` by default.
    pub controllers: Option<Controllers>,
    /// How steps are written.
    pub format: StepFormat,
    /// Steps are written as turns in this call format: calls as it has them, answers as their text. `None` by default:
    /// then `format` says how.
    pub calls: Option<CallFormat>,
    /// Of more open calls than this, only those are offered that fit the user's last message best, and those that may
    /// bring a closing answer nearer. `None` by default: all are.
    pub nearest: Option<usize>,
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
    calls: Option<CallFormat>,
    nearest: Option<usize>,
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
        calls: None,
        nearest: None,
        thought: None,
        text_characters: 80,
    };

    /// Returns the mode of the mask. Without a mask over nodes it is `graph` if there are controllers, otherwise
    /// `guarded`.
    pub fn mode(&self) -> Mode {
        match self.mask {
            Mask::Open(mode) => mode,
            Mask::None | Mask::Form if self.controllers.is_some() => Mode::Graph,
            Mask::None | Mask::Form => Mode::Guarded,
        }
    }

    /// Returns the options of the steps that a conversation offers the agent.
    pub fn offering(&self) -> Offering {
        Offering {
            only_open: matches!(self.mask, Mask::Open(_)),
            narrow: self.narrow,
            texts: self.texts,
            claims: self.claims,
            progress: self.progress,
        }
    }

    /// How the grammar of a step is made.
    pub(super) fn step_options(&self, limits: &Limits) -> StepOptions {
        StepOptions {
            format: self.format,
            thought: self.thought,
            text_characters: self.text_characters,
            limits: limits.clone(),
        }
    }
}
