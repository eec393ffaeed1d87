//! Random words of a language.

use super::configurations::{Configurations, Position};
use super::words::Letter;
use crate::automaton::program::automaton::Automaton;
use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind, Result};
use crate::transitions::{Counts, Sample, Walk, sample};
use crate::work::Budget;
use rand::RngCore;

/// How likely the words of a language are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distribution {
    /// A random walk. At each letter the word ends, if it may, or continues with one of the sets of letters that lead
    /// to the same continuation, as long as a word within the bound follows. The end and each set are equally likely,
    /// except that a set with no ASCII letter and no token terminal is 8 times less likely. The letters of a set are
    /// equally likely.
    #[default]
    Walk,
    /// Each word within the bound is equally likely. Most words of a language are long: so are most samples.
    Uniform,
}

/// Draws random words of an automaton's language; created by [`samples`].
pub struct Samples<'a> {
    configurations: Configurations<'a>,
    distribution: Distribution,
    most: usize,
    walk: Walk<Position>,
    counts: Counts<Position>,
}

/// Prepares drawing words of at most `most` letters. A token terminal is one letter, a byte is another.
///
/// # Errors
/// Limits; errors of deferred lowering.
pub fn samples(automaton: &Automaton, distribution: Distribution, most: usize) -> Result<Samples<'_>> {
    let configurations =
        super::words::budgeted(automaton, &Budget::of_words(automaton.limits()))?.following_names();
    Ok(Samples { configurations, distribution, most, walk: Walk::default(), counts: Counts::default() })
}

impl Samples<'_> {
    /// Draws a word. Words are independent of each other.
    ///
    /// # Errors
    /// `automaton/no-word` if the language has no word within the bound; limits: `words_work` for each word,
    /// `cache_bytes` and `lockstep_search`; errors of deferred lowering.
    pub fn draw<R: RngCore>(&mut self, random: &mut R) -> Result<Vec<Letter>> {
        self.configurations.tables.work = Budget::of_words(self.configurations.automaton.limits());
        let word = match self.distribution {
            Distribution::Walk => self.walk.draw(&mut self.configurations, self.most, random)?,
            Distribution::Uniform => {
                match sample(&mut self.configurations, &mut self.counts, Some(self.most), random)? {
                    Sample::Word(word) => Some(word),
                    Sample::Empty | Sample::Infinite => None,
                }
            }
        };
        match word {
            Some(word) => Ok(word),
            None => Err(no_word(self.most, self.configurations.shortest()?)),
        }
    }
}

fn no_word(most: usize, shortest: Option<usize>) -> Error {
    let found = match shortest {
        Some(length) => format!("words of {length} bytes and more"),
        None => "no words".to_owned(),
    };
    Error::new(
        ErrorKind::Usage,
        Diagnostic::new("automaton/no-word", "the language has no word within the bound")
            .found(found)
            .allowed(format!("words of at most {most} bytes"))
            .help("raise `Samples::most`"),
    )
}
