//! Reads documents of tools. Their kinds are detected automatically.

mod declarations;
mod dialect;
mod discriminator;
mod forms;
mod gemini;
mod items;
mod keywords;
mod openapi;
mod pointer;
mod python;
mod references;
mod repeated;
mod schema;
mod toolbench;

use super::binding::Binding;
use super::finding::{Finding, Severity};
use super::origin::KnownOrigins;
use super::schema::Known;
use super::set::{Tool, ToolSet, is_fatal};
use super::{errors, name};
use crate::document;
use forms::Forms;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};
use grammata_base::work::Budget;
use rustc_hash::FxHashSet;
use serde_json::Value;

/// A document of tools.
#[derive(Clone, Copy, Debug)]
pub struct Document<'t> {
    /// The label that qualifies the name of a tool of the document if a tool with another label has the same name. A
    /// label that the document itself gives to its tools takes precedence.
    pub label: &'t str,
    /// The text of the document.
    pub text: &'t str,
}

grammata_base::options! {
    /// Options for reading documents.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct ReadOptions {
        /// Whether undeclared members are allowed unless the schema forbids them. Default: no. They are then forbidden
        /// in an object that declares members and does not itself allow others, and for a tool without members.
        pub open_objects: bool,
        /// Whether the arguments of an operation are grouped into one object per location (`path`, `query`, `header`,
        /// `cookie` and `body`); undeclared members of a body are then kept. Default: one flat object.
        pub grouped: bool,
        /// Names of parameters that the host fills in, such as credentials. Models do not write them.
        pub hidden: Vec<String>,
        /// The base against which a missing or relative server address is resolved.
        pub server: Option<String>,
        /// Whether repairs, repeated keys and unknown keys of paths are errors. Default: no, they are warnings.
        pub strict: bool,
        /// Whether the schemas of responses are kept ([`Tool::response`]). Default: no.
        pub responses: bool,
        /// Limits on the documents and on the work to read them.
        pub limits: Limits,
    }
}

/// Reads documents into one set of tools.
///
/// # Errors
/// `tools/unknown-form` for a text of an unknown kind, `tools/syntax` for a syntax error; `limits.source_bytes`,
/// `limits.tool_depth`, `limits.catalogue_tools`, `limits.compile_work`. A fault of a single tool is a [`Finding`]
/// instead.
pub fn read<'t>(documents: impl IntoIterator<Item = Document<'t>>, options: &ReadOptions) -> Result<ToolSet> {
    let mut set = ToolSet::new(options.limits.clone());
    let (mut known, mut origins) = (Known::default(), KnownOrigins::default());
    for (index, document) in documents.into_iter().enumerate() {
        options.limits.check_source(document.text)?;
        let budget = Budget::of_compilation(&options.limits, document.text.len());
        let label = document.label.to_owned();
        let noted = FxHashSet::default();
        let (set, known, origins) = (&mut set, &mut known, &mut origins);
        let mut reading =
            Reading { set, known, origins, options, budget: &budget, document: index, label, noted };
        one(document.text, &mut reading).map_err(|error| error.or_at(&Place::Pointer(String::new())))?;
    }
    name::qualify(&mut set);
    set.tools.shrink_to_fit();
    Ok(set)
}

/// Returns whether a text looks like a document of tools that [`read`] reads: Python with a function at the left
/// margin, or JSON (one value or several) or YAML whose first value has a known form. Text that is not valid is none.
pub fn is_document(text: &str) -> bool {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        let first = serde_json::Deserializer::from_str(text).into_iter::<Value>().next();
        return first.is_some_and(|value| value.is_ok_and(|value| forms::looks_like_tools(&value)));
    }
    python::is_python(text)
        || document::Document::read(text, document::Format::Yaml)
            .is_ok_and(|document| forms::looks_like_tools(&document.json(0)))
}

/// The schema and the binding of a tool.
struct Made {
    /// The schema of the tool's arguments.
    schema: Value,
    binding: Binding,
    /// Pairs of a pointer into the schema and a pointer into the document.
    origins: Vec<(String, String)>,
    /// The schema of a successful response, if it is wanted and declared.
    response: Option<Value>,
    /// Whether the tool is a custom tool.
    is_custom: bool,
}

impl Made {
    /// Creates the parts of a tool that the host executes, without origins and response.
    fn of_host(schema: Value) -> Made {
        Made { schema, binding: Binding::Host, origins: Vec::new(), response: None, is_custom: false }
    }
}

/// A tool as returned by a reader.
struct Draft {
    name: String,
    description: String,
    /// The label that qualifies the tool's name, if not the document's label.
    label: Option<String>,
    place: Place,
    /// The schema and binding, or the reason why the tool cannot be called.
    made: Result<Made>,
    notes: Vec<Diagnostic>,
}

/// A document being read.
struct Reading<'r> {
    set: &'r mut ToolSet,
    known: &'r mut Known,
    origins: &'r mut KnownOrigins,
    options: &'r ReadOptions,
    budget: &'r Budget,
    document: usize,
    label: String,
    /// The warnings reported so far, because many operations may refer to the same place.
    noted: FxHashSet<(String, String)>,
}

impl Reading<'_> {
    /// Adds a tool with its findings.
    ///
    /// # Errors
    /// Limits.
    fn add(&mut self, draft: Draft) -> Result<()> {
        let (made, refusal) = match draft.made {
            Ok(made) => (made, None),
            Err(error) if is_fatal(&error) => return Err(error.or_at(&draft.place)),
            Err(error) => (Made::of_host(Value::Bool(false)), Some(error.diagnostic().clone())),
        };
        let refusal =
            if draft.name.is_empty() { Some(errors::no_name(draft.place.clone())) } else { refusal };
        let tool = Tool {
            name: draft.name,
            description: draft.description,
            arguments: self.known.schema(&made.schema),
            origins: self.origins.of(&draft.place, made.origins),
            binding: made.binding,
            response: made.response.as_ref().map(|response| self.known.schema(response)),
            is_custom: made.is_custom,
            label: draft.label.unwrap_or_else(|| self.label.clone()),
            document: self.document,
            place: draft.place,
            refusal: None,
        };
        let index = self.set.push(tool, &self.options.limits)?;
        for note in draft.notes {
            self.note(Some(index), note);
        }
        if let Some(refusal) = refusal {
            self.set.refuse(index, refusal);
        }
        Ok(())
    }

    /// Adds an error about a part of the document from which no tool is made.
    fn reject(&mut self, diagnostic: Diagnostic) {
        let document = self.document;
        self.set.findings.push(Finding { severity: Severity::Error, tool: None, document, diagnostic });
    }

    /// Adds a warning, unless an equal warning was added before. If the option `strict` makes the warning an error, it
    /// is added as an error, and `tool` is refused.
    fn note(&mut self, tool: Option<usize>, diagnostic: Diagnostic) {
        let is_strict =
            ["tools/repaired", "tools/path-item-key", "tools/repeated-key"].contains(&diagnostic.code());
        match tool {
            Some(tool) if is_strict && self.options.strict => self.set.refuse(tool, diagnostic),
            _ => {
                let key = (diagnostic.place().to_string(), diagnostic.to_string());
                if !self.noted.insert(key) {
                    return;
                }
                let severity =
                    if is_strict && self.options.strict { Severity::Error } else { Severity::Warning };
                let document = self.document;
                self.set.findings.push(Finding { severity, tool, document, diagnostic });
            }
        }
    }
}

/// Reads one document in JSON, Python or YAML into the set.
fn one(text: &str, reading: &mut Reading<'_>) -> Result<()> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    if text.trim_start().starts_with(['{', '[']) {
        check_depth(text, reading.options.limits.tool_depth)?;
        repeated::each(text, |key, place| reading.note(None, errors::repeated_key(place, key)));
        let mut forms = Forms::default();
        items::each(text, forms::list, &mut |value, pointer| forms.read(value, pointer, reading))?;
        return forms.finish();
    }
    if python::is_python(text) {
        return python::read(text, reading);
    }
    let document = document::Document::read(text, document::Format::Yaml)
        .map_err(|bad| errors::syntax(bad.place, &bad.found, &bad.allowed))?;
    for (key, place) in document.repeated_keys() {
        reading.note(None, errors::repeated_key(place.clone(), key));
    }
    let mut forms = Forms::default();
    forms.read(&document.json(0), String::new(), reading)?;
    forms.finish()
}

/// The places in a YAML document to which JSON Pointers refer.
#[derive(Debug)]
pub struct YamlPlaces(document::Document);

impl YamlPlaces {
    /// Parses a document; `None` if it is not YAML.
    pub fn read(text: &str) -> Option<YamlPlaces> {
        document::Document::read(text, document::Format::Yaml).ok().map(YamlPlaces)
    }

    /// Returns the line and column of the value to which a JSON Pointer refers, or of its innermost existing ancestor.
    pub fn find(&self, pointer: &str) -> Place {
        self.0.place(pointer).clone()
    }
}

/// Fails with the limit `tool_depth` if arrays and objects of a text are nested deeper than `most`. The check bounds
/// the recursion of the JSON parser.
fn check_depth(text: &str, most: usize) -> Result<()> {
    let (mut depth, mut is_in_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_in_string => is_escaped = true,
            b'"' => is_in_string = !is_in_string,
            _ if is_in_string => {}
            b'{' | b'[' => {
                depth += 1;
                if depth > most {
                    let error =
                        Limits::exceeded(LimitKind::ToolDepth, most, "arrays and objects inside more");
                    return Err(error.or_at(&Place::in_text(text, at)));
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}
