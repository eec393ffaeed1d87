//! Queries as a regular expression.

use super::{MOST_QUERIES, MOST_WORDS};
use std::ops::RangeInclusive;

/// The characters that words may contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// ASCII letters, digits and the punctuation of plain English. A word begins with a letter, a digit or a
    /// parenthesis, and a line with a letter.
    #[default]
    Plain,
    /// All characters except white space and control characters. A line begins with a letter of any script.
    Printable,
}

/// Bounds on the lines and their words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of lines. Default: 1 to 5.
    pub lines: RangeInclusive<usize>,
    /// The number of words per line. Default: 3 to 19.
    pub words: RangeInclusive<usize>,
    /// The maximum number of characters per word. Default: 24.
    pub letters: usize,
    /// The characters that words may contain. Default: [`Plain`](Charset::Plain).
    pub charset: Charset,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { lines: 1..=MOST_QUERIES, words: 3..=MOST_WORDS, letters: 24, charset: Charset::Plain }
    }
}

/// Returns the regular expression of lines within the bounds of `form`, in the syntax of Rust's `regex`. Words are
/// separated by single spaces and lines by line feeds, with nothing before, after or between. A bound of 0 counts as 1,
/// and an upper bound below the lower one counts as the lower one.
pub fn lines_pattern(form: &Lines) -> String {
    let rest = form.letters.max(1) - 1;
    let (word, first) = match form.charset {
        Charset::Plain => {
            let tail = format!("[A-Za-z0-9'/&+.,:()%$#-]{{0,{rest}}}");
            (format!("[A-Za-z0-9(]{tail}"), format!("[A-Za-z]{tail}"))
        }
        Charset::Printable => {
            let character = r"[^\s\p{Cc}]";
            (format!("{character}{{1,{}}}", rest + 1), format!(r"\p{{L}}{character}{{0,{rest}}}"))
        }
    };
    let further = |bounds: &RangeInclusive<usize>| {
        let least = (*bounds.start()).max(1);
        format!("{{{},{}}}", least - 1, (*bounds.end()).max(least) - 1)
    };
    let line = format!("{first}( {word}){}", further(&form.words));
    format!(r"{line}(\n{line}){}", further(&form.lines))
}
