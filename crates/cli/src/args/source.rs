//! Reads grammars from files, folders and standard input.

use crate::args::limits::LimitArgs;
use crate::args::origin::format_of;
pub(crate) use crate::args::origin::{EXPRESSION, Origin, Text};
use crate::io::errors;
pub use crate::io::paths::{is_standard_input, name_of};
use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use grammata::automaton::Automaton;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{Error, Result};
use grammata::grammar::Grammar;
use grammata::limits::Limits;
use grammata::mask_file::{self, MaskFile};
use grammata::syntax::json_schema::{Formats, Numbers, PropertyOrder, Undeclared};
use grammata::syntax::{
    Notation, Parsed, Source, automaton_spec, gbnf, json_schema, lark, parse, regex, structural_tag,
};
use grammata_base::files;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which grammar, and how to read it.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// The grammar: a file, a folder of a grammar, or `-` for standard input
    #[arg(value_name = "GRAMMAR", required_unless_present = "expression")]
    pub(crate) grammar: Option<PathBuf>,
    /// The grammar itself, in place of a file
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true, help_heading = "Grammar")]
    pub(crate) expression: Option<String>,
    /// The kind of the grammar; by default the name or the text shows it
    #[arg(long, value_enum, help_heading = "Grammar")]
    kind: Option<Kind>,
    /// Sets a parameter of an automaton spec; may be repeated
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = name_and_value, help_heading = "Grammar")]
    parameters: Vec<(String, String)>,
    /// Whitespace between the tokens of JSON under a schema: `free`, `compact`, `max=N` (at most N
    /// characters), `short` (a space, or a line feed and at most 32 blanks), `spaced` (one space after each comma and
    /// colon) or `pattern=REGEX` [default: free; of generate: short]
    #[arg(long, value_name = "WHITESPACE", value_parser = whitespace, hide_short_help = true, help_heading = "Grammar")]
    whitespace: Option<json_schema::Whitespace>,
    /// Order of the members of JSON objects under a schema [default: declared]
    #[arg(long, value_parser = one_of(ORDERS), hide_short_help = true, help_heading = "Grammar")]
    property_order: Option<PropertyOrder>,
    /// Spelling of numbers under a schema [default: any]
    #[arg(long, value_parser = one_of(NUMBERS), hide_short_help = true, help_heading = "Grammar")]
    numbers: Option<Numbers>,
    /// The most digits in each run of digits of a number under a schema, `none` for no bound [default: none; of
    /// generate: 40]
    #[arg(long, value_name = "N", value_parser = max_digits, hide_short_help = true, help_heading = "Grammar")]
    max_digits: Option<MaxDigits>,
    /// What `format` means in a schema [default: assert]
    #[arg(long, value_parser = one_of(FORMATS), hide_short_help = true, help_heading = "Grammar")]
    formats: Option<Formats>,
    /// Members that objects may have if a schema declares some and does not mention others [default: allowed; in
    /// structural tags: refused]
    #[arg(long, value_parser = one_of(UNDECLARED), hide_short_help = true, help_heading = "Grammar")]
    undeclared: Option<Undeclared>,
    /// The most bytes that a schema may have [default: 16 MiB]
    #[arg(long, value_name = "BYTES", hide_short_help = true, help_heading = "Grammar")]
    max_schema_bytes: Option<usize>,
    /// The deepest nesting that a schema may have, 127 at most [default: 127]
    #[arg(long, value_name = "LEVELS", hide_short_help = true, help_heading = "Grammar")]
    max_schema_depth: Option<usize>,
    /// A document that references in a schema may name; may be repeated
    #[arg(long = "schema-document", value_name = "URI=FILE", value_parser = uri_and_file, hide_short_help = true, help_heading = "Grammar")]
    documents: Vec<(String, String)>,
    /// The folder of the files that a Lark grammar imports [default: the folder of the grammar]
    #[arg(long, value_name = "FOLDER", hide_short_help = true, help_heading = "Grammar")]
    imports: Option<PathBuf>,
    /// The rule of a GBNF or Lark grammar to start from [default: root; of Lark: start]
    #[arg(long, value_name = "RULE", hide_short_help = true, help_heading = "Grammar")]
    root: Option<String>,
    /// The dialect of a regular expression, and of the patterns in a Lark grammar [default: rust]
    #[arg(long, value_parser = one_of(DIALECTS), hide_short_help = true, help_heading = "Grammar")]
    dialect: Option<regex::Dialect>,
    /// Allow any text before and after a regular expression's match
    #[arg(long, hide_short_help = true, help_heading = "Grammar")]
    search: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
}

/// A notation as a value of `--kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind(pub(crate) Notation);

impl ValueEnum for Kind {
    fn value_variants<'a>() -> &'a [Kind] {
        static ALL: [Kind; Notation::ALL.len()] = {
            let mut all = [Kind(Notation::JsonSchema); Notation::ALL.len()];
            let mut at = 0;
            while at < all.len() {
                all[at] = Kind(Notation::ALL[at]);
                at += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.id()).help(self.0.about()))
    }
}

/// Values of an option: the name of each, what it stands for, and its line of help.
type Values<T, const N: usize> = [(&'static str, T, &'static str); N];

const ORDERS: Values<PropertyOrder, 2> = [
    ("declared", PropertyOrder::Declared, "The schema's order, additional members last"),
    ("any", PropertyOrder::Any, "Every order"),
];
const NUMBERS: Values<Numbers, 2> = [
    ("any", Numbers::Any, "Every spelling that the standard allows"),
    ("plain", Numbers::Plain, "No exponents, integers without a point"),
];
const FORMATS: Values<Formats, 2> =
    [("assert", Formats::Assert, "Strings have the format"), ("annotate", Formats::Annotate, "Nothing")];
const UNDECLARED: Values<Undeclared, 2> =
    [("allowed", Undeclared::Allowed, "Further members"), ("refused", Undeclared::Refused, "None")];
const DIALECTS: Values<regex::Dialect, 2> = [
    ("rust", regex::Dialect::Rust, "Rust's regex crate"),
    ("ecma", regex::Dialect::Ecma262, "ECMA-262 (JavaScript) with the flag `u`"),
];

/// Parses one of some values by its name.
fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    values: Values<T, N>,
) -> impl TypedValueParser<Value = T> {
    let names = values.map(|(name, _, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(names).try_map(move |given| {
        let found = values.iter().find(|(name, ..)| *name == given);
        found.map(|value| value.1).ok_or("it must be one of the names")
    })
}

pub(crate) fn name_and_value(argument: &str) -> std::result::Result<(String, String), String> {
    match argument.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it must be NAME=VALUE".to_owned()),
    }
}

/// A value of `--max-digits`: the maximum length of a run of digits; `None` for no bound.
#[derive(Clone, Copy, Debug)]
struct MaxDigits(Option<u32>);

fn max_digits(argument: &str) -> std::result::Result<MaxDigits, String> {
    match argument.parse() {
        _ if argument == "none" => Ok(MaxDigits(None)),
        Ok(most) if most > 0 => Ok(MaxDigits(Some(most))),
        _ => Err("it must be a number from 1, or `none`".to_owned()),
    }
}

fn whitespace(argument: &str) -> std::result::Result<json_schema::Whitespace, String> {
    let number = |max: &str| max.parse().map_err(|_| "it must be `max=N` with a number".to_owned());
    match argument.split_once('=').unwrap_or((argument, "")) {
        ("free", "") => Ok(json_schema::Whitespace::Free),
        ("compact", "") => Ok(json_schema::Whitespace::Compact),
        ("short", "") => Ok(json_schema::Whitespace::Short),
        ("spaced", "") => Ok(json_schema::Whitespace::Spaced),
        ("max", max) => Ok(json_schema::Whitespace::AtMost(number(max)?)),
        ("pattern", pattern) => Ok(json_schema::Whitespace::Pattern(pattern.to_owned())),
        _ => Err("it must be `free`, `compact`, `short`, `spaced`, `max=N` or `pattern=REGEX`".to_owned()),
    }
}

/// Parses `URI=FILE`. Splits at the last `=`, because a URI may contain `=` and a file name rarely does.
fn uri_and_file(argument: &str) -> std::result::Result<(String, String), String> {
    match argument.rsplit_once('=') {
        Some((uri, file)) if !uri.is_empty() => Ok((uri.to_owned(), file.to_owned())),
        _ => Err("it must be URI=FILE".to_owned()),
    }
}

/// A grammar that was read, with its text and warnings.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) grammar: Grammar,
    pub(crate) origin: Origin,
    warnings: Vec<Diagnostic>,
    pub(crate) text: Text,
    /// The mask file, if the grammar was read from one.
    pub(crate) masks: Option<Arc<MaskFile>>,
}

impl Loaded {
    /// Shows the warnings.
    pub(crate) fn warn(&self) {
        self.text.warn(self.warnings.clone());
    }

    /// Adds the file to an error of the grammar, and the line of its place: that of the root rule if the error has no
    /// place.
    pub(crate) fn locate(&self, error: Error) -> Error {
        let root = &self.grammar.rule(self.grammar.root()).name;
        self.text.locate(error.or_at(&Place::Rule(root.to_string())))
    }

    /// Builds the grammar's automaton.
    pub(crate) fn automaton(&self, limits: &Limits) -> Result<Automaton> {
        Automaton::new(&self.grammar, limits).map_err(|error| self.locate(error))
    }
}

impl SourceArgs {
    /// Returns whether the grammar is read from standard input.
    pub(crate) fn is_standard_input(&self) -> bool {
        is_standard_input(self.path())
    }

    /// Returns the path of the grammar; [`EXPRESSION`] if it is on the command line.
    pub(crate) fn path(&self) -> &Path {
        match (&self.expression, &self.grammar) {
            (None, Some(path)) => path,
            (Some(_), _) | (None, None) => Path::new(EXPRESSION),
        }
    }

    /// Reads the grammar at a path, or that of `--expression` if `path` is [`EXPRESSION`]. Returns its file, text and
    /// kind.
    fn read(&self, path: &Path, limits: &Limits) -> Result<(PathBuf, String, Notation)> {
        let (file, text) = match (&self.expression, &self.grammar) {
            (Some(_), Some(grammar)) => return Err(errors::grammar_twice(grammar)),
            (Some(text), None) if path == Path::new(EXPRESSION) => (path.to_owned(), text.clone()),
            _ => read_text(path, limits)?,
        };
        let kind = match self.kind {
            Some(Kind(kind)) => kind,
            None => kind_of(&file, &text)?,
        };
        Ok((file, text, kind))
    }
}

/// Creates a source from a text, with the options of the command's grammar. Files that the text names are not read.
///
/// # Errors
/// Settings in the text, or documents in the arguments, cannot be read; a parameter or the URI of a document is given
/// twice.
#[cfg(feature = "ort")]
pub(crate) fn of_text(
    args: &SourceArgs,
    kind: Notation,
    text: &str,
    limits: &Limits,
    defaults: json_schema::Options,
) -> Result<Source> {
    source(args, kind, Path::new(EXPRESSION), text, limits, defaults)
}

/// Reads a grammar and compiles it with the front end of its kind.
///
/// # Errors
/// The file cannot be read, a file and `--expression` are given, the kind is unknown, an option has no meaning for the
/// kind, or the front end reports an error.
pub(crate) fn load(args: &SourceArgs, limits: &Limits) -> Result<Loaded> {
    load_with(args, limits, json_schema::Options::default())
}

/// Like [`load`], with the given defaults for JSON Schemas.
///
/// # Errors
/// Errors of [`load`].
pub(crate) fn load_with(
    args: &SourceArgs,
    limits: &Limits,
    defaults: json_schema::Options,
) -> Result<Loaded> {
    load_from(args, args.path(), limits, defaults)
}

/// Like [`load_with`], for a grammar at another path. Without `--kind`, a path with the extension of mask files or of
/// archives is opened as a mask file.
///
/// # Errors
/// Errors of [`load`].
pub(crate) fn load_from(
    args: &SourceArgs,
    path: &Path,
    limits: &Limits,
    defaults: json_schema::Options,
) -> Result<Loaded> {
    let extensions = [mask_file::EXTENSION, mask_file::ARCHIVE_EXTENSION];
    let is_ours =
        path.extension().is_some_and(|found| extensions.iter().any(|extension| found == *extension));
    if args.kind.is_none() && is_ours {
        return load_mask_file(args, path, limits);
    }
    let (file, text, kind) = args.read(path, limits)?;
    check_options(args, Some(kind))?;
    let text = Text::new(&file, text, kind);
    let parsed = source(args, kind, &file, &text.text, limits, defaults).and_then(|source| parse(&source));
    let Parsed { grammar, warnings, .. } = parsed.map_err(|error| text.locate(error))?;
    Ok(Loaded { grammar, origin: Origin::of_notation(path, kind), warnings, text, masks: None })
}

fn load_mask_file(args: &SourceArgs, path: &Path, limits: &Limits) -> Result<Loaded> {
    check_options(args, None)?;
    let masks = MaskFile::open(path, limits).map_err(|error| errors::suggest(error, path))?;
    let grammar = masks.grammar(limits).map_err(|error| error.in_file(&path.display().to_string()))?;
    let text = Text::new(path, String::new(), Notation::Regex);
    let origin = Origin::of_mask_file(path);
    Ok(Loaded { grammar, origin, warnings: Vec::new(), text, masks: Some(Arc::new(masks)) })
}

/// Reads the file of a grammar, given by its path or by its folder. Returns its path and text.
pub(crate) fn read_text(path: &Path, limits: &Limits) -> Result<(PathBuf, String)> {
    let file = locate(path)?;
    let text = text(&file, limits)?;
    Ok((file, text))
}

/// Reads a whole file, or standard input, as UTF-8 text. A byte order mark at the start is removed, because no notation
/// allows it.
///
/// # Errors
/// The file cannot be read, is larger than `limits.source_bytes`, or is not UTF-8.
pub fn text(path: &Path, limits: &Limits) -> Result<String> {
    text_of(path, &read(path, limits.source_bytes)?)
}

/// Returns the bytes of a file as UTF-8 text, without a byte order mark at the start.
///
/// # Errors
/// The bytes are not UTF-8.
pub(crate) fn text_of(path: &Path, bytes: &[u8]) -> Result<String> {
    let text = str::from_utf8(bytes).map_err(|error| match mask_file::is_mask_file(bytes) {
        true => errors::no_text(path),
        false => errors::not_utf8(path, error.valid_up_to()),
    })?;
    Ok(text.strip_prefix('\u{FEFF}').unwrap_or(text).to_owned())
}

/// Returns the file of a grammar: for a folder, the one file in it with a name such as `schema.json`; any other path as
/// it is.
fn locate(path: &Path) -> Result<PathBuf> {
    if is_standard_input(path) || !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let names = Notation::ALL.iter().flat_map(|notation| notation.folder_files()).copied();
    let found: Vec<&str> = names.clone().filter(|name| path.join(name).is_file()).collect();
    match found.as_slice() {
        [] => Err(errors::no_grammar_in_folder(path, &names.collect::<Vec<_>>())),
        [name] => Ok(path.join(name)),
        several => Err(errors::grammars_in_folder(path, several)),
    }
}

/// Reads a whole file, or standard input. The limit also protects against endless input.
///
/// # Errors
/// The file cannot be read, or has more than `limit` bytes.
pub fn read(path: &Path, limit: usize) -> Result<Vec<u8>> {
    let io = |cause| errors::io(path, &cause);
    if !is_standard_input(path) {
        let bytes = files::read(path, limit, |_| errors::too_long(path, limit));
        return bytes.map_err(|error| errors::suggest(error, path));
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    if bytes.len() > limit {
        return Err(errors::too_long(path, limit));
    }
    Ok(bytes)
}

/// Determines the kind of a grammar: by the name of its file, or by its text if that is on the command line or on
/// standard input.
pub(crate) fn kind_of(path: &Path, text: &str) -> Result<Notation> {
    if path == Path::new(EXPRESSION) || is_standard_input(path) {
        return Notation::of_text(text).ok_or_else(errors::unknown_kind_of_text);
    }
    Notation::of_file(path, text).ok_or_else(|| errors::unknown_kind(path))
}

/// Refuses options that do not apply to the kind, so that none is ignored silently. `kind` is `None` for a mask file,
/// to which no option applies.
fn check_options(args: &SourceArgs, kind: Option<Notation>) -> Result<()> {
    let options = [
        (!args.parameters.is_empty(), "--param", Notation::Spec, "automaton specs"),
        (args.whitespace.is_some(), "--whitespace", Notation::JsonSchema, "JSON Schemas and structural tags"),
        (
            args.property_order.is_some(),
            "--property-order",
            Notation::JsonSchema,
            "JSON Schemas and structural tags",
        ),
        (args.numbers.is_some(), "--numbers", Notation::JsonSchema, "JSON Schemas and structural tags"),
        (args.max_digits.is_some(), "--max-digits", Notation::JsonSchema, "JSON Schemas and structural tags"),
        (args.formats.is_some(), "--formats", Notation::JsonSchema, "JSON Schemas and structural tags"),
        (args.undeclared.is_some(), "--undeclared", Notation::JsonSchema, "JSON Schemas and structural tags"),
        (args.max_schema_bytes.is_some(), "--max-schema-bytes", Notation::JsonSchema, "JSON Schemas"),
        (args.max_schema_depth.is_some(), "--max-schema-depth", Notation::JsonSchema, "JSON Schemas"),
        (!args.documents.is_empty(), "--schema-document", Notation::JsonSchema, "JSON Schemas"),
        (args.imports.is_some(), "--imports", Notation::Lark, "Lark grammars"),
        (args.root.is_some(), "--root", Notation::Gbnf, "GBNF and Lark grammars"),
        (args.dialect.is_some(), "--dialect", Notation::Regex, "regular expressions and Lark grammars"),
        (args.search, "--search", Notation::Regex, "regular expressions"),
    ];
    // schemas in a structural tag are read with the options for schemas
    let is_of = |owner: Notation, applies_to: &str| {
        Some(owner) == kind
            || kind == Some(Notation::StructuralTag) && applies_to.contains("structural tags")
            || kind == Some(Notation::Lark) && applies_to.contains("Lark")
    };
    match options.into_iter().find(|&(given, _, owner, applies_to)| given && !is_of(owner, applies_to)) {
        Some((_, option, _, applies_to)) => {
            let kind = kind.map_or_else(|| "mask file".to_owned(), |kind| kind.to_string());
            Err(errors::not_for_kind(option, &kind, applies_to))
        }
        None => Ok(()),
    }
}

/// Creates the source for a file's text, with the given options.
fn source(
    args: &SourceArgs,
    kind: Notation,
    file: &Path,
    text: &str,
    limits: &Limits,
    defaults: json_schema::Options,
) -> Result<Source> {
    let limits = limits.clone();
    let own = kind.in_file(text).to_owned();
    let dialect = args.dialect.unwrap_or_default();
    Ok(match kind {
        Notation::Gbnf => {
            let root = args.root.clone().unwrap_or_else(|| gbnf::Options::default().root);
            Source::Gbnf(own, gbnf::Options::default().root(root).limits(limits))
        }
        Notation::Regex => {
            Source::Regex(own, regex::Options::default().dialect(dialect).search(args.search).limits(limits))
        }
        Notation::JsonSchema => Source::JsonSchema(own, schema_options(args, text, limits, defaults)?),
        Notation::StructuralTag => {
            let defaults = defaults.undeclared(Undeclared::Refused);
            let schemas = schema_options(args, text, limits, defaults)?;
            let options = structural_tag::Options::default().json_schema(schemas);
            Source::StructuralTag(own, options)
        }
        Notation::Lark => {
            let start = args.root.clone().unwrap_or_else(|| lark::Options::default().start);
            let files = imports(args.imports.clone().or_else(|| folder_of(file)), limits.source_bytes);
            let options = lark::Options::default().start(start).dialect(dialect).files(files);
            Source::Lark(own, options.json_schema(defaults).limits(limits))
        }
        Notation::Spec => {
            let parameters = by_name(&args.parameters)?;
            let (format, folder) = (format_of(file, text), folder_of(file));
            Source::Spec(
                own,
                automaton_spec::Options::default()
                    .format(format)
                    .parameters(parameters)
                    .folder(folder)
                    .limits(limits),
            )
        }
    })
}

/// Returns the options of a schema: the defaults, overridden by its own `x-grammata`, overridden by the arguments.
fn schema_options(
    args: &SourceArgs,
    text: &str,
    mut limits: Limits,
    defaults: json_schema::Options,
) -> Result<json_schema::Options> {
    limits.source_bytes = args.max_schema_bytes.unwrap_or(limits.source_bytes);
    limits.source_depth = args.max_schema_depth.unwrap_or(limits.source_depth);
    let documents = documents(&args.documents, &limits)?;
    let own = defaults.limits(limits).with_policies_of(text)?;
    Ok(json_schema::Options::default()
        .whitespace(args.whitespace.clone().unwrap_or(own.whitespace))
        .property_order(args.property_order.unwrap_or(own.property_order))
        .numbers(args.numbers.unwrap_or(own.numbers))
        .spelling(own.spelling)
        .unencoded(own.unencoded)
        .max_digits(args.max_digits.map_or(own.max_digits, |most| most.0))
        .formats(args.formats.unwrap_or(own.formats))
        .undeclared(args.undeclared.unwrap_or(own.undeclared))
        .excludes(own.excludes)
        .documents(documents)
        .grammars(Some(lark::IN_STRINGS))
        .limits(own.limits))
}

/// A schema that was compiled for a report.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) text: Text,
    pub(crate) options: json_schema::Options,
    pub(crate) compiled: json_schema::Compiled,
    pub(crate) elapsed: Duration,
}

/// Reads and compiles a JSON Schema.
///
/// # Errors
/// Errors of [`load`]. The grammar is of another kind.
pub(crate) fn load_schema(args: &SourceArgs, limits: &Limits) -> Result<Schema> {
    let (file, text, kind) = args.read(args.path(), limits)?;
    if kind != Notation::JsonSchema {
        return Err(errors::not_a_schema(kind));
    }
    check_options(args, Some(kind))?;
    let text = Text::new(&file, text, kind);
    let locate = |error| text.locate(error);
    let defaults = json_schema::Options::default();
    let options = schema_options(args, &text.text, limits.clone(), defaults).map_err(locate)?;
    let start = Instant::now();
    let compiled = json_schema::compile(&text.text, &options).map_err(locate)?;
    let elapsed = start.elapsed();
    Ok(Schema { text, options, compiled, elapsed })
}

/// Reads the documents that a schema may refer to, from pairs of a URI and a file.
fn documents(files: &[(String, String)], limits: &Limits) -> Result<json_schema::Documents> {
    let mut documents = json_schema::Documents::default();
    for (uri, file) in files {
        let file = Path::new(file);
        let bytes = read(file, limits.source_bytes)?;
        let document = serde_json::from_slice(&bytes).map_err(|cause| errors::not_json(file, &cause))?;
        if documents.insert(uri, document).is_some() {
            return Err(errors::document_twice(uri));
        }
    }
    Ok(documents)
}

/// Returns the files that a Lark grammar may import: those of a folder, each of at most `most` bytes.
fn imports(folder: Option<PathBuf>, most: usize) -> lark::Files {
    let mut files = lark::Files::default();
    if let Some(folder) = folder {
        files.set_loader(move |name| {
            let cause = |error: Error| {
                let cause = error.diagnostic().cause_text().unwrap_or(error.code()).to_owned();
                format!("{}: {cause}", folder.join(name).display())
            };
            let bytes = read(&folder.join(name), most).map_err(cause)?;
            String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8", folder.join(name).display()))
        });
    }
    files
}

/// Reads an automaton spec from the text of a file, whose name need not be that of a spec.
pub(crate) fn read_spec(
    file: &Path,
    text: String,
    parameters: &[(String, String)],
    limits: &Limits,
) -> Result<automaton_spec::Spec> {
    let options = automaton_spec::Options::default()
        .format(format_of(file, &text))
        .parameters(by_name(parameters)?)
        .folder(folder_of(file))
        .limits(limits.clone());
    let text = Text::new(file, text, Notation::Spec);
    automaton_spec::Spec::read(&text.text, &options).map_err(|error| text.locate(error))
}

/// Returns the folder of a file; `None` for standard input and for `--expression`.
fn folder_of(file: &Path) -> Option<PathBuf> {
    file.parent().filter(|_| !is_standard_input(file) && file != Path::new(EXPRESSION)).map(Path::to_owned)
}

fn by_name(given: &[(String, String)]) -> Result<BTreeMap<String, String>> {
    let mut parameters = BTreeMap::new();
    for (name, value) in given {
        if parameters.insert(name.clone(), value.clone()).is_some() {
            return Err(errors::parameter_twice(name));
        }
    }
    Ok(parameters)
}
