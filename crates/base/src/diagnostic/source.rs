//! Source texts that diagnostics point into.

use super::snippet::Snippet;
use super::{Diagnostic, Place, pointers};
use std::ops::Range;

/// Maximum number of diagnostics of one source that get their source line, because finding a line takes a pass over the
/// text.
const LOCATED: usize = 100;

/// The notation of a source text: how JSON Pointers and rule names are located in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notation {
    /// Plain text: places are lines and columns only.
    Text,
    /// GBNF: a rule is where its name is followed by `::=`.
    Gbnf,
    /// JSON. A rule named `#/…` is the value of that JSON Pointer.
    Json,
    /// TOML. A rule is a member of the table `rules`.
    Toml,
}

/// A source text and its notation.
#[derive(Clone, Copy, Debug)]
pub struct Source<'t> {
    text: &'t str,
    notation: Notation,
    /// The template that `text` was rendered from, if there is one.
    template: Option<&'t str>,
}

impl<'t> Source<'t> {
    /// Creates a source of a text that was not rendered from a template.
    pub fn new(text: &'t str, notation: Notation) -> Source<'t> {
        Source { text, notation, template: None }
    }

    /// Marks the text as rendered from `template`. A line that is not blank and occurs exactly once in both texts is
    /// shown as the template's; any other line [is marked as rendered](Snippet::is_rendered).
    pub fn rendered_from(mut self, template: &'t str) -> Source<'t> {
        self.template = Some(template);
        self
    }

    /// Gives each diagnostic that has a place in the text, and no line yet, the line and column of that place and an
    /// excerpt of the line. At most 100 diagnostics get a line; the others keep only their place.
    pub fn locate<'d>(&self, diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>) {
        let mut open: Vec<&mut Diagnostic> =
            diagnostics.into_iter().filter(|diagnostic| diagnostic.snippet.is_none()).take(LOCATED).collect();
        let pointers: Vec<&str> =
            open.iter().map(|diagnostic| self.pointer(&diagnostic.place).unwrap_or("/")).collect();
        let ranges = match self.notation {
            Notation::Json => pointers::in_json(self.text, &pointers),
            Notation::Toml => pointers::in_toml(self.text, &pointers),
            Notation::Text | Notation::Gbnf => vec![None; pointers.len()],
        };
        let ranges: Vec<Option<Range<usize>>> = open
            .iter()
            .zip(ranges)
            .map(|(diagnostic, range)| match self.pointer(&diagnostic.place) {
                Some(_) => range,
                None => self.range(&diagnostic.place),
            })
            .collect();
        for (diagnostic, range) in open.iter_mut().zip(ranges) {
            diagnostic.snippet = range.map(|range| Box::new(self.snippet(range)));
        }
    }

    /// Like [`locate`](Source::locate), also for at most 100 diagnostics, for notations that are not parsed here:
    /// `find` returns the place in the text of a pointer.
    pub fn locate_with<'d>(
        &self,
        diagnostics: impl IntoIterator<Item = &'d mut Diagnostic>,
        find: impl Fn(&str) -> Option<Place>,
    ) {
        let open = diagnostics.into_iter().filter(|diagnostic| diagnostic.snippet.is_none());
        for diagnostic in open.take(LOCATED) {
            let found = match &diagnostic.place {
                Place::Pointer(pointer) => find(pointer),
                place => Some(place.clone()),
            };
            let range = found.and_then(|place| self.range(&place));
            diagnostic.snippet = range.map(|range| Box::new(self.snippet(range)));
        }
    }

    /// Returns the place as a pointer into this document; `None` if it is not one.
    fn pointer<'p>(&self, place: &'p Place) -> Option<&'p str> {
        match (self.notation, place) {
            (Notation::Json | Notation::Toml, Place::Pointer(pointer))
                if pointer.is_empty() || pointer.starts_with('/') =>
            {
                Some(pointer)
            }
            // rules of a schema are named by pointers as URI fragments
            (Notation::Json, Place::Rule(name)) => {
                name.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/'))
            }
            _ => None,
        }
    }

    /// Returns the byte range of a place that is not a pointer; `None` if the place is not in the text.
    fn range(&self, place: &Place) -> Option<Range<usize>> {
        match place {
            Place::LineColumn { line, column } => Some(self.word(offset(self.text, *line, *column)?)),
            Place::Byte(offset) => Some(self.word(*offset)),
            Place::Rule(name) => match self.notation {
                Notation::Gbnf => rule(self.text, name),
                Notation::Toml => {
                    let pointer = format!("/rules/{}", name.replace('~', "~0").replace('/', "~1"));
                    pointers::in_toml(self.text, &[&pointer]).pop().flatten()
                }
                Notation::Json | Notation::Text => None,
            },
            Place::Pointer(_) | Place::Whole => None,
        }
    }

    /// Returns the byte range of the word or quoted text that begins at byte `start`, otherwise of one byte.
    fn word(&self, start: usize) -> Range<usize> {
        let rest = self.text.get(start..).unwrap_or("");
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\''))
            && let Some(inner) = rest.lines().next().and_then(|line| line.get(1..)?.find(quote))
        {
            return start..start + inner + 2;
        }
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let length = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        start..start + length.max(1)
    }

    fn snippet(&self, range: Range<usize>) -> Snippet {
        match self.template {
            None => Snippet::new(self.text, range, false),
            Some(template) => match in_template(self.text, template, &range) {
                Some(range) => Snippet::new(template, range, false),
                None => Snippet::new(self.text, range, true),
            },
        }
    }
}

/// Returns the byte offset of a line and column, both counted from 1, the column in characters. A column past the end
/// of the line gives the end of the line; a line past the last gives `None`.
fn offset(text: &str, line: usize, column: usize) -> Option<usize> {
    let mut start = 0;
    for _ in 1..line {
        start += text.get(start..)?.find('\n')? + 1;
    }
    let rest = text.get(start..)?;
    let rest = rest.get(..rest.find('\n').unwrap_or(rest.len()))?;
    Some(start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(offset, _)| offset))
}

/// Returns the byte range of the name of a GBNF rule in its definition; `None` if there is no definition.
fn rule(text: &str, name: &str) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let inner = line.trim_start();
        let at = start + line.len() - inner.len();
        if inner.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with("::=")) {
            return Some(at..at + name.len());
        }
        start += line.len();
    }
    None
}

/// Moves a range of `text` to the template: to the same columns of the template line that equals the line in which the
/// range begins. `None` if this line is blank or does not occur exactly once in both texts. Further lines of a longer
/// range are not compared.
fn in_template(text: &str, template: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let start = text.get(..range.start)?.rfind('\n').map_or(0, |newline| newline + 1);
    let wanted = text.get(start..)?.lines().next()?;
    if wanted.trim().is_empty() || text.lines().filter(|line| *line == wanted).count() != 1 {
        return None;
    }
    let mut found = None;
    let mut at = 0;
    for line in template.split_inclusive('\n') {
        if line.trim_end_matches(['\n', '\r']) == wanted && found.replace(at).is_some() {
            return None;
        }
        at += line.len();
    }
    let moved = found? + (range.start - start);
    Some(moved..moved + range.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(source: Source<'_>, place: Place) -> Option<(usize, usize)> {
        let mut diagnostic = Diagnostic::new("a/b", "c").at(place);
        source.locate([&mut diagnostic]);
        diagnostic.snippet().map(|snippet| (snippet.line(), snippet.column()))
    }

    #[test]
    fn places_are_found_in_their_notation() {
        let gbnf = Source::new("root ::= a\n  a  ::= \"x\"\n", Notation::Gbnf);
        assert_eq!(located(gbnf, Place::Rule("a".into())), Some((2, 3)));
        assert_eq!(located(gbnf, Place::Rule("b".into())), None);
        assert_eq!(located(gbnf, Place::LineColumn { line: 1, column: 10 }), Some((1, 10)));
        assert_eq!(located(gbnf, Place::LineColumn { line: 9, column: 1 }), None);
        assert_eq!(located(gbnf, Place::Byte(11)), Some((2, 1)));
        assert_eq!(located(gbnf, Place::Whole), None);
        let json = Source::new("{\n \"a\": [1,\n 2]}", Notation::Json);
        assert_eq!(located(json, Place::Pointer("/a/1".into())), Some((3, 2)));
        assert_eq!(located(json, Place::Rule("#/a".into())), Some((2, 2)));
        assert_eq!(located(json, Place::Pointer("/a/7".into())), Some((2, 2)));
        assert_eq!(located(json, Place::Pointer("other#/a".into())), None);
        let toml = Source::new("[rules]\ns = ['x']\n", Notation::Toml);
        assert_eq!(located(toml, Place::Rule("s".into())), Some((2, 1)));
    }

    #[test]
    fn lines_of_templates_are_found_where_they_are_unique() {
        let template = "# ---\n# {% if a %}\nx = 1\n# {% endif %}\ny = {{ b }}\n";
        let rendered = Source::new("# \nx = 1\n# \ny = 7\n", Notation::Toml).rendered_from(template);
        assert_eq!(located(rendered, Place::Pointer("/x".into())), Some((3, 1)));
        let mut diagnostic = Diagnostic::new("a/b", "c").at(Place::Pointer("/y".into()));
        rendered.locate([&mut diagnostic]);
        assert!(diagnostic.snippet().is_some_and(|snippet| snippet.is_rendered() && snippet.line() == 4));
    }

    #[test]
    fn a_bound_keeps_many_warnings_cheap() {
        let text = "a\n".repeat(1_000);
        let mut all: Vec<Diagnostic> = (1..=1_000)
            .map(|line| Diagnostic::new("a/b", "c").at(Place::LineColumn { line, column: 1 }))
            .collect();
        Source::new(&text, Notation::Text).locate(&mut all);
        assert_eq!(all.iter().filter(|diagnostic| diagnostic.snippet().is_some()).count(), LOCATED);
    }
}
