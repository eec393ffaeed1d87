//! Whether a model reasons before it answers.

use std::str::FromStr;

/// Whether a model reasons before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningMode {
    /// The model reasons first.
    #[default]
    Enabled,
    /// The model does not reason.
    Disabled,
    /// The model decides whether to reason.
    Auto,
}

impl ReasoningMode {
    /// Pairs of the name of a mode and the mode.
    pub const ALL: [(&str, ReasoningMode); 3] = [
        ("enabled", ReasoningMode::Enabled),
        ("disabled", ReasoningMode::Disabled),
        ("auto", ReasoningMode::Auto),
    ];
}

impl FromStr for ReasoningMode {
    type Err = String;

    fn from_str(name: &str) -> Result<ReasoningMode, String> {
        let found = ReasoningMode::ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, mode)| *mode).ok_or_else(|| "expected `enabled`, `disabled` or `auto`".to_owned())
    }
}
