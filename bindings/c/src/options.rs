//! Options as JSON text, with the names of the library's own options. Options that are left out have their default.

use crate::failure::{self, Result};
use crate::raw::Call;
use engine::Limits;
use engine::diagnostic::Notation;
use engine::explore::ExploreBudget;
use engine::syntax::automaton_spec;
use engine::syntax::{self, Source, gbnf, json_schema, lark, regex, structural_tag};
use engine::vocabulary::{AddedTokens, LoadOptions, TokenId};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::c_char;
use std::path::PathBuf;

/// Reads options from a string that ends with NUL; NULL gives the defaults.
pub(crate) fn read<T: DeserializeOwned + Default>(call: &Call, options: *const c_char) -> Result<T> {
    let Some(text) = call.maybe_text(options, "options")? else { return Ok(T::default()) };
    Limits::default().check_source(text)?;
    serde_json::from_str(text).map_err(|error| failure::options(text, &error))
}

/// Returns a text as a source in the notation of this name, with the given options, and the notation of the places in
/// its diagnostics.
pub(crate) fn source(
    call: &Call,
    notation: &str,
    text: &str,
    options: *const c_char,
    limits: &Limits,
) -> Result<(Source, Notation)> {
    let known = syntax::Notation::ALL.into_iter().find(|known| known.id() == notation);
    let text = text.to_owned();
    Ok(match known {
        Some(syntax::Notation::JsonSchema) => {
            let options = read::<SchemaOptions>(call, options)?.with(limits);
            (Source::JsonSchema(text, options), Notation::Json)
        }
        Some(syntax::Notation::Regex) => {
            (Source::Regex(text, read::<RegexOptions>(call, options)?.with(limits)), Notation::Text)
        }
        Some(syntax::Notation::Gbnf) => {
            (Source::Gbnf(text, read::<GbnfOptions>(call, options)?.with(limits)), Notation::Gbnf)
        }
        Some(syntax::Notation::StructuralTag) => {
            (Source::StructuralTag(text, tag_options(call, options, limits)?), Notation::Json)
        }
        Some(syntax::Notation::Lark) => {
            (Source::Lark(text, read::<LarkOptions>(call, options)?.with(limits)), Notation::Text)
        }
        Some(syntax::Notation::Spec) => {
            let options = read::<SpecOptions>(call, options)?;
            let notation = options.format.into();
            (Source::Spec(text, options.with(limits)), notation)
        }
        _ => return Err(failure::notation(notation)),
    })
}

/// The options of a structural tag: those of its schemas, and `grammars`, the embedded grammars by name.
fn tag_options(call: &Call, options: *const c_char, limits: &Limits) -> Result<structural_tag::Options> {
    let mut given = read::<Map<String, Value>>(call, options)?;
    let embedded = given.remove("grammars").unwrap_or_else(|| Value::Object(Map::new()));
    let wrong = |error: serde_json::Error| {
        let text = call.maybe_text(options, "options").ok().flatten().unwrap_or_default();
        failure::options(text, &error)
    };
    let embedded: BTreeMap<String, EmbeddedGrammar> = serde_json::from_value(embedded).map_err(wrong)?;
    let mut schemas: SchemaOptions = serde_json::from_value(Value::Object(given)).map_err(wrong)?;
    schemas.undeclared.get_or_insert(json_schema::Undeclared::Refused);
    let mut grammars = BTreeMap::new();
    for (name, EmbeddedGrammar { notation, text }) in embedded {
        let (source, _) = source(call, &notation, &text, std::ptr::null(), limits)?;
        grammars.insert(name, syntax::parse(&source)?.grammar);
    }
    Ok(structural_tag::Options::default().json_schema(schemas.with(limits)).grammars(grammars))
}

/// A grammar embedded in a structural tag, with the default options of its notation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EmbeddedGrammar {
    notation: String,
    text: String,
}

/// Options of a sampler of llama.cpp.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LlamaOptions {
    pub(crate) budget: Option<usize>,
}

/// Options of exploring: its bounds, and documents to explore first.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ExploreOptions {
    pub(crate) documents: Vec<String>,
    states: Option<usize>,
    work: Option<u64>,
}

impl ExploreOptions {
    pub(crate) fn budget(&self) -> ExploreBudget {
        budget(self.states, self.work)
    }
}

fn budget(states: Option<usize>, work: Option<u64>) -> ExploreBudget {
    let mut budget = ExploreBudget::default();
    budget.states = states.unwrap_or(budget.states);
    budget.work = work.unwrap_or(budget.work);
    budget
}

/// Options of opening a mask file or an archive.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FileOptions {
    pub(crate) limits: Limits,
}

/// Options of a cache.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CacheOptions {
    pub(crate) max_bytes: usize,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) max_file_bytes: u64,
    states: Option<usize>,
    work: Option<u64>,
}

impl Default for CacheOptions {
    fn default() -> CacheOptions {
        CacheOptions { max_bytes: 256 << 20, folder: None, max_file_bytes: 1 << 30, states: None, work: None }
    }
}

impl CacheOptions {
    pub(crate) fn budget(&self) -> ExploreBudget {
        budget(self.states, self.work)
    }
}

/// The fields of [`LoadOptions`] as JSON: token ids are numbers, special tokens an object.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct VocabularyOptions {
    pub(crate) eos: Vec<u32>,
    /// Special tokens in addition to those of the file: ids by name.
    pub(crate) specials: BTreeMap<String, u32>,
    pub(crate) added: AddedTokens,
    pub(crate) width: Option<usize>,
    pub(crate) limits: Limits,
}

impl From<VocabularyOptions> for LoadOptions {
    fn from(options: VocabularyOptions) -> LoadOptions {
        let specials = options.specials.into_iter();
        let mut load = LoadOptions::default();
        load.eos = options.eos.into_iter().map(TokenId::new).collect();
        load.specials = specials.map(|(name, id)| (name, TokenId::new(id))).collect();
        load.added = options.added;
        load.width = options.width;
        load.limits = options.limits;
        load
    }
}

/// Options of a compiler.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CompilerOptions {
    pub(crate) limits: Limits,
}

/// Options of a JSON Schema.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SchemaOptions {
    /// Whether defaults are those for the output of a language model.
    generation: bool,
    whitespace: Option<json_schema::Whitespace>,
    property_order: Option<json_schema::PropertyOrder>,
    formats: Option<json_schema::Formats>,
    undeclared: Option<json_schema::Undeclared>,
    numbers: Option<json_schema::Numbers>,
    max_digits: Option<u32>,
    documents: BTreeMap<String, Value>,
}

impl SchemaOptions {
    pub(crate) fn with(self, limits: &Limits) -> json_schema::Options {
        let mut options = match self.generation {
            true => json_schema::Options::generation(),
            false => json_schema::Options::default(),
        };
        options.limits = limits.clone();
        options.grammars = Some(lark::IN_STRINGS);
        options.whitespace = self.whitespace.unwrap_or(options.whitespace);
        options.property_order = self.property_order.unwrap_or(options.property_order);
        options.formats = self.formats.unwrap_or(options.formats);
        options.undeclared = self.undeclared.unwrap_or(options.undeclared);
        options.numbers = self.numbers.unwrap_or(options.numbers);
        options.max_digits = self.max_digits.or(options.max_digits);
        for (uri, document) in self.documents {
            options.documents.insert(uri, document);
        }
        options
    }
}

/// Options of a regular expression.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RegexOptions {
    dialect: regex::Dialect,
    unicode: Option<bool>,
    case_insensitive: bool,
    dot_matches_newline: bool,
    ascii_classes: bool,
    search: bool,
}

impl RegexOptions {
    pub(crate) fn with(self, limits: &Limits) -> regex::Options {
        let mut options = regex::Options::default();
        options.dialect = self.dialect;
        options.unicode = self.unicode.unwrap_or(options.unicode);
        options.case_insensitive = self.case_insensitive;
        options.dot_matches_newline = self.dot_matches_newline;
        options.ascii_classes = self.ascii_classes;
        options.search = self.search;
        options.limits = limits.clone();
        options
    }
}

/// Options of a GBNF grammar.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct GbnfOptions {
    root: Option<String>,
}

impl GbnfOptions {
    pub(crate) fn with(self, limits: &Limits) -> gbnf::Options {
        let mut options = gbnf::Options::default();
        options.root = self.root.unwrap_or(options.root);
        options.limits = limits.clone();
        options
    }
}

/// Options of a Lark grammar.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct LarkOptions {
    start: Option<String>,
    dialect: regex::Dialect,
}

impl LarkOptions {
    pub(crate) fn with(self, limits: &Limits) -> lark::Options {
        let mut options = lark::Options::default().limits(limits.clone());
        options.start = self.start.unwrap_or(options.start);
        options.dialect = self.dialect;
        options
    }
}

/// Options of an automaton spec.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SpecOptions {
    format: automaton_spec::Format,
    parameters: BTreeMap<String, String>,
    folder: Option<PathBuf>,
}

impl SpecOptions {
    pub(crate) fn with(self, limits: &Limits) -> automaton_spec::Options {
        let mut options = automaton_spec::Options::default();
        options.format = self.format;
        options.parameters = self.parameters;
        options.folder = self.folder;
        options.limits = limits.clone();
        options
    }
}
