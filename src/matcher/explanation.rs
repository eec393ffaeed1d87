//! Explanations of rejected texts: the place, and what was expected there, by rule and label.

use crate::diagnostic::{excerpt, visible};
use crate::grammar::ByteSet;
use std::fmt;

/// How far the grammar accepts a text, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub(super) position: usize,
    pub(super) found: Option<u8>,
    pub(super) tail: Vec<u8>,
    pub(super) viable: bool,
    pub(super) may_end: bool,
    pub(super) expected: Vec<Expectation>,
}

/// The longest literal that is shown, in bytes.
pub(super) const LITERAL: usize = 40;
/// A literal in quotes, with `…` after it if it was cut.
fn quoted(text: &str) -> String {
    let cut = if text.len() + 4 > LITERAL { "…" } else { "" };
    visible(&format!("{text:?}{cut}")).into_owned()
}

/// The bytes and tokens that a rule, or a labelled part of a rule, expects next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The name of the rule, as the author of the grammar wrote it.
    pub rule: String,
    /// The label within the rule, for instance the JSON Pointer of a sub-schema.
    pub label: Option<String>,
    /// The bytes that the rule or labelled part allows next.
    pub bytes: ByteSet,
    /// Texts of at least two bytes, such as literals or what is left of them, that begin with one of `bytes`. At most
    /// 40 bytes of each, in the order of their bytes.
    pub literals: Vec<String>,
    /// The bytes that are allowed next without being the beginning of one of `literals` only.
    pub others: ByteSet,
    /// Whether the text would be ignored, such as white space between terminals. Such entries are last.
    pub is_ignored: bool,
    /// The token terminals that the rule or labelled part allows next, written as the grammar displays them.
    pub terminals: Vec<String>,
}

impl Explanation {
    /// The number of bytes from the beginning of the sequence that the grammar accepts.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The byte at which the text leaves the grammar; `None` if it does not.
    pub fn found(&self) -> Option<u8> {
        self.found
    }

    /// Whether the whole text can be completed to a word, so that [`found`](Explanation::found) is `None`.
    pub fn is_viable(&self) -> bool {
        self.viable
    }

    /// Whether the text up to the position is a word, so that it may end there.
    pub fn may_end(&self) -> bool {
        self.may_end
    }

    /// What was expected at the position: one entry per rule and label, those of ignored text last.
    pub fn expected(&self) -> &[Expectation] {
        &self.expected
    }

    /// The last bytes before the position, at most 32.
    pub fn accepted_tail(&self) -> &[u8] {
        &self.tail
    }

    /// What was expected, on one line. At most eight expectations are listed, followed by the number of the others.
    pub fn expected_text(&self) -> String {
        let mut parts: Vec<String> = self.expected.iter().take(8).map(Expectation::to_string).collect();
        if self.expected.len() > 8 {
            parts.push(format!("{} more", self.expected.len() - 8));
        }
        if self.may_end {
            parts.push("the end".into());
        }
        if parts.is_empty() { "nothing".into() } else { parts.join("; or ") }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.found {
            Some(byte) => write!(f, "rejected at byte {}: found {}", self.position, show_byte(byte))?,
            None if self.may_end => write!(f, "a word of the grammar ({} bytes)", self.position)?,
            None => write!(f, "a prefix of a word ({} bytes)", self.position)?,
        }
        write!(f, "; expected {}", self.expected_text())
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> =
            self.literals.iter().take(MOST_LISTED).map(|text| quoted(text)).collect();
        if self.literals.len() > MOST_LISTED {
            parts.push("…".to_owned());
        }
        if !self.others.is_empty() {
            parts.push(show_bytes(&self.others));
        }
        parts.extend(self.terminals.iter().map(|terminal| format!("the token {}", excerpt(terminal))));
        f.write_str(&parts.join(", "))?;
        match &self.label {
            _ if self.is_ignored && self.label.is_some() => f.write_str(" (ignored)"),
            _ if self.is_ignored => write!(f, " (rule `{}`, ignored)", visible(&self.rule)),
            Some(label) if self.rule == *label => write!(f, " (at {})", visible(label)),
            // the rule of a whole schema says nothing that the pointer does not
            Some(label) if self.rule == "#" => write!(f, " (at {})", visible(label)),
            Some(label) => write!(f, " (rule `{}`, at {})", visible(&self.rule), visible(label)),
            None => write!(f, " (rule `{}`)", visible(&self.rule)),
        }
    }
}

/// Maximum number of byte ranges, and of printable characters as exceptions, in the text for a set of bytes.
const MOST_LISTED: usize = 6;

/// The bytes at which a character in UTF-8 that is not ASCII may begin.
const LEADS: std::ops::RangeInclusive<u8> = 0xC2..=0xF4;

/// A set of bytes for a message. Normally its first ranges. "Any character" with the exceptions, if the bytes of the
/// set beyond ASCII are exactly those that may begin a character, and it lacks at most [`MOST_LISTED`] printable ASCII
/// characters, and lacks all control characters below a space or none.
fn show_bytes(bytes: &ByteSet) -> String {
    let mut listed = *bytes;
    let has_all_others = LEADS.eq(bytes.iter().skip_while(u8::is_ascii));
    if has_all_others {
        let missing = |range: std::ops::RangeInclusive<u8>| -> ByteSet {
            range.filter(|&byte| !bytes.contains(byte)).collect()
        };
        let (visible, controls) = (missing(b' '..=b'~'), missing(0..=0x1F));
        if visible.iter().count() <= MOST_LISTED && (controls.is_empty() || controls.iter().count() == 32) {
            let mut exceptions: Vec<String> = visible.iter().map(show_byte).collect();
            if !controls.is_empty() {
                exceptions.push("control characters".to_owned());
            }
            return match exceptions.is_empty() {
                true => "any character".to_owned(),
                false => format!("any character except {}", exceptions.join(", ")),
            };
        }
        listed = bytes.iter().filter(u8::is_ascii).collect();
    }
    let ranges: Vec<(u8, u8)> = listed.ranges().collect();
    let shown = ranges.iter().take(MOST_LISTED).map(|&(low, high)| match high - low {
        0 => show_byte(low),
        _ => format!("{} to {}", show_byte(low), show_byte(high)),
    });
    let mut all: Vec<String> = shown.collect();
    if ranges.len() > MOST_LISTED {
        all.push("…".to_owned());
    }
    if has_all_others {
        all.push("any non-ASCII character".to_owned());
    }
    all.join(", ")
}

/// A byte for a message: printable ASCII as itself, blanks by name, any other byte in hexadecimal.
pub(super) fn show_byte(byte: u8) -> String {
    match byte {
        b'`' => "\"`\"".into(),
        b'!'..=b'~' => format!("`{}`", char::from(byte)),
        b' ' => "a space".into(),
        b'\n' => "a newline".into(),
        b'\t' => "a tab".into(),
        b'\r' => "a carriage return".into(),
        _ => format!("byte {byte:02X}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_bytes_are_readable() {
        let leads: Vec<u8> = LEADS.collect();
        let of =
            |ascii: &mut dyn Iterator<Item = u8>| ascii.chain(leads.iter().copied()).collect::<ByteSet>();
        for (bytes, expected) in [
            (of(&mut (0..128)), "any character"),
            (of(&mut (32..128)), "any character except control characters"),
            (
                of(&mut (32..127).filter(|byte| *byte != b'"')),
                "any character except `\"`, control characters",
            ),
            (
                of(&mut (0..128).filter(|byte| *byte != b'\n')),
                "byte 00 to a tab, byte 0B to byte 7F, any non-ASCII character",
            ),
            (of(&mut (b'a'..=b'c')), "`a` to `c`, any non-ASCII character"),
            ((b'a'..=b'c').chain([0xC3]).collect(), "`a` to `c`, byte C3"),
            (b"acegikm".iter().copied().collect(), "`a`, `c`, `e`, `g`, `i`, `k`, …"),
        ] {
            assert_eq!(show_bytes(&bytes), expected);
        }
    }
}
