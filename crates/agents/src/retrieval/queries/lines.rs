//! The form of queries, as a regular expression.

use super::{MOST_QUERIES, MOST_WORDS};
use std::ops::RangeInclusive;

/// What words are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// ASCII letters, digits and the marks of plain English; a word begins with a letter, a digit or a parenthesis, a line
    /// with a letter.
    #[default]
    Plain,
    /// Every character that is neither white space nor a control; a line begins with a letter of any script.
    Printable,
}

/// Bounds on the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    /// Number of lines; 1 to 5 by default.
    pub lines: RangeInclusive<usize>,
    /// Words of a line; 3 to 19 by default.
    pub words: RangeInclusive<usize>,
    /// The most characters of a word; 24 by default.
    pub letters: usize,
    /// What words are made of.
    pub charset: Charset,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines { lines: 1..=MOST_QUERIES, words: 3..=MOST_WORDS, letters: 24, charset: Charset::Plain }
    }
}

/// The regular expression of such lines, in the dialect of Rust's `regex`: words of one line with single spaces between
/// them, line feeds between lines, nothing before, after or between. Bounds of 0 count as 1.
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
