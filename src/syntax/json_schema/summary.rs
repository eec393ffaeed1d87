//! Statistics about a compiled schema, for reports.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Statistics about a schema and its compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The draft that `$schema` names; `None` if it names no known draft.
    pub draft: Option<&'static str>,
    /// The keywords of the schemas that the root reaches, with the number of schemas that have each. Words that are not
    /// keywords of the draft are included.
    pub keywords: BTreeMap<Cow<'static, str>, usize>,
    /// Number of schemas that the root reaches. A schema counts once for each dynamic scope.
    pub schemas: usize,
    /// Number of schemas that the passes added: negations, and rewritten `oneOf`, `if` and others.
    pub made_schemas: usize,
    /// Number of conjunctions: sets of schemas that hold of the same value.
    pub conjunctions: usize,
}
