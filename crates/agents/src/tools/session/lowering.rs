//! The compiled arguments of tools, created when a name is chosen and cached by content.

use crate::tools::custom;
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

/// A part of a turn that ends with the turn or at the start of a name.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// The grammar with the byte [`HOLE`] in place of a name.
    pub(super) inside: CompiledGrammar,
    /// The grammar with any bytes in place of a name; `None` if no name can follow.
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

    pub(super) fn memory_usage(&self) -> usize {
        self.inside.memory_usage() + self.over.as_ref().map_or(0, CompiledGrammar::memory_usage)
    }
}

/// Cache key of a section: hash of the format and options, hash of the schema, and what may follow the call.
type Key = ([u8; 32], [u8; 32], After);

/// Compiles sets of tools for one vocabulary. Compiled tools are cached by content: all sets compiled by a compiler and
/// its clones share the cache, whose default bound is 256 MiB.
#[derive(Clone, Debug)]
pub struct ToolCompiler {
    compiler: Compiler,
    parts: Arc<Mutex<Parts>>,
    hole_tokens: Arc<OnceLock<Box<[u32]>>>,
}

#[derive(Debug)]
struct Parts {
    sections: FxHashMap<Key, Arc<Section>>,
    /// The keys in order of insertion.
    order: VecDeque<Key>,
    max_bytes: usize,
}

/// Memory is counted again when the number of cached sections reaches a multiple of this number. A section grows after
/// it is compiled, because its masks are computed on use.
const COUNTED_EACH: usize = 32;

impl ToolCompiler {
    /// Creates a compiler of tools from the compiler of a vocabulary.
    pub fn new(compiler: Compiler) -> ToolCompiler {
        let parts = Parts { sections: FxHashMap::default(), order: VecDeque::new(), max_bytes: 256 << 20 };
        ToolCompiler { compiler, parts: Arc::new(Mutex::new(parts)), hole_tokens: Arc::default() }
    }

    /// Sets the size of the cache in bytes above which the oldest sections are dropped. The size is checked each time
    /// that the number of sections reaches a multiple of 32. At least one section is kept. The bound also applies to
    /// the clones of this compiler, which share the cache.
    pub fn max_bytes(self, max_bytes: usize) -> ToolCompiler {
        self.parts().max_bytes = max_bytes;
        self
    }

    /// Returns the compiler of the vocabulary.
    pub fn compiler(&self) -> &Compiler {
        &self.compiler
    }

    /// Returns the number of cached sections. A section is cached by the schema of the arguments, the format and its
    /// options, and the continuations that are allowed after the call.
    pub fn len(&self) -> usize {
        self.parts().sections.len()
    }

    /// Returns whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the memory of the cached sections, in bytes.
    pub fn memory_usage(&self) -> usize {
        self.parts().sections.values().map(|section| section.memory_usage()).sum()
    }

    fn parts(&self) -> MutexGuard<'_, Parts> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tokens that contain the byte [`HOLE`], which no turn contains.
    pub(super) fn hole_tokens(&self) -> &[u32] {
        self.hole_tokens.get_or_init(|| {
            let tokens = self.compiler.vocabulary().tokens();
            tokens.filter(|(_, bytes)| bytes.contains(&HOLE)).map(|(token, _)| token.get()).collect()
        })
    }

    /// Returns the section after the name of a tool with these arguments, from the cache or built by `make`. `context`
    /// is the hash of the format and options.
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
        // compiled without the lock, so another thread may do the same
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
    /// Evicts the oldest sections until the others fit into the bound or one is left.
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

/// Returns a hash of a format and of the options that change its sections: markers and schema options.
pub(super) fn context(format: &CallFormat, options: &GrammarOptions) -> [u8; 32] {
    hash(format!("{format:?} {:?} {:?}", options.markers, options.schema).as_bytes())
}

/// Compiles the section after the name of a tool with these arguments.
pub(super) fn after_name(
    compiler: &Compiler,
    format: &CallFormat,
    options: &GrammarOptions,
    arguments: &Schema,
    after: After,
) -> Result<Section> {
    let schema = custom::reading(&options.schema);
    let lowered = grammata::syntax::json_schema::compile_value(&arguments.value(), &schema)?;
    Section::new(compiler, after.call, |hole| {
        format.grammar_after_name(options, &lowered.grammar, after, hole)
    })
}

/// Checks that the arguments of a tool have a grammar. Each schema is compiled once; plain schemas are not compiled.
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
