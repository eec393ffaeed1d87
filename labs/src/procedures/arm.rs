//! Arms: degrees and means of binding an agent.

use grammata_agents::procedures::Mode;
use grammata_agents_drive::procedures::{AgentOptions, Controllers, Mask};
use std::sync::LazyLock;

/// An arm of the evaluation: named options of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The name.
    pub name: &'static str,
    /// A short description, for reports.
    pub description: &'static str,
    /// The options that bind the agent.
    pub options: AgentOptions,
}

const BASE: AgentOptions = AgentOptions::DEFAULT;

/// The arms of the evaluation. Informs are verbatim in all arms that have a mask.
pub static ARMS: LazyLock<[Arm; 9]> = LazyLock::new(|| {
    [
        Arm {
            name: "A0",
            description: "no mask, no controllers, three tries to parse",
            options: BASE.mask(Mask::None).narrow(false).claims(false).feedback(false),
        },
        Arm {
            name: "A1",
            description: "the form of steps",
            options: BASE.mask(Mask::Form).narrow(false).claims(false).feedback(false),
        },
        Arm {
            name: "A2",
            description: "the form, feedback, refusals",
            options: BASE.mask(Mask::Form).narrow(false).claims(false).controllers(Some(Controllers::PAPER)),
        },
        Arm {
            name: "A3",
            description: "graph",
            options: BASE.mask(Mask::Open(Mode::Graph)).narrow(false).claims(false),
        },
        Arm { name: "A4", description: "guarded", options: BASE.narrow(false).claims(false) },
        Arm { name: "A5", description: "guarded, arguments narrowed, claims", options: BASE },
        Arm {
            name: "A6",
            description: "strict, arguments narrowed, claims",
            options: BASE.mask(Mask::Open(Mode::Strict)),
        },
        Arm {
            name: "A7",
            description: "A5 with the procedure's text and thoughts of 80 characters",
            options: BASE.procedure(true).thought(Some(80)),
        },
        Arm {
            name: "A8",
            description: "A5 without provenance and progress",
            options: BASE.provenance(false).progress(false),
        },
    ]
});

impl Arm {
    /// Returns the arm with a name, which is case-insensitive.
    pub fn named(name: &str) -> Option<Arm> {
        ARMS.iter().find(|arm| arm.name.eq_ignore_ascii_case(name)).cloned()
    }
}
