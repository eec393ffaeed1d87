//! The limits on the cost of input from outside that callers can set: unit, default, and what each one guards.

use crate::diagnostic::Diagnostic;
use crate::error::{Error, ErrorKind};
use crate::setters;
use kind::each_limit;

pub(crate) mod kind;

pub use kind::LimitKind;

/// Bytes per unit of [`Limits::plan_states`] that all states of a plan together may take. Data computed from the states
/// may take as many again.
const STATE_BYTES: usize = 200;

/// Limits on size, depth, states, work and memory. Exceeding a limit is an error of kind [`ErrorKind::Limit`] that
/// names the limit, except where a field says otherwise. It never causes a panic, an abort or unbounded memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one source text, such as a grammar, a schema, a spec, a template or a document of tools, and of one
    /// text rendered from a template. Default 16 MiB.
    pub source_bytes: usize,
    /// Nesting depth of a source text (groups, arrays, sub-schemas). A JSON text is nested at most 127 deep whatever
    /// the limit. Default 200,000.
    pub source_depth: usize,
    /// Bytes of one regular expression; its syntax tree takes some hundred times as many. Default 1 MiB.
    pub pattern_bytes: usize,
    /// Expressions in one grammar. Default 4,000,000; some 40 bytes each.
    pub grammar_nodes: usize,
    /// States of the lowered automaton. Default 8,000,000; some 20 bytes each.
    pub automaton_states: usize,
    /// Bytes of lazily computed tables and masks kept for one compiled grammar. Default 256 MiB. When the limit is
    /// reached, the tables are dropped and rebuilt on demand; a step that does not fit is an error. Values above 8 GiB
    /// count as 8 GiB less four bytes, the range of ids.
    pub cache_bytes: usize,
    /// Configurations examined to show that a lockstep (an intersection or complement) can still be completed. The
    /// limit also bounds the searches for another item in a list of different items, and for another name in an object.
    /// Default 200,000.
    pub lockstep_search: usize,
    /// Places examined in each search for a shortest completion: configurations in a search over bytes (and as many
    /// again in a quick search for any completion), nodes of the token trie in a search over tokens. Beyond the limit a
    /// distance is `AtMost` or `Unknown`. Default 16,384.
    pub completion_search: usize,
    /// Decisions made to find out whether an object, or another list of members with conditions, can be finished. A
    /// decision tries one entry or alternative both ways. A list that might take more after some of its members is
    /// refused when its grammar is built. Default 16,384; each decision costs up to as much time as reading the
    /// conditions.
    pub condition_search: usize,
    /// Steps of work of one compilation, in addition to [`compile_work_per_byte`](Limits::compile_work_per_byte). A
    /// step is one iteration of a loop whose length depends on the input: a state, an expression, a pair of
    /// alternatives, a configuration; some 20 to 2,000 instructions. Steps are counted, never timed, so that a grammar
    /// compiles everywhere or nowhere. Default 20,000,000.
    pub compile_work: usize,
    /// Additional steps of work of one compilation per byte of its source. When a grammar is compiled, each of its
    /// expressions counts as a byte. Default 20.
    pub compile_work_per_byte: usize,
    /// Steps of work of one mask, or of one accepted token or byte string: configurations computed and nodes of the
    /// token trie visited. This includes lowering a part of the grammar when it is first entered. Default 20,000,000.
    pub mask_work: usize,
    /// Units of work to render a template once: bytes of text produced or compared, 64 for each instruction and each
    /// value produced or visited, and more for lists, mappings, macros and sorting. Units are never returned, so the
    /// limit bounds the memory of a template's values as well as its time. Default 256 Mi: a second or two, and some
    /// hundred times what a prompt of a megabyte takes.
    pub template_work: usize,
    /// Bytes of one formula of `requires` in a spec. Formulas are evaluated at every step of a plan. Default 16 KiB.
    pub formula_bytes: usize,
    /// States of the automaton of a plan, of flows or of a procedure, and entries of its tables. The limit also bounds
    /// memory: all states together may take 200 bytes per unit of the limit, and data computed from them, such as
    /// counts of plans, may take as much again. Default 2,000,000; 400 MB.
    pub plan_states: usize,
    /// APIs and answers of one procedure. Each of them stores one bit for every other one: whether it requires the
    /// other one, directly or not. Default 16,384.
    pub procedure_nodes: usize,
    /// Steps of one count of words, or between two listed words: bytes tried in a configuration. A step takes some 20
    /// to 500 ns. The limit also bounds the configurations found in a search for the shortest arguments of an action of
    /// a plan. Default 5,000,000.
    pub words_work: usize,
    /// Bytes of a tokenizer file, and of all tokens of a vocabulary together. The largest files in use have some 35 MB.
    /// Default 64 MiB.
    pub tokenizer_bytes: usize,
    /// Tokens in a vocabulary, padding included. The largest in use have some 260,000. Default 1,048,576.
    pub vocabulary_tokens: usize,
    /// Texts in one call of an embedder. Default 262,144; with 384 dimensions some 400 MB of vectors.
    pub embedding_texts: usize,
    /// Bytes of one text for an embedder. The whole text is tokenized, though only its beginning is used. Default 1
    /// MiB.
    pub embedding_text_bytes: usize,
    /// Bytes of a catalogue of tools, of a file of requests, or of a response of a vector database. Default 256 MiB.
    pub catalogue_bytes: usize,
    /// Tools in a catalogue or in a set of tools. Default 1,048,576; with 384 dimensions 1.6 GB of vectors.
    pub catalogue_tools: usize,
    /// Nesting depth of arrays and objects in a document of tools. Default 100; the JSON parser allows 127.
    pub tool_depth: usize,
    /// Bytes of one token. Default 65,536.
    pub token_bytes: usize,
    /// Bytes of the tries built from a vocabulary: 39 for each prefix of a token and, at most, for each byte of the
    /// suffix of a token that leaves a loop language. A vocabulary of 128,000 tokens takes some 30 MB. Default 256 MiB.
    pub trie_bytes: usize,
    /// Bytes of a mask file. Default 1 GiB.
    pub mask_file_bytes: usize,
    /// Bytes of an archive of mask files. An archive on disk is not read as a whole. Default 4 GiB less one byte.
    pub mask_archive_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            source_bytes: 16 << 20,
            source_depth: 200_000,
            pattern_bytes: 1 << 20,
            grammar_nodes: 4_000_000,
            automaton_states: 8_000_000,
            cache_bytes: 256 << 20,
            lockstep_search: 200_000,
            completion_search: 1 << 14,
            condition_search: 1 << 14,
            compile_work: 20_000_000,
            compile_work_per_byte: 20,
            mask_work: 20_000_000,
            template_work: 256 << 20,
            formula_bytes: 1 << 14,
            plan_states: 2_000_000,
            procedure_nodes: 1 << 14,
            words_work: 5_000_000,
            tokenizer_bytes: 64 << 20,
            vocabulary_tokens: 1 << 20,
            embedding_texts: 1 << 18,
            embedding_text_bytes: 1 << 20,
            catalogue_bytes: 256 << 20,
            catalogue_tools: 1 << 20,
            tool_depth: 100,
            token_bytes: 1 << 16,
            trie_bytes: 256 << 20,
            mask_file_bytes: 1 << 30,
            mask_archive_bytes: u32::MAX as usize,
        }
    }
}

macro_rules! fields {
    ($($kind:ident $field:ident,)*) => {
        setters!(Limits { $($field: usize),* });

        impl Limits {
            /// Returns the value of the limit `kind`.
            pub fn get(&self, kind: LimitKind) -> usize {
                match kind {
                    $(LimitKind::$kind => self.$field,)*
                }
            }

            /// Returns the limits with the value of the limit `kind` set to `limit`.
            #[must_use]
            pub fn with(self, kind: LimitKind, limit: usize) -> Limits {
                match kind {
                    $(LimitKind::$kind => self.$field(limit),)*
                }
            }
        }
    };
}

each_limit!(fields);

impl Limits {
    /// Returns the error `limit/exceeded`, which says that a limit of value `limit` was exceeded, and shows what was
    /// `found`.
    pub fn exceeded(kind: LimitKind, limit: usize, found: impl std::fmt::Display) -> Error {
        let diagnostic = Diagnostic::new("limit/exceeded", format!("the limit `{kind}` is exceeded"))
            .limit(kind)
            .found(found.to_string())
            .allowed(format!("at most {limit}"))
            .help(format!("make the input smaller, or raise the limit (`Limits::{kind}`)"));
        Error::new(ErrorKind::Limit, diagnostic)
    }

    /// Fails with `limit/exceeded` if tables of plan states take more than 200 bytes per unit of
    /// [`plan_states`](Limits::plan_states).
    pub fn check_states_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.check_plan_bytes("states", bytes)
    }

    /// Like [`check_states_bytes`](Limits::check_states_bytes), for the other data of plan algorithms: counts and
    /// pending transitions.
    pub fn check_held_bytes(&self, bytes: usize) -> Result<(), Error> {
        self.check_plan_bytes("counts and transitions", bytes)
    }

    fn check_plan_bytes(&self, what: &str, bytes: usize) -> Result<(), Error> {
        match bytes > self.plan_states.saturating_mul(STATE_BYTES) {
            true => {
                let found = format!("{what} of {bytes} bytes, more than {STATE_BYTES} for each state");
                Err(Limits::exceeded(LimitKind::PlanStates, self.plan_states, found))
            }
            false => Ok(()),
        }
    }

    /// Fails with `limit/exceeded` if a source text has more than `source_bytes` bytes.
    pub fn check_source(&self, text: &str) -> Result<(), Error> {
        if text.len() > self.source_bytes {
            return Err(Limits::exceeded(
                LimitKind::SourceBytes,
                self.source_bytes,
                format!("{} bytes", text.len()),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Place;

    #[test]
    fn the_error_of_each_cap_says_which_it_is() {
        for &kind in LimitKind::ALL {
            let error = Limits::exceeded(kind, 7, "more").or_at(&Place::Byte(3)).in_file("a");
            assert_eq!((error.limit(), error.kind()), (Some(kind), ErrorKind::Limit));
            assert!(error.to_string().contains(&format!("`{kind}`")), "{error}");
            let again = Error::new(error.kind(), error.diagnostic().clone());
            assert_eq!(again.limit(), Some(kind));
        }
        assert_eq!(Error::new(ErrorKind::Usage, Diagnostic::new("a/b", "c")).limit(), None);
    }

    #[test]
    fn caps_are_set_by_their_kind() {
        for (index, &kind) in LimitKind::ALL.iter().enumerate() {
            let limits = Limits::default().with(kind, index);
            for &other in LimitKind::ALL {
                let expected = if other == kind { index } else { Limits::default().get(other) };
                assert_eq!(limits.get(other), expected, "{other} with another {kind}");
            }
        }
    }
}
