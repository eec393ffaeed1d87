//! The logical lines of a procedure's text: a comment after code is cut, and lines are joined while brackets are open.

use crate::procedures::language::errors;
use grammata::diagnostic::Place;
use grammata::error::Result;

/// A logical line: a statement, the head of a block, prose or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) place: Place,
    /// The number of columns before the text; a tab counts up to the next multiple of 4.
    pub(super) indent: usize,
    pub(super) text: String,
}

/// Maps lines of a procedure's text to its file.
struct Places<'t> {
    file: Vec<&'t str>,
    /// The line of the file, from 0, where the text begins; `None` if its lines are not consecutive lines of the file.
    base: Option<usize>,
    start: Place,
}

impl<'t> Places<'t> {
    fn new(file: &'t str, text: &str, start: &Place) -> Places<'t> {
        let file: Vec<&str> = file.lines().collect();
        let base = match start {
            Place::LineColumn { line, .. } => [*line, line - 1].into_iter().find(|&base| {
                text.lines().enumerate().all(|(number, line)| {
                    line.trim().is_empty()
                        || file.get(base + number).is_some_and(|in_file| in_file.trim() == line.trim())
                })
            }),
            _ => None,
        };
        Places { file, base, start: start.clone() }
    }

    fn line(&self, number: usize) -> Place {
        match self.base.and_then(|base| Some((base + number, self.file.get(base + number)?))) {
            Some((line, text)) => {
                let column = text.chars().take_while(|c| c.is_whitespace()).count() + 1;
                Place::LineColumn { line: line + 1, column }
            }
            None => self.start.clone(),
        }
    }
}

/// Splits a text into its logical lines. Blank lines are dropped. A comment on a line of its own is a logical line or,
/// while a bracket is open, joined to the line with the bracket.
///
/// # Errors
/// `pdl/unclosed-bracket` at the line where the statement begins whose bracket is not closed.
pub(super) fn split(file: &str, text: &str, start: &Place) -> Result<Vec<Line>> {
    let places = Places::new(file, text, start);
    let mut lines = Vec::new();
    let mut held: Option<Line> = None;
    let mut depth: i64 = 0;
    for (number, raw) in text.lines().enumerate() {
        let trimmed = raw.trim();
        if trimmed.is_empty() {
            continue;
        }
        let line = Line { place: places.line(number), indent: indent(raw), text: String::new() };
        if held.is_none() && trimmed.starts_with('#') {
            lines.push(Line { text: trimmed.to_owned(), ..line });
            continue;
        }
        let code = without_comment(trimmed);
        if held.is_some() || begins_like_code(code) {
            depth = depth.saturating_add(brackets(code));
        }
        let line = match held.take() {
            None => Line { text: code.to_owned(), ..line },
            Some(mut before) => {
                before.text.push(' ');
                before.text.push_str(code);
                before
            }
        };
        if depth <= 0 {
            lines.push(line);
            depth = 0;
        } else {
            held = Some(line);
        }
    }
    match held {
        Some(line) => Err(errors::fatal(errors::unclosed_bracket(line.place, &line.text))),
        None => Ok(lines),
    }
}

/// Returns how many more brackets a line opens than it closes. `is_open` says that brackets of earlier lines are open;
/// otherwise the result is 0 for prose and comments.
pub(in crate::procedures) fn opened(line: &str, is_open: bool) -> i64 {
    let trimmed = line.trim();
    let code = without_comment(trimmed);
    let is_comment = !is_open && trimmed.starts_with('#');
    if !is_comment && (is_open || begins_like_code(code)) { brackets(code) } else { 0 }
}

/// Returns the number of columns before a line's text; a tab counts up to the next multiple of 4.
pub(in crate::procedures) fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars().take_while(|c| c.is_whitespace()) {
        columns = if c == '\t' { (columns / 4 + 1) * 4 } else { columns + 1 };
    }
    columns
}

/// Returns the offset after the quoted string that begins at byte `at`; `None` if no string begins there or it is not
/// closed.
fn end_of_string(text: &str, at: usize) -> Option<usize> {
    let quote = text[at..].chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[at + 1..].find(quote).map(|length| at + length + 2)
}

/// Returns the characters of a line outside of its strings, each with its byte offset.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(end) =
            text.get(next..).filter(|rest| !rest.is_empty()).and_then(|_| end_of_string(text, next))
        {
            next = end;
        }
        let c = text.get(next..)?.chars().next()?;
        next += c.len_utf8();
        Some((next - c.len_utf8(), c))
    })
}

/// Returns the text up to a `#` that begins it, or that follows whitespace outside of strings.
fn without_comment(text: &str) -> &str {
    let comment =
        outside(text).find(|&(at, c)| c == '#' && (at == 0 || text[..at].ends_with(char::is_whitespace)));
    comment.map_or(text, |(at, _)| &text[..at]).trim_end()
}

fn brackets(text: &str) -> i64 {
    outside(text)
        .map(|(_, c)| match c {
            '(' | '[' => 1,
            ')' | ']' => -1,
            _ => 0,
        })
        .sum()
}

const KEYWORDS: [&str; 6] = ["if", "elif", "else", "while", "try", "except"];

/// Returns whether brackets of a line may stay open: whether it begins like an assignment, a call or a list, or with a
/// keyword, `API` or `ANSWER`. Prose may have unbalanced brackets.
fn begins_like_code(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let first = text.find(|c: char| !word(c)).unwrap_or(text.len());
    if text.starts_with('[')
        || text.starts_with("API")
        || text.starts_with("ANSWER")
        || KEYWORDS.contains(&&text[..first])
    {
        return true;
    }
    let name = text.find(|c: char| !word(c) && c != '.').unwrap_or(text.len());
    let targets = text.find(|c: char| !word(c) && !matches!(c, '.' | ',' | ' ')).unwrap_or(text.len());
    let begins_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_');
    name > 0 && text[name..].starts_with('(')
        || begins_name && text[targets..].starts_with('=') && !text[targets..].starts_with("==")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<(usize, String)> {
        let lines = split(text, text, &Place::LineColumn { line: 1, column: 1 }).unwrap();
        lines.into_iter().map(|line| (line.indent, line.text)).collect()
    }

    #[test]
    fn brackets_join_code_and_not_prose() {
        let joined = texts("x = f([a,\n   b])  # c\n\tbe kind (always\n# d (\ng('(', \"#\") # e");
        let expected = [(0, "x = f([a, b])"), (4, "be kind (always"), (0, "# d ("), (0, "g('(', \"#\")")];
        assert_eq!(joined, expected.map(|(indent, text)| (indent, text.to_owned())));
        assert!(split("f(a", "f(a", &Place::Whole).is_err());
    }
}
