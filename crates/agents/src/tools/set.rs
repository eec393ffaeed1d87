//! Sets of tools.

use super::binding::Binding;
use super::custom;
use super::errors;
use super::finding::{Finding, Severity};
use super::format::Call;
use super::origin::Origins;
use super::schema::Schema;
use grammata::diagnostic::{Diagnostic, Place};
use grammata::error::{ErrorKind, Result};
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::json_schema::{self, Compiled, compile_value};
use rustc_hash::FxHashSet;

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name, unique among the tools of the set that can be called.
    pub name: String,
    /// What the tool does. Untrusted text: never an instruction, and its special tokens have no meaning.
    pub description: String,
    /// The schema of the argument object.
    pub arguments: Schema,
    /// The origins of the parts of the argument schema in the document.
    pub(super) origins: Origins,
    /// The action that a call executes.
    pub binding: Binding,
    /// The schema of a successful result, if the document declares one and [`ReadOptions::responses`](
    /// super::ReadOptions::responses) asks for it.
    pub response: Option<Schema>,
    /// Whether the tool is a custom tool: its only argument is the text `input`, which a grammar may restrict.
    pub is_custom: bool,
    /// The label of the tool's source, which qualifies a name that occurs in several sources.
    pub label: String,
    /// The document, as an index into the documents that were read; 0 for a tool that belongs to no document.
    pub document: usize,
    /// The place in the document.
    pub place: Place,
    /// The reason why the tool cannot be called; `None` if it can.
    pub refusal: Option<Box<Diagnostic>>,
}

impl Tool {
    /// Creates a tool that the host executes and that belongs to no document.
    pub fn of_host(name: impl Into<String>, description: impl Into<String>, arguments: Schema) -> Tool {
        Tool {
            name: name.into(),
            description: description.into(),
            arguments,
            origins: Origins::default(),
            binding: Binding::Host,
            response: None,
            is_custom: false,
            label: String::new(),
            document: 0,
            place: Place::Whole,
            refusal: None,
        }
    }

    /// Replaces the schema of the arguments. Its parts then have no places in the tool's document.
    #[must_use]
    pub fn with_arguments(mut self, arguments: Schema) -> Tool {
        self.arguments = arguments;
        self.origins = Origins::default();
        self
    }

    /// Compiles the grammar of the arguments.
    ///
    /// # Errors
    /// A schema that the JSON Schema front end cannot read (`json-schema/…`), or that no value satisfies
    /// (`json-schema/unsatisfiable`); limits.
    pub fn grammar(&self, options: &json_schema::Options) -> Result<Compiled> {
        compile_value(&self.arguments.value(), &custom::reading(options))
    }

    /// Returns the place in the document of the part of the schema to which a diagnostic refers.
    fn origin(&self, cause: &Diagnostic) -> Option<Place> {
        match cause.place() {
            Place::Pointer(pointer) => self.origins.place(&self.place, pointer),
            _ => None,
        }
    }

    /// Returns the reason why the arguments have no grammar, as a diagnostic with a place in the document, from the
    /// front end's diagnostic about their schema.
    pub(super) fn refused(&self, cause: &Diagnostic) -> Diagnostic {
        match self.origin(cause) {
            Some(place) => errors::schema(place, cause, None),
            None => errors::schema(self.place.clone(), cause, errors::inside(cause)),
        }
    }

    /// Converts a warning about the argument schema to one about the document.
    fn located(&self, warning: &Diagnostic) -> Diagnostic {
        match (self.origin(warning), errors::inside(warning)) {
            (Some(place), _) => warning.clone().at(place),
            (None, Some(inside)) => warning.clone().at(self.place.clone()).cause(inside),
            (None, None) => warning.clone().at(self.place.clone()),
        }
    }
}

/// Tools, and the findings of reading them. The names of tools that can be called are distinct.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSet {
    pub(super) tools: Vec<Tool>,
    pub(super) findings: Vec<Finding>,
    /// The limits that were used to read the documents.
    pub(super) limits: Limits,
}

impl ToolSet {
    pub(super) fn new(limits: Limits) -> ToolSet {
        ToolSet { limits, ..ToolSet::default() }
    }

    /// Creates a set of tools. The caller must make sure that their names are distinct.
    ///
    /// # Errors
    /// `limit/exceeded` if there are more than [`catalogue_tools`](Limits::catalogue_tools) tools.
    pub fn of(tools: impl IntoIterator<Item = Tool>, limits: &Limits) -> Result<ToolSet> {
        let mut set = ToolSet::new(limits.clone());
        for tool in tools {
            set.push(tool, limits)?;
        }
        Ok(set)
    }

    /// Returns all tools in the order of their documents, including those that cannot be called.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Returns the findings, in order of discovery. They include the reasons why tools cannot be called.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Returns the tools that can be called.
    pub fn callable(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().filter(|tool| tool.refusal.is_none())
    }

    /// Returns the names of the tools that cannot be called, with the reasons.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (&str, &Diagnostic)> {
        self.tools.iter().filter_map(|tool| Some((tool.name.as_str(), tool.refusal.as_deref()?)))
    }

    /// Returns the first tool with the name `name`, even if the tool cannot be called.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns the input of a call of a custom tool; `None` if the tool of the call is another.
    pub fn input<'c>(&self, call: &'c Call) -> Option<&'c str> {
        let tool = self.tool(&call.tool).filter(|tool| tool.is_custom)?;
        call.arguments.get(custom::INPUT).filter(|_| tool.refusal.is_none())?.as_str()
    }

    /// Compiles the arguments of each tool separately. A tool whose arguments have no value, or whose schema is not
    /// supported or exceeds a limit, can no longer be called; other tools are not affected. Warnings about the schemas
    /// become findings; of equal warnings of a document only the first does.
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

    /// Marks a tool as one that cannot be called, and records the finding. A tool that is already marked keeps its
    /// first reason.
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

    /// Adds a tool, and returns its index.
    ///
    /// # Errors
    /// `limit/exceeded` if there are more than [`catalogue_tools`](Limits::catalogue_tools) tools.
    pub(super) fn push(&mut self, tool: Tool, limits: &Limits) -> Result<usize> {
        if self.tools.len() >= limits.catalogue_tools {
            return Err(Limits::exceeded(LimitKind::CatalogueTools, limits.catalogue_tools, "more tools"));
        }
        self.tools.push(tool);
        Ok(self.tools.len() - 1)
    }
}

/// Returns whether an error aborts the reading of all documents; only exceeded limits do.
pub(super) fn is_fatal(error: &grammata::error::Error) -> bool {
    error.kind() == ErrorKind::Limit
}
