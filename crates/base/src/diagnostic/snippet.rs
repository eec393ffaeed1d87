//! The source line of a diagnostic, truncated to the width of a terminal.

use super::is_hidden;
use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Maximum number of terminal columns before the first marked character.
const BEFORE: usize = 48;
/// Maximum number of terminal columns from the first marked character on.
const AFTER: usize = 60;
/// Maximum number of characters of the line before, and from, the first marked character. Characters of width 0 take no
/// columns, so columns alone do not bound the text.
const CHARACTERS: usize = 120;
/// The text that replaces a tab.
const TAB: &str = "    ";

/// A line of a source text with the characters of a diagnostic marked. Of a long line, it shows at most 108 terminal
/// columns and 240 characters, and `…` at each end that is truncated.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Snippet {
    line: usize,
    column: usize,
    text: String,
    before: usize,
    marked: usize,
    rendered: bool,
}

impl Snippet {
    /// Creates the snippet of the line of `text` in which the byte `range` begins. Only the part of the range on this
    /// line is marked, at least one column.
    pub(super) fn new(text: &str, range: Range<usize>, rendered: bool) -> Snippet {
        let start = text.floor_char_boundary(range.start.min(text.len()));
        let head = text.get(..start).unwrap_or("");
        let line_start = head.rfind('\n').map_or(0, |newline| newline + 1);
        let line = head.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let left = head.get(line_start..).unwrap_or("");
        let column = left.chars().count() + 1;
        let rest = text.get(start..).unwrap_or("");
        let right = rest.find('\n').map_or(rest, |newline| rest.get(..newline).unwrap_or(rest));
        let right = right.strip_suffix('\r').unwrap_or(right);
        let (left, before) = tail(left);
        let (right, marked) = front(right, range.end.saturating_sub(start));
        Snippet { line, column, text: left + &right, before, marked: marked.max(1), rendered }
    }

    /// Returns the number of the line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column of the first marked character, counted in characters from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// Returns the shown part of the line. Tabs are four spaces; control characters, line separators and directional
    /// marks are U+FFFD; `…` is where the line is truncated.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns whether the line belongs to the text that was rendered from a template, because it was not found in the
    /// template itself.
    pub fn is_rendered(&self) -> bool {
        self.rendered
    }
}

/// Writes the line with its number, and carets under the marked characters.
impl fmt::Display for Snippet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let gap = " ".repeat(number.len());
        writeln!(f, "  {number} | {}", self.text)?;
        write!(f, "  {gap} | {}{}", " ".repeat(self.before), "^".repeat(self.marked))
    }
}

/// Returns the text that is shown for a character, and its width in terminal columns.
fn show(c: char) -> (String, usize) {
    match c {
        '\t' => (TAB.to_owned(), TAB.len()),
        // one column each, since escapes and directional marks would shift the carets
        c if is_hidden(c) => ("\u{FFFD}".to_owned(), 1),
        c => (c.to_string(), c.width().unwrap_or(1)),
    }
}

/// Returns the shown end of the text before the marked characters, and its width in terminal columns.
fn tail(text: &str) -> (String, usize) {
    let (mut shown, mut columns) = (Vec::new(), 0);
    for (count, c) in text.chars().rev().enumerate() {
        let (c, width) = show(c);
        if columns + width > BEFORE || count == CHARACTERS {
            shown.push("…".to_owned());
            columns += 1;
            break;
        }
        columns += width;
        shown.push(c);
    }
    shown.reverse();
    (shown.concat(), columns)
}

/// Returns the shown beginning of the text from the first marked character on, and the width in terminal columns of its
/// first `marked` bytes.
fn front(text: &str, marked: usize) -> (String, usize) {
    let (mut shown, mut columns, mut under) = (String::new(), 0, 0);
    for (count, (offset, c)) in text.char_indices().enumerate() {
        let (c, width) = show(c);
        if columns + width > AFTER || count == CHARACTERS {
            shown.push('…');
            break;
        }
        columns += width;
        shown.push_str(&c);
        if offset < marked {
            under = columns;
        }
    }
    (shown, under)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, range: Range<usize>) -> String {
        Snippet::new(text, range, false).to_string()
    }

    #[test]
    fn carets_stand_under_what_is_marked() {
        assert_eq!(shown("one\ntwo three\nfour", 8..13), "  2 | two three\n    |     ^^^^^");
        assert_eq!(shown("a\r\nb", 0..9), "  1 | a\n    | ^");
        assert_eq!(shown("a\n", 2..2), "  2 | \n    | ^");
        assert_eq!(shown("", 7..9), "  1 | \n    | ^");
    }

    #[test]
    fn columns_are_those_of_a_terminal() {
        assert_eq!(shown("\t日本 x", 8..9), "  1 |     日本 x\n    |          ^");
        assert_eq!(shown("日本", 0..6), "  1 | 日本\n    | ^^^^");
        // a combining mark takes no column; a byte inside a character means that character
        assert_eq!(shown("e\u{301}x", 3..4), "  1 | e\u{301}x\n    |  ^");
        assert_eq!(shown("é", 1..2), "  1 | é\n    | ^");
    }

    #[test]
    fn what_cannot_be_seen_is_replaced() {
        assert_eq!(shown("\u{202E}\u{7}x", 4..5), "  1 | \u{FFFD}\u{FFFD}x\n    |   ^");
    }

    #[test]
    fn long_lines_are_cut_on_both_sides() {
        let text = format!("{}X{}", "a".repeat(1_000_000), "b".repeat(1_000_000));
        let snippet = Snippet::new(&text, 1_000_000..2_000_001, false);
        assert_eq!((snippet.line(), snippet.column()), (1, 1_000_001));
        assert!(snippet.text().starts_with("…a") && snippet.text().ends_with("b…"), "{}", snippet.text());
        assert_eq!(snippet.text().chars().count(), BEFORE + AFTER + 2);
        let marks = "\u{301}".repeat(1_000_000);
        assert!(Snippet::new(&marks, 1_000_000..1_000_001, false).text().chars().count() < 250);
    }
}
