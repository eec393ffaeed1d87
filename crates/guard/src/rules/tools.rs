//! Tools with prerequisites as the rules of an agent. A tool may be called once calls of tools that provide its needs
//! have succeeded. Tools that cannot be called are left out.

use super::observed::logged;
use super::{ClientNames, Open, Rules, Values};
use crate::outcome::Outcome;
use crate::schema::Checker;
use grammata_agents::tools::ToolSet;
use serde_json::Value;

/// The rules of a set of tools, with the current state of a session.
#[derive(Debug)]
pub struct ToolRules<'s> {
    set: &'s ToolSet,
    /// The needs of each tool, as lists of tools: a call of at least one tool of each list must have succeeded.
    needs: Vec<Vec<Vec<usize>>>,
    has_succeeded: Vec<bool>,
    /// The tool that was called and whose result must be recorded next.
    pending: Option<usize>,
    checker: Checker,
    names: ClientNames,
}

impl<'s> ToolRules<'s> {
    /// Creates the rules at the beginning of a session.
    pub fn new(set: &'s ToolSet) -> ToolRules<'s> {
        let has_succeeded = vec![false; set.tools().len()];
        ToolRules {
            set,
            needs: set.prerequisites(),
            has_succeeded,
            pending: None,
            checker: Checker::default(),
            names: ClientNames::default(),
        }
    }

    /// Returns the first need of a tool that no successful call has met, as a list of tools; `None` if all needs are
    /// met.
    fn missing(&self, tool: usize) -> Option<&[usize]> {
        let needs = self.needs.get(tool)?.iter();
        needs.map(Vec::as_slice).find(|any| !any.iter().any(|&giver| self.has_succeeded[giver]))
    }

    fn name(&self, tool: usize) -> &'s str {
        &self.set.tools()[tool].name
    }

    fn callable(&self) -> impl Iterator<Item = usize> + '_ {
        let tools = self.set.tools().iter().enumerate();
        tools.filter(|(_, tool)| tool.refusal.is_none()).map(|(place, _)| place)
    }
}

impl Rules for ToolRules<'_> {
    fn about(&self) -> String {
        "Only tools that may be called now are listed; others open when the tools that give what they need were called. \
         List them again after each call."
            .to_owned()
    }

    fn tools(&self) -> Vec<(String, Vec<String>)> {
        self.callable().map(|tool| (self.name(tool).to_owned(), Vec::new())).collect()
    }

    fn use_names(&mut self, names: ClientNames) {
        self.names = names;
    }

    fn open(&self) -> Vec<Open> {
        let open = |tool: usize| {
            let schema = self.set.tools()[tool].arguments.value();
            let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            let required = required.filter_map(Value::as_str).map(str::to_owned).collect();
            Open { tool: self.name(tool).to_owned(), properties, required }
        };
        self.callable().filter(|&tool| self.missing(tool).is_none()).map(open).collect()
    }

    fn call(&mut self, tool: &str, arguments: &Values) -> Result<(), String> {
        let place = self.callable().find(|&place| self.name(place) == tool);
        let place = place.ok_or("unknown: no tool that can be called has this name")?;
        if let Some(any) = self.missing(place) {
            let names: Vec<String> = any.iter().map(|&giver| self.names.tool(self.name(giver))).collect();
            return Err(format!("precondition {}: a call of it must succeed before", names.join(" or ")));
        }
        let schema = self.set.tools()[place].arguments.value();
        if !self.checker.allows(&schema, &Value::Object(arguments.clone())) {
            return Err("argument: the arguments are not of the tool's schema".to_owned());
        }
        self.pending = Some(place);
        Ok(())
    }

    fn result(&mut self, outcome: Outcome) -> Result<Values, (Values, String)> {
        let Some(tool) = self.pending.take() else { return Ok(Values::new()) };
        self.has_succeeded[tool] |= matches!(outcome, Outcome::Data(_));
        Ok(logged(outcome))
    }
}
