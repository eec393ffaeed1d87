//! The engines whose masks are measured in the same loop.

use grammata::syntax::json_schema;
use grammata::vocabulary::Vocabulary;
use grammata::{Compiler, Matcher, TokenId};
use std::sync::Arc;

/// One sequence under a schema.
pub(crate) trait Session: Send {
    /// Writes the mask of the next token: bit i of word i/32.
    fn fill(&mut self, words: &mut [u32]) -> Result<(), String>;
    /// Moves past a token.
    fn accept(&mut self, token: u32) -> Result<(), String>;
    /// Returns to the beginning, with all that was computed.
    fn reset(&mut self) -> Result<(), String>;
}

/// Compiles schemas.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;
    fn session(&self, schema: &str) -> Result<Box<dyn Session>, String>;
}

/// Grammata.
pub(crate) struct Grammata(Compiler);

impl Grammata {
    pub(crate) fn new(vocabulary: &Arc<Vocabulary>) -> grammata::Result<Grammata> {
        let compiler = Compiler::new(Arc::clone(vocabulary));
        compiler.prepare()?;
        Ok(Grammata(compiler))
    }

    /// An engine that knows nothing of schemas yet.
    pub(crate) fn detached(&self) -> Grammata {
        Grammata(self.0.detached())
    }

    pub(crate) fn matcher(&self, schema: &str) -> grammata::Result<Matcher> {
        let grammar = json_schema::compile(schema, &json_schema::Options::default())?.grammar;
        Ok(self.0.compile(&grammar)?.matcher())
    }
}

impl Engine for Grammata {
    fn name(&self) -> &'static str {
        "Grammata"
    }

    fn session(&self, schema: &str) -> Result<Box<dyn Session>, String> {
        Ok(Box::new(self.matcher(schema).map_err(|error| error.to_string())?))
    }
}

impl Session for Matcher {
    fn fill(&mut self, words: &mut [u32]) -> Result<(), String> {
        self.fill_mask(words).map_err(|error| error.to_string())
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.accept_token(TokenId::new(token)).map_err(|error| error.to_string())
    }

    fn reset(&mut self) -> Result<(), String> {
        Matcher::reset(self);
        Ok(())
    }
}
