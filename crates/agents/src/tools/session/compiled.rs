//! A set of tools, compiled once for all requests.

use super::bits::Bits;
use super::lowering::{self, Section, ToolCompiler, check_arguments};
use super::names::Names;
use super::subset::Subset;
use super::turn::TurnMatcher;
use super::values::{Limited, limited_schema, limited_set, limited_subset};
use crate::tools::errors;
use crate::tools::format::{After, CallFormat, Choice, GrammarOptions, HOLE};
use crate::tools::schema::Schema;
use crate::tools::set::{ToolSet, is_fatal};
use grammata::diagnostic::Diagnostic;
use grammata::error::Result;
use grammata::mask::CompiledGrammar;
use grammata::matcher::Matcher;
use grammata::syntax::json_schema;
use grammata::vocabulary::Vocabulary;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A set of tools in a call format, compiled for a vocabulary. If the format writes names first, the tools' names and
/// the text before and after them are compiled once, and the arguments of a tool are compiled when a turn has chosen
/// its name. In other formats, the grammar of each turn is compiled when the turn begins. Clones share the compiled
/// set.
#[derive(Clone, Debug)]
pub struct CompiledTools(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    set: Arc<ToolSet>,
    format: CallFormat,
    options: GrammarOptions,
    compiler: ToolCompiler,
    names: Names,
    all: Subset,
    refused: Vec<(String, Diagnostic)>,
    /// Whether the format writes a tool's name before everything that depends on the tool.
    is_lazy: bool,
    link: OnceLock<CompiledGrammar>,
    starts: [OnceLock<Section>; 3],
    context: [u8; 32],
}

/// The options of a turn.
#[derive(Clone, Debug)]
pub struct TurnOptions {
    /// Whether the turn calls tools. Default: [`Choice::Auto`].
    pub choice: Choice,
    /// The tools that may be called; all if `None`.
    pub subset: Option<Subset>,
    /// The minimum number of calls of a turn that has any. Default: 1.
    pub min_calls: u32,
    /// The maximum number of calls of a turn; `None` for any number. In formats with at most one call in a turn, the
    /// bound is always 1. Default: 1.
    pub max_calls: Option<u32>,
    /// Arguments that are limited to given values. Only the arguments of tools with such limits are compiled again, not
    /// the set.
    pub limited: Vec<Limited>,
}

impl Default for TurnOptions {
    fn default() -> TurnOptions {
        TurnOptions {
            choice: Choice::Auto,
            subset: None,
            min_calls: 1,
            max_calls: Some(1),
            limited: Vec::new(),
        }
    }
}

impl ToolCompiler {
    /// Compiles a set in a format. Only the markers and the schema of `options` are used; the other options belong to
    /// each turn. Tools whose arguments have no grammar, or whose names the format cannot write, are
    /// [refused](CompiledTools::refused).
    ///
    /// # Errors
    /// Limits.
    pub fn compile(
        &self,
        set: Arc<ToolSet>,
        format: CallFormat,
        options: &GrammarOptions,
    ) -> Result<CompiledTools> {
        let (mut names, mut refused) = (Vec::new(), Vec::new());
        let mut known = FxHashMap::default();
        for (index, tool) in set.tools().iter().enumerate().filter(|(_, tool)| tool.refusal.is_none()) {
            let written = check_arguments(&set, index, options, &mut known)
                .map_err(|error| match is_fatal(&error) {
                    true => error.or_at(&tool.place),
                    false => errors::fatal(tool.refused(error.diagnostic())),
                })
                .and_then(|()| format.written_name(tool));
            match written {
                Ok(name) => names.push((name, u32::try_from(index).unwrap_or(u32::MAX))),
                Err(error) if is_fatal(&error) => return Err(error),
                Err(error) => refused.push((tool.name.clone(), error.diagnostic().clone())),
            }
        }
        let names = Names::new(names);
        let all = Subset::of(Bits::all(names.len()));
        let options = GrammarOptions { tools: Vec::new(), ..options.clone() };
        let context = lowering::context(&format, &options);
        Ok(CompiledTools(Arc::new(Inner {
            is_lazy: format.names_come_first(),
            set,
            format,
            options,
            compiler: self.clone(),
            names,
            all,
            refused,
            link: OnceLock::new(),
            starts: Default::default(),
            context,
        })))
    }
}

impl CompiledTools {
    /// Returns the set of tools, including those that cannot be called.
    pub fn set(&self) -> &Arc<ToolSet> {
        &self.0.set
    }

    /// Returns the call format.
    pub fn format(&self) -> &CallFormat {
        &self.0.format
    }

    /// Returns the tools that the format cannot write or whose arguments have no grammar, with the reasons. Tools that
    /// the set itself refuses are not listed.
    pub fn refused(&self) -> &[(String, Diagnostic)] {
        &self.0.refused
    }

    /// Returns the subset of all tools that can be called.
    pub fn all(&self) -> &Subset {
        &self.0.all
    }

    /// Returns the subset of the tools with these names.
    ///
    /// # Errors
    /// `tools/unknown-tool` if the set has no tool of a name; the diagnostic of a tool that cannot be called.
    pub fn subset<'n>(&self, tools: impl IntoIterator<Item = &'n str>) -> Result<Subset> {
        let names: Vec<&str> = tools.into_iter().collect();
        let written: Vec<WrittenName<'_>> =
            names.iter().map(|name| WrittenName(self.0.format.written(name))).collect();
        let found = self.0.names.ranks(&written).zip(&names);
        let ranks = found.map(|(rank, name)| rank.map_or_else(|| self.rank(name), Ok));
        let ranks: Vec<u32> = ranks.collect::<Result<_>>()?;
        Ok(Subset::of(Bits::of(self.0.names.len(), ranks)))
    }

    /// Returns the names of a subset's tools, in the order of the set.
    pub fn names<'s>(&'s self, subset: &'s Subset) -> impl Iterator<Item = &'s str> + 's {
        let mut tools: Vec<usize> = subset.bits().iter().map(|rank| self.0.names.tool(rank)).collect();
        tools.sort_unstable();
        tools.into_iter().map(|tool| self.0.set.tools()[tool].name.as_str())
    }

    /// Returns a name as the format writes it in calls.
    pub fn written_name(&self, name: &str) -> String {
        self.0.format.written(name).into_owned()
    }

    fn rank(&self, name: &str) -> Result<u32> {
        let written = self.0.format.written(name);
        if let Some(rank) = self.0.names.rank(written.as_bytes()) {
            return Ok(rank);
        }
        let refused = self.0.refused.iter().find(|(tool, _)| tool == name).map(|(_, reason)| reason);
        let refused = refused.or_else(|| self.0.set.tool(name).and_then(|tool| tool.refusal.as_deref()));
        Err(match refused {
            Some(reason) => errors::fatal(reason.clone()),
            None => errors::unknown_tool(name, self.0.set.tools().iter().map(|tool| tool.name.as_str())),
        })
    }

    /// Creates a matcher at the start of a turn.
    ///
    /// # Errors
    /// `tools/no-tools` if a call is required, by the options or the format, but no tool may or can be called;
    /// `tools/call-count` if the minimum number of calls is 0 or exceeds the maximum, which is 1 in formats with at
    /// most one call in a turn; limits.
    pub fn turn(&self, options: &TurnOptions) -> Result<TurnMatcher> {
        let most = if self.0.format.has_several() { options.max_calls } else { Some(1) };
        if options.min_calls == 0 || most.is_some_and(|most| most < options.min_calls) {
            return Err(errors::call_count(options.min_calls, most));
        }
        let subset = options.subset.clone().unwrap_or_else(|| self.0.all.clone());
        let subset = limited_subset(self, subset, &options.limited);
        let choice =
            if subset.is_empty() && options.choice == Choice::Auto { Choice::None } else { options.choice };
        if subset.is_empty() && choice == Choice::Required {
            let refused = self.0.refused.iter().map(|(name, reason)| (name.as_str(), reason));
            return Err(errors::no_tools(self.0.set.refusals().chain(refused)));
        }
        let turn = TurnOptions {
            choice,
            subset: Some(subset.clone()),
            min_calls: options.min_calls,
            max_calls: most,
            limited: options.limited.clone(),
        };
        match self.0.is_lazy {
            true => TurnMatcher::in_parts(self.clone(), subset, turn),
            false => Ok(TurnMatcher::whole(self.clone(), self.whole(&subset, &turn)?)),
        }
    }

    /// Creates a matcher of the grammar of a whole turn, for formats in which text before the name depends on the tool,
    /// and for budgets.
    pub(super) fn whole(&self, subset: &Subset, turn: &TurnOptions) -> Result<Matcher> {
        let options = GrammarOptions {
            choice: turn.choice,
            tools: self.names(subset).map(str::to_owned).collect(),
            min_calls: turn.min_calls,
            max_calls: turn.max_calls,
            ..self.0.options.clone()
        };
        let set = limited_set(&self.0.set, &turn.limited);
        let made = self.0.format.grammar(&set, &options)?;
        Ok(self.0.compiler.compiler().compile(&made.grammar)?.matcher())
    }

    /// Returns the vocabulary for which the set is compiled.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.0.compiler.compiler().vocabulary()
    }

    pub(super) fn ranked(&self) -> &Names {
        &self.0.names
    }

    pub(super) fn beginning(&self) -> Option<Vec<u8>> {
        self.0.format.beginning(&self.0.options)
    }

    pub(super) fn calls_begin_with_token(&self) -> bool {
        self.0.format.begins_with_token(&self.0.options)
    }

    pub(super) fn schema_options(&self) -> &json_schema::Options {
        &self.0.options.schema
    }

    pub(super) fn compiler(&self) -> &ToolCompiler {
        &self.0.compiler
    }

    /// Returns the section before the first name under a choice, compiled on first use.
    pub(super) fn start(&self, choice: Choice) -> Result<&Section> {
        let inner = &*self.0;
        let options = GrammarOptions { choice, ..inner.options.clone() };
        made(&inner.starts[choice as usize], || {
            let has_hole = choice != Choice::None;
            Section::new(inner.compiler.compiler(), has_hole, |hole| inner.format.before_name(&options, hole))
        })
    }

    /// Returns the forced bytes after a name, at most up to the arguments. They are the same for all tools.
    ///
    /// # Errors
    /// Limits.
    pub fn after_name(&self) -> Result<Vec<u8>> {
        let mut link = self.link()?.matcher().forced_bytes()?;
        link.truncate(link.iter().position(|&byte| byte == HOLE).unwrap_or(link.len()));
        Ok(link)
    }

    /// Returns the grammar of the text between a name and the arguments, compiled on first use.
    pub(super) fn link(&self) -> Result<&CompiledGrammar> {
        let inner = &*self.0;
        made(&inner.link, || inner.compiler.compiler().compile(&inner.format.link(&inner.options)?))
    }

    /// Returns the section after the name of a tool, compiled if it is not in the compiler's cache.
    pub(super) fn section(&self, rank: u32, after: After, limits: &[Limited]) -> Result<Arc<Section>> {
        let inner = &*self.0;
        let tool = &inner.set.tools()[inner.names.tool(rank)];
        let limited = limited_schema(&tool.name, &tool.arguments, limits).map(Schema::from);
        let arguments = limited.as_ref().unwrap_or(&tool.arguments);
        inner.compiler.section(&inner.context, arguments, after, || {
            lowering::after_name(inner.compiler.compiler(), &inner.format, &inner.options, arguments, after)
        })
    }

    /// Returns the memory of the names and of the compiled text before and after them, in bytes, without the set, the
    /// compiled arguments, and the second grammar of the text before names, in which any bytes may be in place of a
    /// name.
    pub fn memory_usage(&self) -> usize {
        let starts = self.0.starts.iter().filter_map(OnceLock::get);
        let sections: usize = starts.map(|start| start.memory_usage()).sum();
        self.0.names.memory_usage() + sections + self.0.link.get().map_or(0, CompiledGrammar::memory_usage)
    }
}

/// A name as the format writes it in calls.
struct WrittenName<'n>(Cow<'n, str>);

impl AsRef<[u8]> for WrittenName<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns the value of a cell, computed on first use. If two threads compute the value, one of the two results is
/// kept.
fn made<T>(place: &OnceLock<T>, make: impl FnOnce() -> Result<T>) -> Result<&T> {
    if let Some(known) = place.get() {
        return Ok(known);
    }
    let new = make()?;
    Ok(place.get_or_init(|| new))
}
