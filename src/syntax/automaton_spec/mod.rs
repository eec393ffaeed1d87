//! Finite automata, pushdown automata and context-free grammars over named symbols, in TOML or JSON.
//!
//! A spec names its symbols and the text that each spells, and a machine (`dfa`, `nfa`, `pda`) or rules
//! (`cfg`) over the symbols. Its language is the texts of the words that the machine accepts:
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
//! - `kind` is `dfa`, `nfa`, `pda` or `cfg`; `name`, `description` and `source` are for people.
//! - `symbols` is a table from symbols to their texts, or a list of symbols that spell their own names. A symbol
//!   `{ token = … }` is a token that comes by its id: a name `"<think>"`, an id `1000`, a list of names, ids and ranges
//!   `["<a>", 7, [10, 19]]`, or all but some, `{ any_but = […] }` and `{ special_but = […] }`. Limits and requirements
//!   cannot be checked on words with tokens, and plans have none. A symbol `{ free_text = { until, without, max_chars,
//!   max_bytes } }` spells any text up to the first of some strings, or with none to its end; the same holds for it.
//! - `separator` stands between two symbols of a word, `prefix` before and `suffix` after the word; each is
//!   empty unless given.
//! - `start` is the start state or the start symbol; `accepting` lists the accepting states.
//! - `transitions` lists `{ from, input, pop, push, to }`. `input` is a symbol or a list of symbols (any of
//!   which may be read); without it, nothing is read. Without `pop` the transition is open whatever the stack
//!   holds, an empty stack included, and takes nothing off it; with it, the named stack symbol must be on
//!   top and is taken off. Then `push` (one stack symbol or a list) is put on the stack in order: the first
//!   is pushed first and so lies deepest. Only a `pda` has `pop` and `push`.
//! - `stack_start` is the one stack symbol on the stack at the start; without it the stack is empty.
//! - `accept_by` (`pda`) is `final-state` (the default: an accepting state, whatever the stack holds),
//!   `empty-stack` (any state), `both` or `either`.
//! - `states` may list the states. Without it they are the accepting states and those that some
//!   transition leaves; a transition to any other is an error.
//! - `rules` (`cfg`) is a table from heads to lists of bodies, or a list of `{ head, body }`. A body is a
//!   list of names, or one text that is split at white space; the empty body derives the empty word.
//! - `limits` has `at_most_once` and `exactly_once`: lists of names, *each* of which may, or must, be in a word only
//!   once; and `at_most` and `at_least`: tables from names to numbers. A name is a symbol's or a group's, whose symbols
//!   are counted together. They cost no states: the automaton keeps count of what it has seen.
//!
//! # Plans
//! The symbols of a plan are its actions. A symbol may be a table with its `text` and what else is to be said of it:
//! `label`, `cost`, `duration`, `inputs`, `outputs`, `group` (a name or several), `aliases` (other texts of it), and
//! `set`: `{ of = [texts], min, max, separator, empty }` makes it set-valued; `{}` in its text stands for the set.
//! `arguments` is a JSON Schema (or the path of a file with one, below [`Options::folder`]): its text holds JSON by the
//! schema where `{}` is. `direction` says whether words name the steps from the first
//! (`forward`) or from the last (`backward`); `limits.max_cost` bounds what a plan costs; `[templates]` has the texts of
//! questions. See [`Symbol`], [`Templates`] and the module `plan`.
//!
//! # Requirements, effects, outcomes
//! `requires` says what must hold before a symbol: a formula `"shower and (coffee or tea) and not snooze"` with `and`,
//! `or`, `not`, parentheses and `fact == value`, `fact != value`; or a list of names, all of which must hold, where of
//! names in an inner list any must. The name of a symbol holds once it came, that of a group once a symbol of it came,
//! that of a flag while it is true, that of a fact while it has a value. Names with spaces are between quotes.
//!
//! `effects = { set, clear }` changes flags and facts: `set` is a flag, a list of flags, or a table from flags and facts
//! to values; `clear` makes flags false, takes facts their value, and lets symbols count as if they had not come.
//! `outcomes` is a table from names to such effects (or a list of names), of which the world chooses one after each
//! time; only plans have them. `facts` declares flags (`paid = false`), facts with values (`state = ["open", "shut"]`,
//! which has none at the start) or both at length: `{ values, initial }`. Flags that some effect sets need not be
//! declared. A spec that plans backwards has only `requires` with symbols and `and`.
//!
//! # Parameters
//! A file that begins with a `[parameters]` (or `[templates]`) table has a header, which ends at the first line `# ---`. Each
//! parameter is a table with a `default` and, optionally, `description`, `type` (`integer`, `boolean`,
//! `string`, `list`; else the default's), `min` and `max` (integers), and `allowed` (a list of values). What
//! follows the header is a template in Jinja's notation ([`minijinja`]), rendered with the parameters' values:
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
//! Tags may stand in comments, as here, so that the file stays readable as TOML. A text that a template
//! puts out is escaped for a quoted string of TOML or JSON, and a list is put out as a list of such strings,
//! so no value of a parameter can change the spec around it. The language is Jinja without other files (`include`,
//! `import`, `extends`, `block`); what rendering may cost is bounded by `Limits::template_work`.

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

/// The notation of a spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Format {
    /// TOML 1.1.
    #[default]
    Toml,
    /// JSON (RFC 8259). A header with parameters is TOML all the same.
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

/// How to read a spec.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
#[non_exhaustive]
pub struct Options {
    /// The notation. Default: TOML.
    pub format: Format,
    /// Values for the spec's parameters, by name, each written as text: an integer in decimal, `true` or
    /// `false`, a text as it is, a list as texts between commas. Default: none.
    pub parameters: BTreeMap<String, String>,
    /// The folder of the spec, in which the files with schemas of arguments are. Default: none, so that schemas are in
    /// the spec itself.
    pub folder: Option<std::path::PathBuf>,
    /// The limits. Default: [`Limits::default`].
    pub limits: Limits,
}

grammata_base::setters!(Options {
    format: Format,
    parameters: BTreeMap<String, String>,
    folder: Option<std::path::PathBuf>,
    limits: Limits,
});

/// A spec, compiled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compiled {
    /// The kind of spec.
    pub kind: Kind,
    /// The spec's `name`.
    pub name: Option<String>,
    /// The spec's `description`.
    pub description: Option<String>,
    /// Where the spec is from: its `source`.
    pub source: Option<String>,
    /// The symbols, in the spec's order.
    pub symbols: Vec<Symbol>,
    /// The parameters with the values that were used.
    pub parameters: Vec<Parameter>,
    /// The grammar.
    pub grammar: Grammar,
    /// What is odd about the spec but does not keep it from working: unreachable states and rules, states without an
    /// end, symbols that are in no word, inputs that no symbol makes.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a spec and builds its grammar. [`Spec`] is for those who need more of a spec than its texts.
///
/// # Errors
/// `automaton-spec/…` says what cannot be read or is not as it must be, where, and what is allowed;
/// `limit/exceeded` names the limit.
pub fn compile(source: &str, options: &Options) -> Result<Compiled> {
    Spec::read(source, options)?.compile()
}

/// The parameters that a spec declares, with their defaults as values; none if it has no header.
///
/// # Errors
/// As [`compile`], for the header.
pub fn parameters(source: &str, limits: &Limits) -> Result<Vec<Parameter>> {
    limits.check_source(source)?;
    match parameters::split(source)? {
        (Some(header), _) => parameters::read(header).map(|(parameters, _)| parameters),
        (None, _) => Ok(Vec::new()),
    }
}
