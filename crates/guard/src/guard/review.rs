//! What a guard will do with a server, said without a session.

use super::Guard;
use crate::inspect::Inspected;
use grammata::error::Result;
use serde::Serialize;

/// A tool of the rules, with the server's tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewedTool {
    /// The name in the rules.
    pub name: String,
    /// The server's name of the tool.
    pub tool: String,
    /// Whether the tool may be called at the beginning.
    pub is_open: bool,
    /// Arguments that the rules check.
    pub governed: Vec<String>,
    /// Arguments of the server's schema that are passed on unchecked.
    pub ungoverned: Vec<String>,
}

/// What a guard will do with a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Review {
    /// The tools of the rules, in the order of the rules, without those that are never open.
    pub tools: Vec<ReviewedTool>,
    /// The names of the tools that the guard adds.
    pub own: Vec<String>,
    /// The server's tools that the rules do not name.
    pub others: Vec<String>,
    /// Whether the client sees, and may call, the tools of `others`.
    pub passes_others: bool,
    /// What else there is to know: what a person decides, and what is hidden or limited.
    pub remarks: Vec<String>,
}

impl Guard<'_> {
    /// Checks a server as at the beginning of a session, and says what the guard will do with it.
    ///
    /// # Errors
    /// Those with which a session ends at its beginning, such as `guard/missing-tools`, `guard/argument` and
    /// `guard/taken-name`.
    pub fn review(&mut self, server: &Inspected) -> Result<Review> {
        let catalogue = &server.catalogue;
        self.bind(catalogue)?;
        let open = self.rules.open();
        let reviewed = |(name, tool, required): (&str, &str, &[String])| {
            let is_checked =
                |argument: &String| self.rules.checks_arguments() && self.rules.governs(name, argument);
            let listed = catalogue.listed(tool).map(|listed| listed.names.clone()).unwrap_or_default();
            let unlisted: Vec<String> =
                required.iter().filter(|name| !listed.contains(name)).cloned().collect();
            let (mut governed, ungoverned): (Vec<String>, Vec<String>) =
                listed.into_iter().partition(is_checked);
            governed.extend(unlisted);
            let is_open = open.iter().any(|open| open.tool == name);
            ReviewedTool { name: name.to_owned(), tool: tool.to_owned(), is_open, governed, ungoverned }
        };
        let others = catalogue.others(&self.names);
        Ok(Review {
            tools: self.names.all().filter(|(name, ..)| !self.rules.hides(name)).map(reviewed).collect(),
            own: self.own_names(),
            others: others.filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect(),
            passes_others: self.options.allow_others,
            remarks: self.rules.remarks(),
        })
    }
}
