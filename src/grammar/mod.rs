//! The grammar: the intermediate representation (IR) in which all front ends meet.
//!
//! A [`Grammar`] is a table of expressions and a list of named rules. Its only constructor is
//! [`GrammarBuilder`]; [`Grammar::verify`] checks the numbered invariants of [`verify`], and everything
//! after it relies on them. Expressions describe languages of *byte* strings; nothing here knows of tokens
//! or of any surface syntax.
//!
//! ```
//! use grammata::grammar::GrammarBuilder;
//!
//! let mut g = GrammarBuilder::new();
//! let list = g.declare("list");
//! let item = g.text("x");
//! let comma = g.text(",");
//! let (more, item_alone) = (g.rule(list), item);
//! let longer = g.sequence([item, comma, more]);
//! let body = g.choice([item_alone, longer]);
//! g.define(list, body);
//! let grammar = g.build(list)?;
//! assert_eq!(grammar.to_string(), "list ::= \"x\" | \"x,\" list\n");
//! # Ok::<(), grammata::Error>(())
//! ```

pub mod analysis;
mod builder;
mod class;
pub(crate) mod conditions;
mod display;
mod errors;
mod expression;
pub mod verify;
mod word_graph;

pub use builder::GrammarBuilder;
pub use class::{ByteSet, CharClass};
pub use expression::{
    Alternative, Condition, Distinct, ExprId, Expression, LabelId, Member, Members, Names, Operands, Order,
    RuleId, Text,
};
pub use word_graph::{WordEdge, WordGraph, WordTarget};

use std::sync::Arc;

/// A named rule: `name ::= body`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name; names are unique in a grammar built by a front end, but need not be.
    pub name: Box<str>,
    /// The body.
    pub body: ExprId,
}

/// A verified grammar: expressions, rules and a root. Clones share them. See the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    pub(crate) expressions: Arc<[Expression]>,
    pub(crate) rules: Arc<[Rule]>,
    pub(crate) labels: Arc<[Box<str>]>,
    pub(crate) root: RuleId,
}

impl Grammar {
    /// The expression of an id. Children have smaller ids than their parents.
    pub fn expression(&self, id: ExprId) -> &Expression {
        &self.expressions[id.index()]
    }

    /// All expressions, in order of their ids.
    pub fn expressions(&self) -> &[Expression] {
        &self.expressions
    }

    /// All rules, in order of their ids.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// One rule.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.rules[id.index()]
    }

    /// The text of a label, for instance the JSON Pointer of a sub-schema.
    pub fn label(&self, id: LabelId) -> &str {
        &self.labels[id.index()]
    }

    /// The rule whose language the grammar's is.
    pub fn root(&self) -> RuleId {
        self.root
    }

    /// Bytes on the heap.
    pub fn memory_usage(&self) -> usize {
        let of_expression = |expression: &Expression| match expression {
            Expression::Bytes(bytes) if bytes.spilled() => bytes.len(),
            Expression::Sequence(list) | Expression::Choice(list) | Expression::Intersection(list)
                if list.spilled() =>
            {
                size_of_val::<[ExprId]>(list)
            }
            Expression::Class(class) => size_of_val(class.ranges()),
            Expression::Members(members) => {
                size_of::<Members>()
                    + members.members.iter().map(|m| size_of::<Member>() + m.key.len()).sum::<usize>()
            }
            _ => 0,
        };
        self.expressions.iter().map(|e| size_of::<Expression>() + of_expression(e)).sum::<usize>()
            + self.rules.iter().map(|rule| size_of::<Rule>() + rule.name.len()).sum::<usize>()
            + self.labels.iter().map(|label| size_of_val(label) + label.len()).sum::<usize>()
    }

    /// Checks the invariants G1 to G10 of [`verify`].
    ///
    /// # Errors
    /// Says which invariant does not hold, and where. A grammar from a builder always verifies.
    pub fn verify(&self) -> crate::Result<()> {
        verify::verify(self, true)
    }
}
