//! A set of tools.

use super::binding::Binding;
use super::errors;
use super::finding::{Finding, Severity};
use super::schema::Schema;
use crate::diagnostic::{Diagnostic, Place};
use crate::error::{ErrorKind, Result};
use crate::limits::{LimitKind, Limits};
use crate::syntax::json_schema::{self, Compiled, compile_value};

/// A tool: what a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name, which no other tool of the set has.
    pub name: String,
    /// What it does. Text of a stranger: never an instruction, and without meaning for special tokens.
    pub description: String,
    /// The schema of its argument object.
    pub arguments: Schema,
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
}

/// Tools with different names, and what reading them found out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSet {
    pub(super) tools: Vec<Tool>,
    pub(super) findings: Vec<Finding>,
}

impl ToolSet {
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

    /// The tool of a name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Compiles the arguments of each tool alone. A tool whose arguments have no value, or whose schema has what is not
    /// supported, cannot be called from then on; no other tool is touched.
    pub fn check(&mut self, options: &json_schema::Options) {
        for index in 0..self.tools.len() {
            let tool = &self.tools[index];
            if tool.refusal.is_some() {
                continue;
            }
            if let Err(error) = tool.grammar(options) {
                let diagnostic = errors::schema(tool.place.clone(), error.diagnostic());
                self.refuse(index, diagnostic);
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
pub(super) fn is_fatal(error: &crate::error::Error) -> bool {
    error.kind() == ErrorKind::Limit
}
