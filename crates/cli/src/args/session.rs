//! A grammar compiled for a vocabulary, for the commands that need masks or check texts.

use crate::args::source::{self, Origin, SourceArgs};
use crate::args::tokens::{LoadedVocabulary, TokenizerArgs};
use crate::io::messages::Progress;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::mask::{CompiledGrammar, Compiler};
use grammata::syntax::json_schema;
use std::sync::Arc;
use std::time::Duration;

/// A compiled grammar, with its origin, the name of its vocabulary, and the times to prepare and to compile.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) compiled: CompiledGrammar,
    pub(crate) origin: Origin,
    pub(crate) vocabulary_name: String,
    /// Time to compute the parts that all grammars of the vocabulary share.
    pub(crate) prepare_time: Duration,
    /// Time to read and compile the grammar.
    pub(crate) compile_time: Duration,
}

impl Session {
    /// Reads a grammar and compiles it for a tokenizer or, if none is given, for the built-in vocabulary. Shows
    /// warnings.
    pub(crate) fn new(source: &SourceArgs, tokenizer: &TokenizerArgs, limits: &Limits) -> Result<Session> {
        Session::with_vocabulary(source, tokenizer.load(limits)?, limits, json_schema::Options::default())
    }

    /// Reads a grammar and compiles it for a vocabulary, with the given defaults for JSON Schemas. Shows warnings.
    pub(crate) fn with_vocabulary(
        source: &SourceArgs,
        vocabulary: LoadedVocabulary,
        limits: &Limits,
        defaults: json_schema::Options,
    ) -> Result<Session> {
        let progress = Progress::start("preparing the vocabulary");
        let compiler = Compiler::new(Arc::new(vocabulary.vocabulary)).limits(limits.clone());
        // tokens of the built-in vocabulary are bytes, so bounds in tokens are meaningless
        let compiler = if vocabulary.is_built_in { compiler.without_token_bounds() } else { compiler };
        compiler.prepare()?;
        let prepare_time = progress.finish();
        let progress = Progress::start("compiling the grammar");
        let loaded = source::load_with(source, limits, defaults)?;
        let compiled = match &loaded.masks {
            Some(file) => {
                compiler.load(Arc::clone(file)).map_err(|error| error.in_file(&loaded.origin.to_string()))?
            }
            None => compiler.compile(&loaded.grammar).map_err(|error| loaded.locate(error))?,
        };
        let compile_time = progress.finish();
        loaded.warn();
        loaded.text.warn(compiled.warnings().to_vec());
        let (origin, vocabulary_name) = (loaded.origin, vocabulary.name);
        Ok(Session { compiled, origin, vocabulary_name, prepare_time, compile_time })
    }
}
