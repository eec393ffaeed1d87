//! The language of a grammar, by the engine, which the properties hold to the naive oracles.

use grammata::automaton::{Automaton, ConfigurationId, Tables};
use grammata::grammar::Grammar;
use grammata::{ErrorKind, Limits};
use std::cell::RefCell;

/// A language that many texts are tried against.
pub(crate) struct Language(Option<(Automaton, RefCell<Tables>)>);

impl Language {
    /// The language of a grammar; one without words accepts nothing.
    pub(crate) fn new(grammar: &Grammar) -> Language {
        Language::within(grammar, &Limits::default()).expect("within the limits")
    }

    /// The language of a grammar, unless a limit is exceeded.
    pub(crate) fn within(grammar: &Grammar, limits: &Limits) -> Option<Language> {
        match Automaton::new(grammar, limits) {
            Ok(automaton) => Some(Language(Some((automaton, RefCell::new(Tables::new()))))),
            Err(error) if error.code() == "automaton/empty-language" => Some(Language(None)),
            Err(error) if error.kind() == ErrorKind::Limit => None,
            Err(error) => panic!("{error}\n{grammar}"),
        }
    }

    /// Whether the text is a word.
    pub(crate) fn accepts(&self, text: &[u8]) -> bool {
        let Some((automaton, tables)) = &self.0 else { return false };
        let mut tables = tables.borrow_mut();
        let mut at = tables.start(automaton).expect("within the limits");
        for &byte in text {
            at = tables.step(automaton, at, byte).expect("within the limits");
        }
        at != ConfigurationId::DEAD && tables.is_accepting(at)
    }
}

/// Whether one text is a word of a grammar.
pub(crate) fn matches(grammar: &Grammar, text: &[u8]) -> bool {
    Language::new(grammar).accepts(text)
}
