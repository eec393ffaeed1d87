//! Reads a thought with its API while it is written: ` THOUGHT[API] Name()`, then `\n[thought]`.

/// The state of a text after `[thought]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment<'t> {
    /// The text can still have the format; the thought so far.
    Open { thought: &'t str },
    /// The text has the format; its length in bytes, after which the next one begins.
    Complete { thought: &'t str, name: &'t str, length: usize },
    /// The text can no longer have the format.
    Broken,
}

const MARK: &str = "[API] ";
const NEXT: &str = "\n[thought]";

/// Reads a text after `[thought]`. After a call of `end` any text may follow.
pub(super) fn segment<'t>(text: &'t str, end: &str) -> Segment<'t> {
    let Some(bracket) = text.find(['\n', '[', ']']) else { return Segment::Open { thought: text.trim() } };
    let (thought, rest) = text.split_at(bracket);
    let thought = thought.trim();
    let Some(after) = rest.strip_prefix(MARK) else {
        return if MARK.starts_with(rest) { Segment::Open { thought } } else { Segment::Broken };
    };
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, brackets) = after.split_at(after.find(|c| !is_part(c)).unwrap_or(after.len()));
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 64;
    if !is_name && !after.is_empty() {
        return Segment::Broken;
    }
    let Some(next) = brackets.strip_prefix("()") else {
        return if "()".starts_with(brackets) { Segment::Open { thought } } else { Segment::Broken };
    };
    let begins_next = next.starts_with(NEXT) || NEXT.starts_with(next);
    match name == end || begins_next {
        true => Segment::Complete { thought, name, length: text.len() - next.len() },
        false => Segment::Broken,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_open_complete_or_broken() {
        let thought = "find a car";
        let cases = [
            ("", Segment::Open { thought: "" }),
            (" find a car", Segment::Open { thought }),
            (" find a car [AP", Segment::Open { thought }),
            (" find a car[API] Find", Segment::Open { thought }),
            (" find a car [API] Find(", Segment::Open { thought }),
            (" find a car [API] Find()", Segment::Complete { thought, name: "Find", length: 24 }),
            (" find a car [API] Find()\n[th", Segment::Complete { thought, name: "Find", length: 24 }),
            (" find a car [API] Find(), ", Segment::Broken),
            (" find a car [API] Find(x", Segment::Broken),
            (" find a car [API] 1", Segment::Broken),
            (" find a car\n", Segment::Broken),
            (" find ] car", Segment::Broken),
            ("[API] End() and more", Segment::Complete { thought: "", name: "End", length: 11 }),
        ];
        for (text, expected) in cases {
            assert_eq!(segment(text, "End"), expected, "{text:?}");
        }
    }
}
