//! Copies of grammars inside other grammars.
//!
//! Expressions are interned, so equal expressions of several imported grammars are one expression. Rules have
//! identities, so an equal rule would be a copy, and with it every expression that refers to the rule. Therefore groups
//! of rules that refer to each other are compared as well: a group without labels that equals an imported one is that
//! group. So text that two hundred imported schemas have in common is built, and examined, once.

use super::builder::GrammarBuilder;
use super::components::components;
use super::expression::{Distinct, Expression, Member, Members, Operands};
use super::groups::Group;
use super::ids::{ExprId, RuleId};
use super::{Grammar, Rule};
use rustc_hash::FxHashMap;
use std::hash::{BuildHasher, Hash, Hasher};

impl GrammarBuilder {
    /// The language of another grammar. Copies the expressions and rules that the root of `grammar` reaches. Rules
    /// without labels that an imported grammar already has are not copied again.
    pub fn import(&mut self, grammar: &Grammar) -> ExprId {
        self.import_marked(grammar, &FxHashMap::default())
    }

    /// Like [`import`](GrammarBuilder::import), with an expression before and one after the body of each rule in
    /// `marks`.
    pub(crate) fn import_marked(&mut self, grammar: &Grammar, marks: &Marks) -> ExprId {
        let root = grammar.rule(grammar.root).body;
        let components = components(grammar, root);
        let mut import = Import {
            grammar,
            copies: vec![ExprId::EMPTY; grammar.expressions().len()],
            rules: FxHashMap::default(),
            places: FxHashMap::default(),
            marks,
            builder: self,
        };
        for component in components {
            import.component(&component);
        }
        import.marked(grammar.root, import.copies[root.index()])
    }
}

/// The expressions before and after the bodies of rules.
pub(crate) type Marks = FxHashMap<RuleId, (ExprId, ExprId)>;

struct Import<'i> {
    builder: &'i mut GrammarBuilder,
    grammar: &'i Grammar,
    /// The copy of each expression that was copied.
    copies: Vec<ExprId>,
    rules: FxHashMap<RuleId, RuleId>,
    /// The places of the expressions of the current group in this group.
    places: FxHashMap<ExprId, u32>,
    marks: &'i Marks,
}

impl<'i> Import<'i> {
    fn rule_of(&self, id: ExprId) -> Option<(RuleId, &'i Rule)> {
        match self.grammar.expression(id) {
            &Expression::Rule(rule) => Some((rule, self.grammar.rule(rule))),
            _ => None,
        }
    }

    /// The copy of a rule's body, between its marks if it has some.
    fn marked(&mut self, rule: RuleId, body: ExprId) -> ExprId {
        match self.marks.get(&rule) {
            Some(&(before, after)) => self.builder.sequence([before, body, after]),
            None => body,
        }
    }

    /// Copies the expressions of a component, sorted by id. The components that it refers to were copied before.
    fn component(&mut self, component: &[ExprId]) {
        let rules: Vec<(RuleId, &Rule)> = component.iter().filter_map(|&id| self.rule_of(id)).collect();
        if rules.is_empty() {
            component.iter().for_each(|&id| self.copy(id));
            return;
        }
        let has_labels =
            component.iter().any(|&id| matches!(self.grammar.expression(id), Expression::Label(..)));
        // marks are not compared
        let hash = (!has_labels && self.marks.is_empty()).then(|| self.hash(component));
        if let Some(hash) = hash
            && self.reuse(hash, component, &rules)
        {
            return;
        }
        for (rule, Rule { name, .. }) in &rules {
            let copy = self.builder.declare(name.clone());
            self.rules.insert(*rule, copy);
        }
        component.iter().for_each(|&id| self.copy(id));
        for (rule, Rule { body, .. }) in &rules {
            let body = self.marked(*rule, self.copies[body.index()]);
            self.builder.define(self.rules[rule], body);
        }
        if let Some(hash) = hash {
            let copies = component.iter().map(|id| self.copies[id.index()]).collect();
            let rules = rules.iter().map(|(rule, _)| self.rules[rule]).collect();
            self.builder.groups().known.entry(hash).or_insert(Group { copies, rules });
        }
    }

    /// The hash of a group. Operands in the group count by their places, the others by their copies.
    fn hash(&mut self, component: &[ExprId]) -> u64 {
        self.places.clear();
        self.places.extend(component.iter().copied().zip(0..));
        let mut hasher = self.builder.groups().hasher.build_hasher();
        for &id in component {
            if let Some((_, Rule { name, body })) = self.rule_of(id) {
                (name, self.place_or_copy(*body)).hash(&mut hasher);
                continue;
            }
            let expression = self.grammar.expression(id);
            mapped(expression, |_| ExprId::EMPTY).hash(&mut hasher);
            expression.for_each_child(|child| self.place_or_copy(child).hash(&mut hasher));
        }
        hasher.finish()
    }

    fn place_or_copy(&self, id: ExprId) -> (Option<u32>, ExprId) {
        match self.places.get(&id) {
            Some(&place) => (Some(place), ExprId::EMPTY),
            None => (None, self.copies[id.index()]),
        }
    }

    /// Uses the known group of the hash if it equals the component. Returns whether it does.
    fn reuse(&mut self, hash: u64, component: &[ExprId], rules: &[(RuleId, &Rule)]) -> bool {
        let groups = self.builder.groups();
        let Some(group) = groups.known.get(&hash).cloned() else { return false };
        let is_equal = group.copies.len() == component.len()
            && group.rules.len() == rules.len()
            && rules.iter().zip(&group.rules).all(|((_, Rule { name, body }), &known)| {
                let copy = match self.places.get(body) {
                    Some(&place) => group.copies[place as usize],
                    None => self.copies[body.index()],
                };
                self.builder.rule_name(known) == &**name && self.builder.body(known) == Some(copy)
            })
            && component.iter().zip(&group.copies).all(|(&id, &copy)| {
                let of = |child: ExprId| match self.places.get(&child) {
                    Some(&place) => group.copies[place as usize],
                    None => self.copies[child.index()],
                };
                match self.grammar.expression(id) {
                    Expression::Rule(rule) => {
                        let place = rules.iter().position(|(known, _)| known == rule);
                        place.is_some_and(|place| {
                            *self.builder.expression(copy) == Expression::Rule(group.rules[place])
                        })
                    }
                    expression => *self.builder.expression(copy) == mapped(expression, of),
                }
            });
        if is_equal {
            for (&id, &copy) in component.iter().zip(&group.copies) {
                self.copies[id.index()] = copy;
            }
        }
        is_equal
    }

    /// Copies an expression whose operands and rule have copies.
    fn copy(&mut self, id: ExprId) {
        let copies = &self.copies;
        let expression = self.grammar.expression(id);
        let made = mapped(expression, |child| copies[child.index()]);
        let builder = &mut *self.builder;
        self.copies[id.index()] = match made {
            Expression::Rule(rule) => builder.rule(self.rules[&rule]),
            Expression::Label(label, body) => builder.label(self.grammar.label(label), body),
            Expression::Intersection(list) => builder.intersection(list),
            Expression::Repeat { body, min, max } => builder.repeat(body, min, max),
            Expression::Complement(body) => builder.complement(body),
            Expression::Name(body, names) => builder.name(body, names),
            Expression::MaxTokens { body, most } => builder.max_tokens(body, most),
            Expression::WordGraph(graph) => builder.word_graph(*graph),
            Expression::Distinct(list) => builder.distinct(*list),
            Expression::Members(list) => builder.member_list(*list),
            made => builder.intern(made),
        };
    }
}

/// The expression with other operands. A reference to a rule stays the same.
fn mapped(expression: &Expression, of: impl Fn(ExprId) -> ExprId) -> Expression {
    let all = |list: &[ExprId]| list.iter().map(|&id| of(id)).collect::<Operands>();
    match expression {
        Expression::Sequence(list) => Expression::Sequence(all(list)),
        Expression::Choice(list) => Expression::Choice(all(list)),
        Expression::Intersection(list) => Expression::Intersection(all(list)),
        &Expression::Repeat { body, min, max } => Expression::Repeat { body: of(body), min, max },
        &Expression::Complement(body) => Expression::Complement(of(body)),
        &Expression::Name(body, names) => Expression::Name(of(body), names),
        &Expression::Label(label, body) => Expression::Label(label, of(body)),
        &Expression::MaxTokens { body, most } => Expression::MaxTokens { body: of(body), most },
        Expression::WordGraph(graph) => {
            Expression::WordGraph(Box::new(graph.with_exits(all(graph.exits()).into_boxed_slice())))
        }
        Expression::Distinct(list) => Expression::Distinct(Box::new(Distinct {
            items: all(&list.items).into_boxed_slice(),
            separator: of(list.separator),
            ..**list
        })),
        Expression::Members(list) => {
            let member = |member: &Member| Member { value: of(member.value), ..member.clone() };
            Expression::Members(Box::new(Members {
                members: list.members.iter().map(member).collect(),
                rest: list.rest.map(&of),
                ones: all(&list.ones).into_boxed_slice(),
                conditions: list.conditions.clone(),
                separator: of(list.separator),
                ..**list
            }))
        }
        Expression::Empty
        | Expression::Never
        | Expression::Bytes(_)
        | Expression::ByteSet(_)
        | Expression::Class(_)
        | Expression::Token(_)
        | Expression::Rule(_) => expression.clone(),
    }
}
