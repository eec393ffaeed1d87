//! The language of a grammar according to the engine. The properties compare it with the naive oracles.

use grammata::automaton::words::Letter;
use grammata::automaton::{Automaton, Cache, ConfigurationId, Lazy};
use grammata::grammar::Grammar;
use grammata::{ErrorKind, Limits, Result};
use std::cell::RefCell;

/// Returns the bytes of a word; token terminals in it are left out.
pub(crate) fn bytes_of(word: &[Letter]) -> Vec<u8> {
    word.iter().filter_map(|letter| letter.byte()).collect()
}

/// The compiled language of a grammar, for tests of many texts.
pub(crate) struct Language(Option<(Automaton, RefCell<Cache>)>);

impl Language {
    /// Compiles a grammar. If it has no words, the language accepts nothing. Panics on other errors.
    pub(crate) fn new(grammar: &Grammar) -> Language {
        match Language::made(grammar, &Limits::default()) {
            Ok(language) => language,
            Err(error) => panic!("{error}\n{}", grammar.to_string().chars().take(2000).collect::<String>()),
        }
    }

    /// Compiles a grammar within some limits; `None` if a limit is exceeded.
    pub(crate) fn within(grammar: &Grammar, limits: &Limits) -> Option<Language> {
        match Language::made(grammar, limits) {
            Ok(language) => Some(language),
            Err(error) if error.kind() == ErrorKind::Limit => None,
            Err(error) => panic!("{error}\n{grammar}"),
        }
    }

    fn made(grammar: &Grammar, limits: &Limits) -> Result<Language> {
        match Automaton::new(grammar, limits) {
            Ok(automaton) => Ok(Language(Some((automaton, RefCell::new(Cache::new()))))),
            Err(error) if error.code() == "automaton/empty-language" => Ok(Language(None)),
            Err(error) => Err(error),
        }
    }

    /// Returns whether the text is a word. Panics if a limit is exceeded.
    pub(crate) fn accepts(&self, text: &[u8]) -> bool {
        self.decides(text).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Returns whether the text is a word, or an error if a limit is exceeded.
    pub(crate) fn decides(&self, text: &[u8]) -> Result<bool> {
        let Some((automaton, tables)) = &self.0 else { return Ok(false) };
        let mut tables = tables.borrow_mut();
        let mut at = Lazy::new(automaton, &mut tables).start()?;
        for &byte in text {
            at = Lazy::new(automaton, &mut tables).step(at, byte)?;
        }
        Ok(at != ConfigurationId::DEAD && tables.is_accepting(at))
    }
}

/// Compiles a grammar, and returns whether one text is a word.
pub(crate) fn matches(grammar: &Grammar, text: &[u8]) -> bool {
    Language::new(grammar).accepts(text)
}
