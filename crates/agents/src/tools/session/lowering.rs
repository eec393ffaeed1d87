//! What is compiled of a tool once its name has been chosen, kept by its content.

use crate::tools::format::{After, CallFormat, GrammarOptions, HOLE, Hole};
use crate::tools::schema::Schema;
use crate::tools::set::ToolSet;
use grammata::error::Result;
use grammata::grammar::Grammar;
use grammata::mask::{CompiledGrammar, Compiler};
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A part of turns that ends with the turn, or where a name begins.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// With [`HOLE`] where a name begins.
    pub(super) inside: CompiledGrammar,
    /// With any bytes there; none if no name does.
    pub(super) over: Option<CompiledGrammar>,
}

impl Section {
    pub(super) fn new(
        compiler: &Compiler,
        has_hole: bool,
        part: impl Fn(Hole) -> Result<Grammar>,
    ) -> Result<Section> {
        let inside = compiler.compile(&part(Hole::Byte)?)?;
        let over = has_hole.then(|| compiler.compile(&part(Hole::Any)?)).transpose()?;
        Ok(Section { inside, over })
    }

    fn memory_usage(&self) -> usize {
        self.inside.memory_usage() + self.over.as_ref().map_or(0, CompiledGrammar::memory_usage)
    }
}

/// Of which schema, in which format with which options, with what after it.
type Key = ([u8; 32], [u8; 32], After);

/// Compiles sets of tools for one vocabulary. What is compiled of a tool is kept by its content: all sets that a compiler and its
/// clones have compiled share it, 256 MiB at most.
#[derive(Clone, Debug)]
pub struct ToolCompiler {
    compiler: Compiler,
    parts: Arc<Mutex<Parts>>,
    hole_tokens: Arc<OnceLock<Box<[u32]>>>,
}

#[derive(Debug)]
struct Parts {
    sections: FxHashMap<Key, Arc<Section>>,
    /// In the order in which they were made.
    order: VecDeque<Key>,
    max_bytes: usize,
}

/// Memory is counted after this many sections at the latest: masks are made after they were compiled.
const COUNTED_EACH: usize = 32;

impl ToolCompiler {
    /// Of the compiler of a vocabulary.
    pub fn new(compiler: Compiler) -> ToolCompiler {
        let parts = Parts { sections: FxHashMap::default(), order: VecDeque::new(), max_bytes: 256 << 20 };
        ToolCompiler { compiler, parts: Arc::new(Mutex::new(parts)), hole_tokens: Arc::default() }
    }

    /// Sets how many bytes are kept, at least one tool.
    pub fn max_bytes(self, max_bytes: usize) -> ToolCompiler {
        self.parts().max_bytes = max_bytes;
        self
    }

    /// The compiler of the vocabulary.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// How many tools' arguments are compiled, each counted for each format and bound on calls.
    pub fn len(&self) -> usize {
        self.parts().sections.len()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of what is compiled of tools.
    pub fn memory_usage(&self) -> usize {
        self.parts().sections.values().map(|section| section.memory_usage()).sum()
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tokens with the byte of a hole, which no turn has.
    pub(super) fn hole_tokens(&self) -> &[u32] {
        self.hole_tokens.get_or_init(|| {
            let tokens = self.compiler.vocabulary().tokens();
            tokens.filter(|(_, bytes)| bytes.contains(&HOLE)).map(|(token, _)| token.get()).collect()
        })
    }

    /// What follows the name of a tool with these arguments. `context` tells formats and options apart.
    pub(super) fn section(
        &self,
        context: &[u8; 32],
        arguments: &Schema,
        after: After,
        make: impl FnOnce() -> Result<Section>,
    ) -> Result<Arc<Section>> {
        let key = (*context, hash(arguments.text().as_bytes()), after);
        if let Some(known) = self.parts().sections.get(&key) {
            return Ok(Arc::clone(known));
        }
        // compiled without the lock: another thread may do the same
        let made = Arc::new(make()?);
        let mut parts = self.parts();
        if let Some(known) = parts.sections.get(&key) {
            return Ok(Arc::clone(known));
        }
        parts.sections.insert(key, Arc::clone(&made));
        parts.order.push_back(key);
        if parts.order.len().is_multiple_of(COUNTED_EACH) {
            parts.make_room();
        }
        Ok(made)
    }
}

impl Parts {
    /// Lets the oldest go until the others fit.
    fn make_room(&mut self) {
        let mut bytes: usize = self.sections.values().map(|section| section.memory_usage()).sum();
        while bytes > self.max_bytes && self.order.len() > 1 {
            let Some(oldest) = self.order.pop_front() else { break };
            let let_go = self.sections.remove(&oldest);
            bytes -= let_go.map_or(0, |section| section.memory_usage());
        }
    }
}

pub(super) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What tells a format with options apart from others.
pub(super) fn context(format: &CallFormat, options: &GrammarOptions) -> [u8; 32] {
    hash(format!("{format:?} {:?} {:?}", options.markers, options.schema).as_bytes())
}

/// What follows the name of a tool with these arguments, compiled.
pub(super) fn after_name(
    compiler: &Compiler,
    format: &CallFormat,
    options: &GrammarOptions,
    arguments: &Schema,
    after: After,
) -> Result<Section> {
    let lowered = grammata::syntax::json_schema::compile_value(&arguments.value(), &options.schema)?;
    Section::new(compiler, after.call, |hole| {
        format.grammar_after_name(options, &lowered.grammar, after, hole)
    })
}

/// Of each schema once, whether a grammar can be made of it; the error if none can.
pub(super) fn check_arguments(
    set: &ToolSet,
    tool: usize,
    options: &GrammarOptions,
    known: &mut FxHashMap<[u8; 32], Result<()>>,
) -> Result<()> {
    let tool = &set.tools()[tool];
    if tool.arguments.is_plain() {
        return Ok(());
    }
    let hash = hash(tool.arguments.text().as_bytes());
    known.entry(hash).or_insert_with(|| tool.grammar(&options.schema).map(|_| ())).clone()
}
