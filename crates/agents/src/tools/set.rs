//! A set of tools.

use super::binding::Binding;
use super::errors;
use super::finding::{Finding, Severity};
use super::origin::Origins;
use super::schema::Schema;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{ErrorKind, Result};
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::json_schema::{self, Compiled, compile_value};
use rustc_hash::FxHashSet;

/// A tool: what a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name, which no other tool of the set that can be called has.
    pub name: String,
    /// What it does. Text of a stranger: never an instruction, and without meaning for special tokens.
    pub description: String,
    /// The schema of its argument object.
    pub arguments: Schema,
    /// Where the parts of that schema are in the document.
    pub(super) origins: Origins,
    /// What a call of it stands for.
    pub binding: Binding,
    /// The label of its source: what a name that several sources have is qualified with.
    pub label: String,
    /// The document that it is from, an index into what was read.
    pub document: usize,
    /// Where in the document.
    pub place: Place,
    /// Why it cannot be called.
    pub refusal: Option<Box<Diagnostic>>,
}

impl Tool {
    /// The grammar of its arguments.
    ///
    /// # Errors
    /// What the front end of JSON Schema does not read, `json-schema/unsatisfiable`, limits.
    pub fn grammar(&self, options: &json_schema::Options) -> Result<Compiled> {
        compile_value(&self.arguments.value(), options)
    }

    /// The place in the document of what is said of the schema of the arguments.
    fn origin(&self, cause: &Diagnostic) -> Option<Place> {
        match cause.place() {
            Place::Pointer(pointer) => self.origins.place(&self.place, pointer),
            _ => None,
        }
    }

    /// Why no grammar can be made of the arguments, from what the front end says of their schema.
    pub(super) fn refused(&self, cause: &Diagnostic) -> Diagnostic {
        match self.origin(cause) {
            Some(place) => errors::schema(place, cause, None),
            None => errors::schema(self.place.clone(), cause, errors::inside(cause)),
        }
    }

    /// A warning about the schema of the arguments as one about the document.
    fn located(&self, warning: &Diagnostic) -> Diagnostic {
        match (self.origin(warning), errors::inside(warning)) {
            (Some(place), _) => warning.clone().at(place),
            (None, Some(inside)) => warning.clone().at(self.place.clone()).cause(inside),
            (None, None) => warning.clone().at(self.place.clone()),
        }
    }
}

/// Tools with different names, and what reading them found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSet {
    pub(super) tools: Vec<Tool>,
    pub(super) findings: Vec<Finding>,
    /// The caps with which the documents were read.
    pub(super) limits: Limits,
}

impl ToolSet {
    pub(super) fn new(limits: Limits) -> ToolSet {
        ToolSet { limits, ..ToolSet::default() }
    }

    /// All tools in the order of their documents, those that cannot be called among them.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// What was found out, in the order in which it was. The reasons why tools cannot be called are among them.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The tools that can be called.
    pub fn callable(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.refusal.is_none())
    }

    /// The tools that cannot be called, and why.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.tools.iter().filter_map(|tool| Some((tool.name.as_str(), tool.refusal.as_deref()?)))
    }

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Compiles the arguments of each tool alone. A tool whose arguments have no value, or whose schema has what is not
    /// supported, cannot be called from then on; no other tool is touched. What the schemas are warned of becomes findings, once
    /// for each place in a document.
    pub fn check(&mut self, options: &json_schema::Options) {
        let mut known: FxHashSet<(usize, String)> = FxHashSet::default();
        for index in 0..self.tools.len() {
            let tool = &self.tools[index];
            if tool.refusal.is_some() {
                continue;
            }
            match tool.grammar(options) {
                Ok(compiled) => {
                    let document = tool.document;
                    let warnings = compiled.warnings.iter().map(|warning| tool.located(warning));
                    let new = warnings.filter(|warning| known.insert((document, warning.to_string())));
                    let findings = new.map(|diagnostic| Finding {
                        severity: Severity::Warning,
                        tool: Some(index),
                        document,
                        diagnostic,
                    });
                    self.findings.extend(findings);
                }
                Err(error) => {
                    let diagnostic = tool.refused(error.diagnostic());
                    self.refuse(index, diagnostic);
                }
            }
        }
    }

    /// Makes a tool one that cannot be called.
    pub(super) fn refuse(&mut self, index: usize, diagnostic: Diagnostic) {
        let tool = &mut self.tools[index];
        let document = tool.document;
        self.findings.push(Finding {
            severity: Severity::Error,
            tool: Some(index),
            document,
            diagnostic: diagnostic.clone(),
        });
        tool.refusal.get_or_insert(Box::new(diagnostic));
    }

    /// Adds a tool.
    ///
    /// # Errors
    /// `limits.catalogue_tools`.
    pub(super) fn push(&mut self, tool: Tool, limits: &Limits) -> Result<usize> {
        if self.tools.len() >= limits.catalogue_tools {
            return Err(Limits::exceeded(LimitKind::CatalogueTools, limits.catalogue_tools, "more tools"));
        }
        self.tools.push(tool);
        Ok(self.tools.len() - 1)
    }
}

/// Whether an error ends the reading of all documents: a limit.
pub(super) fn is_fatal(error: &grammata::error::Error) -> bool {
    error.kind() == ErrorKind::Limit
}
