//! What a schema turned out to be: for reports.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// What was read of a schema, and what it came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The draft that `$schema` names; `None` if it names none that is known.
    pub draft: Option<&'static str>,
    /// The keywords of the schemas that the root reaches, and in how many of them each stands. Words that are no
    /// keywords of the draft are among them.
    pub keywords: BTreeMap<Cow<'static, str>, usize>,
    /// Schemas that the root reaches, each once a dynamic scope.
    pub schemas: usize,
    /// Schemas that were made of them: negations, and rewritten `oneOf`, `if` and others.
    pub made_schemas: usize,
    /// Sets of schemas that hold of the same value.
    pub conjunctions: usize,
}
