//! Grammars of strings in a notation that contains schemas itself.

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::limits::Limits;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The keyword for grammars whose words the strings are.
pub(super) const GRAMMAR: &str = "x-grammata-grammar";

/// A grammar that a [`GrammarReader`] compiled, and the warnings about its source.
pub type ReadGrammar = (Grammar, Vec<Diagnostic>);

/// Compiles the grammars of a notation in the keyword `x-grammata-grammar`. This front end knows regular expressions
/// itself. It does not know Lark, because Lark grammars contain schemas: pass
/// [`lark::IN_STRINGS`](crate::syntax::lark::IN_STRINGS) to [`Options::grammars`](super::Options::grammars).
#[derive(Clone, Copy)]
pub struct GrammarReader {
    syntax: &'static str,
    read: fn(&str, &Limits) -> Result<ReadGrammar>,
}

impl GrammarReader {
    /// Creates the reader of the notation with the name `syntax`. Readers of equal names are equal.
    pub(in crate::syntax) const fn new(
        syntax: &'static str,
        read: fn(&str, &Limits) -> Result<ReadGrammar>,
    ) -> GrammarReader {
        GrammarReader { syntax, read }
    }

    /// Returns the name of the notation, as the keyword has it.
    pub(super) fn syntax(&self) -> &'static str {
        self.syntax
    }

    /// Compiles a grammar.
    ///
    /// # Errors
    /// Those of the notation, with places in the grammar; limits.
    pub(super) fn read(&self, definition: &str, limits: &Limits) -> Result<ReadGrammar> {
        (self.read)(definition, limits)
    }
}

impl fmt::Debug for GrammarReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GrammarReader").field(&self.syntax).finish()
    }
}

impl PartialEq for GrammarReader {
    fn eq(&self, other: &GrammarReader) -> bool {
        self.syntax == other.syntax
    }
}

impl Eq for GrammarReader {}

impl Hash for GrammarReader {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.syntax.hash(state);
    }
}
