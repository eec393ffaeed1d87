//! Finite automata, pushdown automata and context-free grammars over named symbols, in TOML or JSON.
//!
//! A spec names its symbols and the text that each of them spells. It describes a machine (`dfa`, `nfa`, `pda`) or
//! rules (`cfg`) over the symbols. Its language consists of the texts of the words that the machine accepts or the
//! rules derive:
//!
//! ```
//! use grammata::syntax::automaton_spec::{Options, compile};
//!
//! let spec = r#"
//!     kind = "pda"
//!     symbols = { open = "(", close = ")" }
//!     start = "in"
//!     accept_by = "empty-stack"
//!     transitions = [
//!         { from = "in", input = "open", push = ["paren"], to = "in" },
//!         { from = "in", input = "close", pop = "paren", to = "in" },
//!     ]
//! "#;
//! let compiled = compile(spec, &Options::default())?;
//! assert!(compiled.warnings.is_empty());
//! assert_eq!(compiled.grammar.rules().len(), 2);
//! # Ok::<(), grammata::Error>(())
//! ```
//!
//! # Fields
//! - `kind` is `dfa`, `nfa`, `pda` or `cfg`; `name`, `description` and `source` are for people to read.
//! - `symbols` is a table from symbols to their texts, or a list of symbols that spell their own names. A symbol `{
//!   token = … }` is a token that is matched by its id: a name `"<think>"`, an id `1000`, a list of names, ids and
//!   ranges `["<a>", 7, [10, 19]]`; all tokens except some and the end-of-sequence tokens, `{ any_but = […] }`; or all
//!   special tokens except these, `{ special_but = […] }`. Limits and requirements are not supported in a spec that
//!   uses such symbols, and plans cannot have them. A symbol `{ free_text = { until, without, max_chars, max_bytes,
//!   max_tokens } }` spells any text that ends with the first occurrence of a string of `until` and has no string of
//!   `without`. Without `until` it may end after every character. The other fields bound its characters, its UTF-8
//!   bytes, and the tokens that begin in it. The restrictions on tokens apply to free text too.
//! - `separator` is the text between two symbols of a word, `prefix` the text before and `suffix` the text after the
//!   word; the default of each is the empty text.
//! - `start` is the start state or the start symbol; `accepting` lists the accepting states.
//! - `transitions` lists `{ from, input, pop, push, to }`. `input` is a symbol or a list of symbols, any of which may
//!   be read; without it, nothing is read. Without `pop`, the transition applies to any stack, even an empty one, and
//!   removes nothing; with it, the named stack symbol must be on top and is removed. Then `push` (one stack symbol or a
//!   list) is pushed in order: the first symbol is pushed first and is the deepest. Only a `pda` has `pop` and `push`.
//! - `stack_start` is the only stack symbol at the start; without it the stack is empty.
//! - `accept_by` (`pda`) is `final-state` (the default: an accepting state with any stack), `empty-stack` (any state),
//!   `both` or `either`.
//! - `states` may list the states. Without it they are the accepting states and those that some transition leaves; a
//!   transition to any other state is an error, and so is any other start state.
//! - `rules` (`cfg`) is a table from heads to lists of bodies, or a list of `{ head, body }`. A body is a list of
//!   names, or a text of names separated by white space; the empty body derives the empty word.
//! - `limits` has `at_most_once` and `exactly_once`, lists of names: *each* name may, or must, be in a word once; and
//!   `at_most` and `at_least`, tables from names to numbers. A name is that of a symbol or of a group, whose symbols
//!   are counted together. Limits add no states to the machine: occurrences are counted separately.
//!
//! # Plans
//! The symbols of a plan are its actions. A symbol may be a table with its `text` and further fields: `label`, `cost`,
//! `duration`, `inputs`, `outputs`, `group` (one name or several), `aliases` (alternative texts), and `set`: `{ of =
//! [texts], min, max, separator, empty, aliases }` makes the symbol set-valued; `{}` in its text is replaced by a
//! subset of the set. `phrases` lists `{ text, steps }`: a line of a written plan that means several steps, or none.
//! `arguments` is a JSON Schema (or the path of a file with one, below [`Options::folder`]): `{}` in the text is
//! replaced by JSON that is valid under the schema. `direction` says whether words list the steps from the first
//! (`forward`) or from the last (`backward`); `limits.max_cost` bounds the cost of a plan; `[templates]` has the texts
//! of questions. See [`Symbol`] and [`Templates`], and `docs/plans.md`.
//!
//! # Requirements, effects, outcomes
//! `requires` is the condition before a symbol: a formula `"shower and (coffee or tea) and not snooze"` with `and`,
//! `or`, `not`, parentheses and `fact == value`, `fact != value`; or a list of names that must all hold, where an inner
//! list means that any of its names must hold. The name of a symbol holds after the symbol; of a group, after any of
//! its symbols; of a flag, while it is true; of a fact, while it has a value. Names with spaces are quoted.
//!
//! `effects = { set, clear }` changes flags and facts. `set` is a flag, a list of flags, or a table from flags and
//! facts to values. `clear` makes flags false, removes the values of facts, and makes symbols count as if they had not
//! occurred. `outcomes` is a table from names to such effects, or a list of names. The environment chooses one of them
//! after each occurrence. Only plans have outcomes. `facts` declares flags (`paid = false`), facts with values (`state
//! = ["open", "shut"]`, initially without a value), or either in the long form `{ values, initial }`. Flags set by some
//! effect need not be declared. In a spec with backward direction, formulas consist of symbols joined by `and`, and
//! effects and outcomes are not supported.
//!
//! # Parameters
//! A file whose first line that is neither empty nor a comment begins a `[parameters]` (or `[templates]`) table has a
//! header, which ends at the first line `# ---`. Each parameter is a table with a `default` and, optionally,
//! `description`, `type` (`integer`, `boolean`, `string`, `list`; by default that of the default value), `min` and
//! `max` (integers), and `allowed` (a list of values). After the header comes a template in Jinja's notation
//! ([`minijinja`]), rendered with the parameters' values:
//!
//! ```toml
//! [parameters]
//! last = { default = 2, min = 1, max = 9, description = "the last digit" }
//! # ---
//! kind = "cfg"
//! symbols = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]
//! start = "digit"
//! [rules]
//! digit = [
//!     "0",
//!     # {% for d in range(1, last + 1) %}
//!     "{{ d }}",
//!     # {% endfor %}
//! ]
//! ```
//!
//! Tags may be in comments, as here, so that the file stays valid TOML. Text that a template prints is escaped for a
//! quoted string of TOML or JSON, and a list is printed as a list of such strings, so no value of a parameter can
//! change the spec around it. The language is Jinja without other files (`include`, `import`, `extends`, `block`);
//! `Limits::template_work` bounds the cost of rendering.

mod actions;
mod arguments;
mod context_free;
mod document;
mod errors;
mod facts;
mod fields;
mod finite;
mod formula;
mod free_text;
mod kind;
mod limits;
mod lower;
mod parameter;
mod parameters;
mod phrases;
mod place;
mod productions;
mod pushdown;
mod relaxed;
mod requirements;
mod resolve;
mod rule_errors;
mod rules;
mod schema;
mod separate;
mod spec;
mod symbol;
mod template;
mod token;
mod unique;
mod warnings;

pub use actions::{ActionClass, Codes};
pub use arguments::Arguments;
pub use document::{Direction, Templates};
pub use facts::{About, ActionRules, Assignment, Facts, OutcomeRules, Variable};
pub use formula::Formula;
pub use kind::Kind;
pub use limits::Limit;
pub use lower::{spelled, subset};
pub use parameter::{Parameter, ParameterType, ParameterValue};
pub use phrases::Phrase;
pub use productions::{Item, Productions};
pub use relaxed::Rule;
pub use schema::schema;
pub use spec::Spec;
pub use symbol::{Symbol, SymbolSet};

use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::Grammar;
use crate::limits::Limits;
use std::collections::BTreeMap;

/// The notation in which a spec is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Format {
    /// TOML 1.1.
    #[default]
    Toml,
    /// JSON (RFC 8259). A header with parameters is still TOML.
    Json,
}

impl From<Format> for crate::diagnostic::Notation {
    fn from(format: Format) -> crate::diagnostic::Notation {
        match format {
            Format::Toml => crate::diagnostic::Notation::Toml,
            Format::Json => crate::diagnostic::Notation::Json,
        }
    }
}

grammata_base::options! {
    /// Options for compiling a spec.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
    #[non_exhaustive]
    pub struct Options {
        /// The notation of the spec, after its header. Default: TOML.
        pub format: Format,
        /// Values of the spec's parameters, by name, each as text: an integer in decimal, `true` or `false`, a text
        /// unquoted, a list as texts separated by commas. Default: none.
        pub parameters: BTreeMap<String, String>,
        /// The folder of the spec. Paths of files with schemas of arguments are relative to it. Default: none; then all
        /// schemas must be in the spec itself.
        pub folder: Option<std::path::PathBuf>,
        /// Limits on the source, its templates and formulas, the schemas of arguments, and the grammar. Default:
        /// [`Limits::default`].
        pub limits: Limits,
    }
}

/// The result of compiling a spec.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The kind of machine, or `cfg` for rules.
    pub kind: Kind,
    /// The spec's `name`; `None` if it has none.
    pub name: Option<String>,
    /// The spec's `description`; `None` if it has none.
    pub description: Option<String>,
    /// The spec's `source`: where it comes from; `None` if it does not say so.
    pub source: Option<String>,
    /// The symbols, in the spec's order, including unused ones.
    pub symbols: Vec<Symbol>,
    /// The declared parameters in the spec's order, with the values used.
    pub parameters: Vec<Parameter>,
    /// The grammar of the spec's texts.
    pub grammar: Grammar,
    /// Warnings, which do not prevent compilation: unreachable states and rules, states of a finite automaton from
    /// which no accepting state is reached, symbols that are in no word, inputs that no symbol produces, values that
    /// formulas compare with but nothing assigns, facts that nothing uses. In a spec with a header, symbols that are in
    /// no word, and states from which no accepting state is reached, are not reported: parameters may leave them out on
    /// purpose.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles a spec to the grammar of its texts. Use [`Spec`] if you need more of a spec than its texts.
///
/// # Errors
/// - `automaton-spec/…` for anything unreadable or invalid, with its place and what is allowed.
/// - The errors of the schema of a symbol's arguments, at its place in the spec.
/// - `grammar/…`: the grammar of a symbol's free text cannot be built.
/// - `limit/exceeded` with the limit.
pub fn compile(source: &str, options: &Options) -> Result<Compiled> {
    Spec::read(source, options)?.compile()
}

/// The parameters that a spec declares, in its order, with their default values; empty if it has no header.
///
/// # Errors
/// `limit/exceeded` if the spec is longer than `source_bytes`; `automaton-spec/…` for an invalid header.
pub fn parameters(source: &str, limits: &Limits) -> Result<Vec<Parameter>> {
    limits.check_source(source)?;
    match parameters::split(source)? {
        (Some(header), _) => parameters::read(header).map(|(parameters, _)| parameters),
        (None, _) => Ok(Vec::new()),
    }
}
