//! A plan as a tree: which step works on the output of which.

use super::walk::Plan;
use crate::syntax::automaton_spec::{Direction, Spec};
use std::fmt::Write;

/// For each step of a plan, in the order of the spec's words, the steps whose outputs it works on, in the order of its
/// inputs. Steps of actions without inputs work on none.
///
/// Written from the last step, each step comes before what makes its inputs (Polish prefix notation); written from the
/// first, each comes after (postfix notation). An output that no step takes stays open.
pub fn works_on(plan: &Plan, spec: &Spec) -> Vec<Vec<usize>> {
    let mut on = vec![Vec::new(); plan.steps.len()];
    let inputs = |number: usize| {
        plan.steps
            .get(number)
            .and_then(|step| spec.symbols().get(step.action))
            .map_or(0, |symbol| symbol.inputs.len())
    };
    match spec.direction() {
        Direction::Backward => {
            let mut open: Vec<usize> = Vec::new();
            for number in 0..plan.steps.len() {
                if let Some(parent) = open.pop() {
                    on[parent].push(number);
                }
                open.extend(std::iter::repeat_n(number, inputs(number)));
            }
        }
        Direction::Forward => {
            let mut made: Vec<usize> = Vec::new();
            for (number, list) in on.iter_mut().enumerate() {
                let from = made.len().saturating_sub(inputs(number));
                *list = made.split_off(from);
                made.push(number);
            }
        }
    }
    on
}

/// Whether any step of a plan works on another's output.
fn is_tree(on: &[Vec<usize>]) -> bool {
    on.iter().any(|list| !list.is_empty())
}

/// The plan as a tree of lines: under each step, indented, the steps that make its inputs. A plan whose actions have no
/// inputs is a list.
pub fn tree_text(plan: &Plan, spec: &Spec) -> String {
    let on = works_on(plan, spec);
    let mut out = String::new();
    if !is_tree(&on) {
        for (step, number) in plan.executed(spec).zip(1..) {
            let _ = writeln!(out, "{number}. {}", step.text(spec).trim());
        }
        return out;
    }
    let mut has_parent = vec![false; on.len()];
    on.iter().flatten().for_each(|&child| has_parent[child] = true);
    let roots = (0..on.len()).rev().filter(|&number| !has_parent[number]);
    // a node with the lines that lead to it: what stands before it, and before its children
    let mut open: Vec<(usize, String, String)> =
        roots.map(|number| (number, String::new(), String::new())).collect();
    while let Some((number, before, below)) = open.pop() {
        let _ = writeln!(out, "{before}{}", plan.steps[number].text(spec).trim());
        for (place, &child) in on[number].iter().enumerate().rev() {
            let last = place + 1 == on[number].len();
            let (mark, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            open.push((child, format!("{below}{mark}"), format!("{below}{rest}")));
        }
    }
    out
}

/// The plan as a graph in the DOT language: an edge leads from the step that makes something to the step that takes it,
/// with the name of what it is. A plan whose actions have no inputs is a chain in the order of execution.
pub fn tree_dot(plan: &Plan, spec: &Spec) -> String {
    let on = works_on(plan, spec);
    let mut out = String::from("digraph plan {\n  rankdir=BT;\n");
    for (number, step) in plan.steps.iter().enumerate() {
        let _ = writeln!(out, "  s{number} [shape=box, label=\"{}\"];", escape(step.text(spec).trim()));
    }
    if is_tree(&on) {
        for (number, children) in on.iter().enumerate() {
            let symbol = spec.symbols().get(plan.steps[number].action);
            for (place, child) in children.iter().enumerate() {
                let what = symbol.and_then(|symbol| symbol.inputs.get(place)).map(String::as_str);
                let _ = writeln!(
                    out,
                    "  s{child} -> s{number} [label=\"{}\"];",
                    escape(what.unwrap_or_default())
                );
            }
        }
    } else {
        let mut order: Vec<usize> = (0..plan.steps.len()).collect();
        if spec.direction() == Direction::Backward {
            order.reverse();
        }
        for pair in order.windows(2) {
            let _ = writeln!(out, "  s{} -> s{};", pair[0], pair[1]);
        }
    }
    out.push_str("}\n");
    out
}

/// A text inside a quoted string of DOT.
pub(super) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
