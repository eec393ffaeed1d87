//! Options of an agent: the grammar of its steps, and the contents of its prompts and answers.

use super::controllers::Controllers;
use grammata::limits::Limits;
use grammata_agents::procedures::{Mode, Offering, StepFormat, StepOptions, Texts};
use grammata_agents::tools::CallFormat;

/// The steps that the grammar allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// All texts: there is no grammar.
    None,
    /// The form of steps: all nodes, even if they are not open.
    Form,
    /// Only nodes that are open, by the modes in which the workflows were created. The mode given here is the one that
    /// [`AgentOptions::mode`] recommends for them.
    Open(Mode),
}

/// Options that bind an agent: its mask or controllers, and the form of its prompts and steps.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentOptions {
    /// The steps that the grammar allows. Only nodes that are open in the mode `guarded` by default.
    pub mask: Mask,
    /// Whether the conversation narrows the values of arguments; otherwise the schemas of the slots apply. On by
    /// default.
    pub narrow: bool,
    /// Whether somebody must have said the values of narrowed arguments: the user, a result, a decision or the file. No
    /// effect without `narrow`. On by default.
    pub provenance: bool,
    /// Whether acts that do not bring a closing answer nearer are bounded. No effect without a supervisor or under a
    /// mask other than [`Mask::Open`]. On by default.
    pub progress: bool,
    /// The allowed texts of questions for slots, and of other answers that have a reference text. Verbatim by default.
    pub texts: Texts,
    /// Whether texts that one answer claims are excluded from the other answers, except from verbatim texts. On by
    /// default.
    pub claims: bool,
    /// Whether the prompt lists the open nodes, and the blocked nodes with their obstacles. On by default.
    pub feedback: bool,
    /// Whether the prompt has the text of the procedure. Off by default.
    pub procedure: bool,
    /// The prompt of a step, as a Jinja template. `None`, the default, uses the template `prompt.jinja` of the source.
    pub template: Option<String>,
    /// Controllers that judge acts after they were written. `None` by default.
    pub controllers: Option<Controllers>,
    /// How steps are written if `calls` is `None`. FlowAgent's published format by default.
    pub format: StepFormat,
    /// A call format for steps: a call is written as the format writes calls, an answer as plain text. `None`, the
    /// default, uses `format`.
    pub calls: Option<CallFormat>,
    /// The maximum number of calls that are offered because they fit the user's last message best. Calls that may bring
    /// a closing answer nearer are offered in addition. `None`, the default, offers all.
    pub nearest: Option<usize>,
    /// The maximum number of characters of a thought before a step. `None`, the default: steps have no thoughts. No
    /// effect with `calls`.
    pub thought: Option<u32>,
    /// The maximum number of characters of a text that is not verbatim. 80 by default.
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
    /// The default options: a mask over open nodes and narrowed arguments.
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

    /// Returns the mode in which workflows for these options should be created: that of the mask. Without a mask over
    /// nodes it is `graph` if there are controllers, otherwise `guarded`.
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

    /// Returns the options of the grammar of a step.
    pub(super) fn step_options(&self, limits: &Limits) -> StepOptions {
        let options = StepOptions::default().format(self.format).thought(self.thought);
        options.text_characters(self.text_characters).limits(limits.clone())
    }
}
