//! The grammar: the intermediate representation (IR) that all front ends produce.
//!
//! A [`Grammar`] is a table of expressions and a list of named rules. Its only constructor is [`GrammarBuilder`].
//! [`Grammar::verify`] checks the numbered invariants of [`verify`], on which all later stages rely. Expressions
//! describe languages of *byte* strings, and of tokens given by name or id ([`TokenTerminal`]). This module uses no
//! vocabulary and parses no notation.
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
mod completion_bound;
mod components;
pub(crate) mod conditions;
mod display;
mod endless_names;
mod errors;
mod expression;
mod free_text;
mod groups;
mod ids;
mod import;
mod least;
mod letters;
mod nullable;
mod owners;
mod shortest;
mod strings;
mod substrings;
mod token_terminal;
pub mod verify;
mod word_graph;

pub use builder::GrammarBuilder;
pub use class::{ByteSet, CharClass};
pub(crate) use completion_bound::CompletionBounds;
pub(crate) use endless_names::{EndlessNames, LONGEST_CHARACTER};
pub use expression::{
    Alternative, Condition, Distinct, Expression, FreeText, Member, Members, Names, Operands, Order, Text,
};
pub use ids::{ExprId, LabelId, RuleId};
pub(crate) use least::{Unit, least_lengths};
pub(crate) use letters::Letters;
pub(crate) use owners::{IGNORED, Owners, is_generated};
pub use token_terminal::{TokenScope, TokenSelector, TokenTerminal};
pub use word_graph::{WordEdge, WordGraph, WordTarget};

use crate::diagnostic::Place;
use std::sync::Arc;

/// A named rule: `name ::= body`. References to the rule use its [`RuleId`], not its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, for errors and `Display`. Several rules may have the same name.
    pub name: Box<str>,
    /// The expression whose language is the language of the rule.
    pub body: ExprId,
}

/// A verified grammar: expressions, rules and a root. Clones share the tables. See the [module](self).
#[derive(Clone, PartialEq, Eq)]
pub struct Grammar {
    tables: Arc<Tables>,
    root: RuleId,
}

/// The tables that the ids of a grammar index.
#[derive(Debug, PartialEq, Eq)]
struct Tables {
    expressions: Vec<Expression>,
    rules: Vec<Rule>,
    labels: Labels,
}

/// Label texts by id, stored consecutively in one string.
#[derive(Debug, Default, PartialEq, Eq)]
struct Labels {
    text: String,
    /// The end of each text, in bytes.
    ends: Vec<usize>,
}

impl Labels {
    fn push(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.ends.push(self.text.len());
    }

    fn get(&self, id: LabelId) -> &str {
        let begin = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[id.index()]]
    }

    fn len(&self) -> usize {
        self.ends.len()
    }
}

impl Grammar {
    /// The expression of an id. Operands have smaller ids than the expressions that contain them. Panics if no
    /// expression has this id.
    pub fn expression(&self, id: ExprId) -> &Expression {
        &self.tables.expressions[id.index()]
    }

    /// All expressions, in order of their ids.
    pub fn expressions(&self) -> &[Expression] {
        &self.tables.expressions
    }

    /// All rules, in order of their ids.
    pub fn rules(&self) -> &[Rule] {
        &self.tables.rules
    }

    /// The rule of an id. Panics if no rule has this id.
    pub fn rule(&self, id: RuleId) -> &Rule {
        &self.tables.rules[id.index()]
    }

    /// The text of a label, for instance the JSON Pointer of a sub-schema. Panics if no label has this id.
    pub fn label(&self, id: LabelId) -> &str {
        self.tables.labels.get(id)
    }

    /// The place for a diagnostic: the text of `label`, or the rule's name if there is no label.
    pub(crate) fn place(&self, rule: RuleId, label: Option<LabelId>) -> Place {
        Place::Rule(
            label.map_or_else(|| self.rule(rule).name.to_string(), |label| self.label(label).to_owned()),
        )
    }

    /// The place of an expression for error messages, in the first rule whose body contains it: the innermost label
    /// around one of its occurrences there, or the rule's name if no label is around it. [`Place::Whole`] if no rule
    /// contains the expression. May search the whole grammar.
    pub(crate) fn place_of(&self, wanted: ExprId) -> Place {
        let mut seen = vec![false; self.expressions().len()];
        for (index, rule) in self.rules().iter().enumerate() {
            let mut open = vec![(rule.body, None)];
            while let Some((id, label)) = open.pop() {
                if std::mem::replace(&mut seen[id.index()], true) {
                    continue;
                }
                if id == wanted {
                    return RuleId::new(index).map_or(Place::Whole, |rule| {
                        let (rule, label) = Owners::new(self).of(rule, label);
                        self.place(rule, label)
                    });
                }
                let expression = &self.expressions()[id.index()];
                let inner = match expression {
                    Expression::Label(label, _) => Some(*label),
                    _ => label,
                };
                open.extend(expression.children().map(|child| (child, inner)));
            }
        }
        Place::Whole
    }

    /// The rule whose language is the language of the grammar.
    pub fn root(&self) -> RuleId {
        self.root
    }

    /// A grammar that shares the tables of this one and has another root.
    pub(crate) fn with_root(&self, root: RuleId) -> Grammar {
        Grammar { tables: Arc::clone(&self.tables), root }
    }

    /// The expressions that the root reaches, also through rules, with their ids: each once, in no particular order.
    pub fn reached(&self) -> Vec<(ExprId, &Expression)> {
        let mut seen = vec![false; self.expressions().len()];
        let mut open = vec![self.rule(self.root).body];
        let mut reached = Vec::new();
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let expression = self.expression(id);
            reached.push((id, expression));
            match expression {
                Expression::Rule(rule) => open.push(self.rule(*rule).body),
                _ => expression.for_each_child(|child| open.push(child)),
            }
        }
        reached
    }

    /// Estimated size of the tables on the heap, in bytes; clones share them. The estimate leaves out the contents of
    /// word graphs and lists of different items, and the `ones` and conditions of members.
    pub fn memory_usage(&self) -> usize {
        let of_expression = |expression: &Expression| match expression {
            Expression::Bytes(bytes) if bytes.spilled() => bytes.len(),
            Expression::Sequence(list) | Expression::Choice(list) | Expression::Intersection(list)
                if list.spilled() =>
            {
                size_of_val::<[ExprId]>(list)
            }
            Expression::Class(class) => size_of_val(class.ranges()),
            Expression::Token(terminal) => size_of::<TokenTerminal>() + terminal.memory_usage(),
            Expression::Members(members) => {
                size_of::<Members>()
                    + members.members.iter().map(|m| size_of::<Member>() + m.key.len()).sum::<usize>()
            }
            _ => 0,
        };
        let Tables { expressions, rules, labels } = &*self.tables;
        expressions.iter().map(|e| size_of::<Expression>() + of_expression(e)).sum::<usize>()
            + rules.iter().map(|rule| size_of::<Rule>() + rule.name.len()).sum::<usize>()
            + labels.text.capacity()
            + labels.ends.capacity() * size_of::<usize>()
    }

    /// Checks the invariants G1 to G12 of [`verify`]; G9 only in debug builds.
    ///
    /// # Errors
    /// Returns `grammar/invariant` with the first violation found and its place. A grammar from a builder always
    /// verifies.
    pub fn verify(&self) -> crate::Result<()> {
        verify::verify(self, true)
    }
}
