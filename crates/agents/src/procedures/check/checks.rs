//! Static checks of declarations and text.

use crate::procedures::language::declarations::{Node, NodeKind};
use crate::procedures::language::errors::{self, Findings};
use crate::procedures::language::pdl::{Expr, ExprId, Expressions, Operator, Program};
use crate::procedures::language::status::Status;
use crate::procedures::language::value::Literal;
use crate::procedures::semantics::guards::{Guards, Site, Test};
use crate::procedures::semantics::procedure::{Precondition, Procedure};
use crate::procedures::semantics::registers::Registers;
use fixedbitset::FixedBitSet;
use grammata::diagnostic::{Place, did_you_mean};
use grammata::error::Result;
use grammata_base::work::Budget;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Returns the preconditions of each node. Preconditions with an unknown name or an unknown status are errors and left
/// out.
pub(in crate::procedures) fn preconditions(
    nodes: &[Node],
    index: &FxHashMap<String, usize>,
    findings: &mut Findings,
) -> Vec<Vec<Precondition>> {
    let mut all = Vec::with_capacity(nodes.len());
    for node in nodes {
        let mut known = Vec::new();
        for written in &node.required {
            let (name, status) = match written.split_once('!') {
                None => (written.as_str(), Some(None)),
                Some((name, "ok")) => (name, Some(Some(Status::Ok))),
                Some((name, "error")) => (name, Some(Some(Status::Error))),
                Some((name, _)) => (name, None),
            };
            match (index.get(name), status) {
                (Some(&node), Some(status)) => known.push(Precondition { node, status }),
                (found, _) => {
                    let near = match found {
                        Some(_) => "write `!ok` or `!error` after the name, or nothing".to_owned(),
                        None => did_you_mean(
                            name,
                            index.keys().map(String::as_str),
                            "declare it, or remove the precondition",
                        ),
                    };
                    findings.error(errors::unknown_precondition(node.place.clone(), written, near));
                }
            }
        }
        all.push(known);
    }
    all
}

/// Returns for each node the nodes that it requires, directly or not. A precondition that closes a cycle is an error;
/// the sets may then be incomplete.
pub(in crate::procedures) fn closure(
    nodes: &[Node],
    preconditions: &[Vec<Precondition>],
    findings: &mut Findings,
    budget: &Budget,
) -> Result<Vec<FixedBitSet>> {
    let mut closure: Vec<FixedBitSet> = vec![FixedBitSet::new(); nodes.len()];
    let (mut is_done, mut on_path) = (vec![false; nodes.len()], vec![false; nodes.len()]);
    for start in 0..nodes.len() {
        // the path of the depth-first search: nodes, each with the index of the next precondition to follow
        let mut path: Vec<(usize, usize)> = if is_done[start] { Vec::new() } else { vec![(start, 0)] };
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            on_path[node] = true;
            match preconditions[node].get(*next) {
                Some(precondition) if on_path[precondition.node] => {
                    *next += 1;
                    let from = path.iter().position(|(node, _)| *node == precondition.node).unwrap_or(0);
                    let names: Vec<&str> = path[from..]
                        .iter()
                        .map(|(node, _)| nodes[*node].name.as_str())
                        .chain([nodes[precondition.node].name.as_str()])
                        .collect();
                    let place = nodes[precondition.node].place.clone();
                    findings.error(errors::cyclic_precondition(place, &names.join(" -> ")));
                }
                Some(precondition) if !is_done[precondition.node] => {
                    *next += 1;
                    path.push((precondition.node, 0));
                }
                Some(_) => *next += 1,
                None => {
                    budget.spend(1 + preconditions[node].len() * nodes.len().div_ceil(64))?;
                    let mut all = FixedBitSet::with_capacity(nodes.len());
                    for precondition in &preconditions[node] {
                        all.insert(precondition.node);
                        all.union_with(&closure[precondition.node]);
                    }
                    closure[node] = all;
                    (is_done[node], on_path[node]) = (true, false);
                    path.pop();
                }
            }
        }
    }
    Ok(closure)
}

/// Returns the id of the first expression in the subtree of an expression. Subtrees are stored contiguously, and the
/// root comes last.
fn first_of(expressions: &Expressions, root: ExprId) -> ExprId {
    let mut first = root;
    loop {
        first = match expressions.get(first) {
            Expr::Not(inner) => *inner,
            Expr::And(left, _) | Expr::Or(left, _) | Expr::Compare(_, left, _) => *left,
            _ => return first,
        };
    }
}

fn register(expression: &Expr) -> Option<u32> {
    match expression {
        Expr::Slot { register, .. } | Expr::Call { register, .. } => *register,
        _ => None,
    }
}

/// Marks the registers that conditions that guard calls test, and collects the literals that they are compared with.
pub(in crate::procedures) fn tested(
    registers: &mut Registers,
    program: &Program,
    guards: &Guards,
    sites: &[Site],
    budget: &Budget,
) -> Result<()> {
    let mut seen = FixedBitSet::with_capacity(guards.list.len());
    let mut seen_expressions = FixedBitSet::with_capacity(program.expressions.nodes.len());
    let mut open: Vec<u32> = sites.iter().filter_map(|site| site.guard).collect();
    while let Some(guard) = open.pop() {
        if seen.put(guard as usize) {
            continue;
        }
        let guard = &guards.list[guard as usize];
        open.extend(guard.parent);
        match guard.test {
            Test::NotAll { from, .. } => open.push(from),
            Test::Condition { expr, .. } if !seen_expressions.put(expr as usize) => {
                let first = first_of(&program.expressions, expr);
                budget.spend((expr - first) as usize + 1)?;
                literals(registers, &program.expressions, first, expr);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Adds the literals that the registers of a condition are compared with. A register alone is compared with `true`.
fn literals(registers: &mut Registers, expressions: &Expressions, first: ExprId, root: ExprId) {
    let mut compared = FxHashSet::default();
    for id in (first..=root).rev() {
        let mut add = |register: u32, literal: Option<Literal>| {
            let register = &mut registers.list[register as usize];
            register.is_tested = true;
            register.literals.extend(literal.filter(|literal| !register.literals.contains(literal)));
        };
        match expressions.get(id) {
            Expr::Compare(_, left, right) => {
                for (one, other) in [(*left, *right), (*right, *left)] {
                    compared.insert(one);
                    if let Some(register) = register(expressions.get(one)) {
                        let literal = match expressions.get(other) {
                            Expr::Literal(literal) => Some(literal.clone()),
                            _ => None,
                        };
                        add(register, literal);
                    }
                }
            }
            other => {
                if let Some(register) = register(other).filter(|_| !compared.contains(&id)) {
                    add(register, Some(Literal::Boolean(true)));
                }
            }
        }
    }
}

/// The input of the checks of a text.
pub(in crate::procedures) struct Text {
    pub(in crate::procedures) assigned: FxHashSet<String>,
    pub(in crate::procedures) used: FxHashSet<String>,
    pub(in crate::procedures) loops: FxHashSet<ExprId>,
    pub(in crate::procedures) place: Place,
}

/// Checks for unused nodes, calls with an effect that no answer announces, slots, the conditions' registers, and
/// dependencies. The last check is skipped if preconditions are cyclic.
pub(in crate::procedures) fn text(
    procedure: &Procedure,
    text: &Text,
    findings: &mut Findings,
    budget: &Budget,
) -> Result<()> {
    for (index, node) in procedure.nodes.iter().enumerate() {
        let is_step = matches!(node.kind, NodeKind::Api | NodeKind::Inform);
        if is_step && procedure.sites_of[index].is_empty() {
            findings.warn(errors::unused_node(node.place.clone(), &node.name));
        }
        let is_answer = |name: &String| {
            procedure.node(name).is_some_and(|required| procedure.nodes[required].kind != NodeKind::Api)
        };
        if node.writes && !node.required.iter().any(is_answer) {
            findings.note(errors::write_without_confirmation(node.place.clone(), &node.name));
        }
    }
    slots(procedure, text, findings);
    conditions(procedure, text, findings);
    if !findings.has("pdl/cyclic-precondition") {
        dependencies(procedure, &text.loops, findings, budget)?;
    }
    Ok(())
}

/// Returns the names of slots in the text of an answer: the name after `$`, and for `$API-slot` the slot.
fn holes(text: &str) -> impl Iterator<Item = &str> {
    text.split('$').skip(1).filter_map(|rest| {
        let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let begins = |text: &str| text.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let first = word(rest);
        match rest[first..].strip_prefix('-').filter(|slot| begins(slot)) {
            _ if !begins(rest) => None,
            Some(slot) => Some(&slot[..word(slot)]),
            None => Some(&rest[..first]),
        }
    })
}

fn slots(procedure: &Procedure, text: &Text, findings: &mut Findings) {
    if procedure.slots.is_empty() {
        return;
    }
    let mut mentioned: BTreeMap<&str, &Place> = BTreeMap::new();
    for node in &procedure.nodes {
        let names = node.request.iter().chain(&node.response).chain(&node.asks).map(String::as_str);
        let said = if node.kind == NodeKind::Api { "" } else { node.description.as_str() };
        for name in names.chain(holes(said)) {
            mentioned.entry(name).or_insert(&node.place);
        }
    }
    for name in text.used.iter().chain(&text.assigned).filter(|name| !name.contains('.')) {
        mentioned.entry(name).or_insert(&text.place);
    }
    let known: FxHashSet<&str> = procedure.slots.iter().map(|slot| slot.name.as_str()).collect();
    for (name, place) in &mentioned {
        if !known.contains(name) {
            let near = did_you_mean(name, known.iter().copied(), "declare it among SLOTs");
            findings.warn(errors::undeclared_slot((*place).clone(), name, near));
        }
    }
    for slot in procedure.slots.iter().filter(|slot| !mentioned.contains_key(slot.name.as_str())) {
        findings.warn(errors::unused_slot(slot.place.clone(), &slot.name));
    }
}

fn conditions(procedure: &Procedure, text: &Text, findings: &mut Findings) {
    for register in procedure.registers.iter().filter(|register| register.is_tested) {
        let slot = &register.slot;
        let is_asked = |node: &Node| node.asks.contains(slot) || node.request.contains(slot);
        if register.writers.is_empty()
            && !text.assigned.contains(slot)
            && !procedure.nodes.iter().any(is_asked)
        {
            findings.warn(errors::unassigned_slot(register.place.clone(), slot));
        }
        let kinds: BTreeSet<&str> = register
            .literals
            .iter()
            .map(|literal| match literal {
                Literal::Boolean(_) => "boolean",
                Literal::Number(_) => "number",
                Literal::Text(_) => "text",
            })
            .collect();
        if kinds.len() > 1 {
            let kinds: Vec<&str> = kinds.into_iter().collect();
            findings.warn(errors::mixed_literals(register.place.clone(), slot, &kinds.join(", ")));
        }
    }
}

/// The APIs that a guard and its ancestors test.
#[derive(Clone, Default)]
pub(in crate::procedures) struct Before {
    /// APIs that write a slot which the conditions of these guards read.
    pub(in crate::procedures) apis: Rc<BTreeSet<usize>>,
    /// APIs of each `try` in whose `except` the guard is: of each `try`, one API must have failed.
    pub(in crate::procedures) raised: Rc<BTreeSet<usize>>,
    loops: Option<Rc<Loops>>,
}

/// A persistent list of the conditions of the loops around a guard, the innermost first.
struct Loops {
    condition: ExprId,
    outer: Option<Rc<Loops>>,
}

fn dependencies(
    procedure: &Procedure,
    loops: &FxHashSet<ExprId>,
    findings: &mut Findings,
    budget: &Budget,
) -> Result<()> {
    let before = before(procedure, loops, budget)?;
    for (index, node) in procedure.nodes.iter().enumerate() {
        let closure = &procedure.closure[index];
        let mut first_missing = None;
        let mut all_miss = true;
        for &at in &procedure.sites_of[index] {
            let site = &procedure.sites[at];
            let before = site.guard.map(|guard| before[guard as usize].clone()).unwrap_or_default();
            let mut next = before.loops.as_ref();
            while let Some(Loops { condition, outer }) = next.map(Rc::as_ref) {
                next = outer.as_ref();
                let api = if node.kind == NodeKind::Api {
                    said_no(procedure, *condition, closure, budget)?
                } else {
                    None
                };
                if let Some(api) = api {
                    let name = &procedure.nodes[api].name;
                    findings.warn(errors::suspicious_guard(site.place.clone(), &node.name, name));
                }
            }
            budget.spend(before.apis.len())?;
            let is_free = before.apis.is_empty()
                || before.apis.iter().any(|&api| api == index || closure.contains(api));
            all_miss &= !is_free;
            first_missing.get_or_insert((site, before.apis));
        }
        if let Some((site, apis)) = first_missing
            && all_miss
            && matches!(node.kind, NodeKind::Api | NodeKind::Inform)
        {
            let names: Vec<String> =
                apis.iter().map(|&api| format!("`{}`", procedure.nodes[api].name)).collect();
            findings.warn(errors::missing_precondition(site.place.clone(), &node.name, &names.join(" or ")));
        }
    }
    Ok(())
}

/// Computes [`Before`] for each guard. A guard that adds nothing to a set shares that of its parent.
pub(in crate::procedures) fn before(
    procedure: &Procedure,
    loops: &FxHashSet<ExprId>,
    budget: &Budget,
) -> Result<Vec<Before>> {
    let expressions = &procedure.program.expressions;
    let mut all: Vec<Before> = Vec::with_capacity(procedure.guards.list.len());
    for guard in &procedure.guards.list {
        let mut before = guard.parent.map(|parent| all[parent as usize].clone()).unwrap_or_default();
        let mut read: BTreeSet<usize> = BTreeSet::new();
        let mut conditions = Vec::new();
        match guard.test {
            Test::Condition { expr, wanted } => {
                conditions.push(expr);
                if wanted && loops.contains(&expr) {
                    before.loops = Some(Rc::new(Loops { condition: expr, outer: before.loops.take() }));
                }
            }
            Test::NotAll { from, until } => {
                for guard in procedure.guards.path(Some(from), until) {
                    if let Test::Condition { expr, .. } = guard.test {
                        conditions.push(expr);
                    }
                }
            }
            Test::Raised { of, wanted: true } => {
                let apis = &procedure.guards.tries[of];
                budget.spend(before.raised.len() + apis.len())?;
                before.raised = Rc::new(before.raised.iter().chain(apis).copied().collect());
            }
            Test::NoError(_) | Test::Raised { .. } => {}
        }
        for root in conditions {
            let first = first_of(expressions, root);
            budget.spend((root - first) as usize + 1)?;
            let registers = (first..=root).filter_map(|id| register(expressions.get(id)));
            for register in registers {
                read.extend(&procedure.registers[register as usize].writers);
            }
        }
        if !read.is_subset(&before.apis) {
            budget.spend(before.apis.len() + read.len())?;
            before.apis = Rc::new(before.apis.union(&read).copied().collect());
        }
        all.push(before);
    }
    Ok(all)
}

/// Returns an API of `required` whose first response slot must be false for a condition to hold; `None` if none is
/// found.
fn said_no(
    procedure: &Procedure,
    condition: ExprId,
    required: &FixedBitSet,
    budget: &Budget,
) -> Result<Option<usize>> {
    let expressions = &procedure.program.expressions;
    let first = first_of(expressions, condition);
    budget.spend((condition - first) as usize + 1)?;
    // by expression: an API whose first slot must be false for the expression to be true, and one for it to be false
    let mut known: Vec<[Option<usize>; 2]> = Vec::new();
    let of = |known: &[[Option<usize>; 2]], id: ExprId| known[(id - first) as usize];
    let api_of = |id: ExprId| {
        let register = &procedure.registers[register(expressions.get(id))? as usize];
        let api = register.api.filter(|&api| required.contains(api))?;
        (procedure.nodes[api].response.first() == Some(&register.slot)).then_some(api)
    };
    for id in first..=condition {
        let sides = match expressions.get(id) {
            Expr::Slot { .. } | Expr::Call { .. } => [None, api_of(id)],
            Expr::Not(inner) => {
                let [yes, no] = of(&known, *inner);
                [no, yes]
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                let (left, right) = (of(&known, *left), of(&known, *right));
                let both = |side: usize| left[side].and(right[side]);
                let one = |side: usize| left[side].or(right[side]);
                if matches!(expressions.get(id), Expr::Or(..)) {
                    [both(0), one(1)]
                } else {
                    [one(0), both(1)]
                }
            }
            Expr::Compare(Operator::Equal, slot, literal) => match expressions.get(*literal) {
                Expr::Literal(Literal::Boolean(true)) => [None, api_of(*slot)],
                Expr::Literal(Literal::Boolean(false)) => [api_of(*slot), None],
                _ => [None, None],
            },
            _ => [None, None],
        };
        known.push(sides);
    }
    Ok(of(&known, condition)[0])
}

#[cfg(test)]
mod tests {
    #[test]
    fn holes_are_names_after_a_dollar() {
        let found: Vec<&str> = super::holes("$a b $5 $API-slot_1, $x- $").collect();
        assert_eq!(found, ["a", "slot_1", "x"]);
    }
}
