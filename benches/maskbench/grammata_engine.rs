//! This crate as an engine.

use super::engine::{Compilation, Compiled, Engine, Refusal, Session, Written};
use grammata::explore::ExploreBudget;
use grammata::syntax::json_schema;
use grammata::{CompiledGrammar, Compiler, Error, MaskFile, Matcher, TokenId, Vocabulary};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The engine under measurement. The compiler, with everything that depends only on the vocabulary, is built once, as
/// in a server.
pub(crate) struct Grammata {
    compiler: Compiler,
    mask_words: usize,
    options: json_schema::Options,
    /// The folder of mask files, and how far they are explored; `None` without mask files.
    files: Option<(PathBuf, ExploreBudget)>,
    /// Whether mask files are mapped instead of read.
    mapped: bool,
}

impl Grammata {
    pub(crate) fn new(vocabulary: Arc<Vocabulary>, options: json_schema::Options) -> Grammata {
        let mask_words = vocabulary.mask_words();
        let compiler = Compiler::new(vocabulary).limits(options.limits.clone());
        compiler.prepare().expect("the limits are those that the vocabulary was loaded under");
        Grammata { compiler, mask_words, options, files: None, mapped: false }
    }

    /// Returns an engine that shares the index of the vocabulary, but no results of grammars.
    pub(crate) fn detached(&self) -> Grammata {
        Grammata { compiler: self.compiler.detached(), options: self.options.clone(), files: None, ..*self }
    }

    pub(crate) fn vocabulary(&self) -> &Vocabulary {
        self.compiler.vocabulary()
    }

    /// Compiles a schema without a mask file, outside of the measurements; `None` if it is refused.
    pub(crate) fn compiled(&self, schema: &str) -> Option<CompiledGrammar> {
        let grammar = json_schema::compile(schema, &self.options).ok()?.grammar;
        self.compiler.compile(&grammar).ok()
    }

    /// Returns the engine with mask files of `folder`, explored within `budget`.
    pub(crate) fn with_files(self, folder: PathBuf, budget: ExploreBudget) -> Grammata {
        Grammata { files: Some((folder, budget)), ..self }
    }

    /// Returns the engine with mapped mask files.
    pub(crate) fn mapped(self) -> Grammata {
        Grammata { mapped: true, ..self }
    }

    /// Returns the path of the mask file of a schema, for the current order of members; `None` without a folder.
    fn file(&self, schema: &str) -> Option<PathBuf> {
        let hash = Sha256::digest(format!("{:?} {schema}", self.options.property_order));
        let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Some(self.files.as_ref()?.0.join(format!("{name}.gmask")))
    }
}

impl Engine for Grammata {
    fn name(&self) -> &'static str {
        "grammata"
    }

    fn mask_words(&self) -> usize {
        self.mask_words
    }

    fn write_masks(&self, schema: &str, known: &[Vec<u32>]) -> Option<Written> {
        let (_, budget) = self.files.as_ref()?;
        let path = self.file(schema).filter(|path| !path.exists())?;
        let begin = Instant::now();
        let compiled = self.detached().compiled(schema)?;
        let tokens = |text: &Vec<u32>| text.iter().copied().map(TokenId::new).collect();
        let known: Vec<Vec<TokenId>> = known.iter().map(tokens).collect();
        let file = compiled.explore(budget, &known).ok()?;
        file.save(&path).ok()?;
        let contents = file.contents();
        Some(Written { time: begin.elapsed(), bytes: contents.bytes, states: contents.states })
    }

    fn compile(&self, schema: &str) -> Result<Compilation, Refusal> {
        let begin = Instant::now();
        if let Some(path) = self.file(schema).filter(|path| path.exists()) {
            let limits = &self.options.limits;
            #[allow(unsafe_code)] // whoever calls `mapped` promises that nobody changes the files in place
            let mapped = self.mapped.then(|| unsafe { MaskFile::map(&path, limits) });
            let file = mapped.unwrap_or_else(|| MaskFile::open(&path, limits)).map_err(|e| refusal(&e))?;
            let first_part = (if self.mapped { "map_us" } else { "open_us" }, begin.elapsed());
            let compiled = self.compiler.load(file).map_err(|e| refusal(&e))?;
            return Ok(Compilation { compiled: Box::new(compiled), first_part });
        }
        let grammar = json_schema::compile(schema, &self.options).map_err(|e| refusal(&e))?.grammar;
        let first_part = ("grammar_us", begin.elapsed());
        let compiled = self.compiler.compile(&grammar).map_err(|e| refusal(&e))?;
        Ok(Compilation { compiled: Box::new(compiled), first_part })
    }
}

fn refusal(error: &Error) -> Refusal {
    let message = error.diagnostic().message();
    // the front end names the keyword, and limits their field, between back-quotes
    let keyword = message.split('`').nth(1).unwrap_or(message).to_owned();
    Refusal { code: error.code().to_owned(), keyword, message: error.to_string() }
}

impl Compiled for CompiledGrammar {
    fn session(&self) -> Box<dyn Session> {
        Box::new(self.matcher())
    }

    fn warm(&self, time: Duration) {
        let budget = ExploreBudget::default().states(usize::MAX).work(u64::MAX).bytes(usize::MAX).time(time);
        CompiledGrammar::warm(self, budget).wait();
    }

    fn statistics(&self) -> Value {
        let statistics = CompiledGrammar::statistics(self);
        let count = |(name, count): (&str, u64)| (name.to_owned(), count.into());
        let strategies: Map<String, Value> = statistics.strategies.iter().map(count).collect();
        json!({
            "states": statistics.states,
            "configurations": statistics.configurations,
            "masks": statistics.masks_computed,
            "strategies": strategies,
            "resets": statistics.resets,
            "automaton_bytes": statistics.automaton_bytes,
            "cache_bytes": statistics.cache_bytes,
        })
    }
}

impl Session for Matcher {
    fn is_explored(&self) -> bool {
        Matcher::is_explored(self)
    }

    fn fill_mask(&mut self, words: &mut [u32]) -> Result<(), String> {
        Matcher::fill_mask(self, words).map_err(|e| e.to_string())
    }

    fn accept(&mut self, token: u32) -> Result<(), String> {
        self.accept_token(TokenId::new(token)).map_err(|e| e.to_string())
    }

    fn is_accepting(&mut self) -> Result<bool, String> {
        Ok(Matcher::is_accepting(self))
    }

    fn explain(&mut self, token: u32) -> String {
        match self.accept_token(TokenId::new(token)) {
            Err(error) => error.to_string(),
            // a token that the mask forbids and the matcher accepts is a fault of the engine
            Ok(()) => "the matcher accepts this token, but the mask did not allow it".to_owned(),
        }
    }
}
