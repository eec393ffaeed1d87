//! A plan as a tree of data flow, from the outputs of steps to the steps that take them.

use super::step::Plan;
use grammata::syntax::automaton_spec::{Direction, Spec};
use grammata_base::dot::{Attribute, Digraph};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Returns, for each step of a plan in the order of the spec's words, the steps that make its inputs, in the order of
/// the inputs; `None` for an input that no earlier step makes.
///
/// An input is made by a step whose action lists it among its outputs: the latest one executed before whose output is
/// unused. If all are used, the latest one makes it and its output is shared. Of several inputs with one name, the
/// input listed first is made first if words name the first step first (postfix notation), and last if they name the
/// last step first (Polish prefix notation, read backwards).
pub fn dataflow(plan: &Plan, spec: &Spec) -> Vec<Vec<Option<usize>>> {
    /// The steps that make one thing.
    #[derive(Default)]
    struct Makers {
        latest: Option<usize>,
        /// Makers whose output no step takes yet.
        open: Vec<usize>,
    }
    let mut on = vec![Vec::new(); plan.steps.len()];
    let mut makers: FxHashMap<&str, Makers> = FxHashMap::default();
    let backward = spec.direction() == Direction::Backward;
    for place in 0..plan.steps.len() {
        let number = if backward { plan.steps.len() - 1 - place } else { place };
        let Some(symbol) = spec.symbols().get(plan.steps[number].action) else { continue };
        let mut take = |input: &String| {
            let makers = makers.get_mut(input.as_str())?;
            makers.open.pop().or(makers.latest)
        };
        on[number] = match backward {
            true => symbol.inputs.iter().map(&mut take).collect(),
            false => symbol.inputs.iter().rev().map(&mut take).collect(),
        };
        if !backward {
            on[number].reverse();
        }
        for output in &symbol.outputs {
            let makers = makers.entry(output).or_default();
            makers.latest = Some(number);
            makers.open.push(number);
        }
    }
    on
}

/// Returns whether any step of a plan takes the output of another step.
fn is_tree(on: &[Vec<Option<usize>>]) -> bool {
    on.iter().flatten().any(Option::is_some)
}

/// Writes the plan as an indented tree: under each step, the steps that make its inputs. A step whose outputs are used
/// several times is written out once; later occurrences are marked `(above)`. A plan in which no step takes the output
/// of another is written as a list.
pub fn tree_text(plan: &Plan, spec: &Spec) -> String {
    let on = dataflow(plan, spec);
    let mut out = String::new();
    if !is_tree(&on) {
        for (step, number) in plan.executed(spec).zip(1..) {
            let _ = writeln!(out, "{number}. {}", step.line(spec).trim());
        }
        return out;
    }
    let mut has_parent = vec![false; on.len()];
    on.iter().flatten().flatten().for_each(|&child| has_parent[child] = true);
    let roots = (0..on.len()).rev().filter(|&number| !has_parent[number]);
    // a node with the prefixes of its own line and of its children's lines
    let mut open: Vec<(usize, String, String)> =
        roots.map(|number| (number, String::new(), String::new())).collect();
    let mut written = vec![false; on.len()];
    while let Some((number, before, below)) = open.pop() {
        let mark = if written[number] { " (above)" } else { "" };
        let _ = writeln!(out, "{before}{}{mark}", plan.steps[number].line(spec).trim());
        if std::mem::replace(&mut written[number], true) {
            continue;
        }
        let children: Vec<usize> = on[number].iter().flatten().copied().collect();
        for (place, &child) in children.iter().enumerate().rev() {
            let last = place + 1 == children.len();
            let (mark, rest) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            open.push((child, format!("{below}{mark}"), format!("{below}{rest}")));
        }
    }
    out
}

/// Writes the plan as a graph in the DOT language. An edge leads from the step that makes an input to the step that
/// takes it, labelled with the name of the input. A plan in which no step takes the output of another is drawn as a
/// chain in order of execution.
pub fn tree_dot(plan: &Plan, spec: &Spec) -> String {
    let on = dataflow(plan, spec);
    let mut out = Digraph::new("plan", "BT");
    for (number, step) in plan.steps.iter().enumerate() {
        let line = step.line(spec);
        let look = [Attribute::bare("shape", "box"), Attribute::label(line.trim())];
        out.node(format_args!("s{number}"), &look);
    }
    if is_tree(&on) {
        for (number, children) in on.iter().enumerate() {
            let symbol = spec.symbols().get(plan.steps[number].action);
            for (place, child) in children.iter().enumerate() {
                let Some(child) = child else { continue };
                let what = symbol.and_then(|symbol| symbol.inputs.get(place)).map(String::as_str);
                let look = [Attribute::label(what.unwrap_or_default())];
                out.edge(format_args!("s{child}"), format_args!("s{number}"), &look);
            }
        }
    } else {
        let mut order: Vec<usize> = (0..plan.steps.len()).collect();
        if spec.direction() == Direction::Backward {
            order.reverse();
        }
        for pair in order.windows(2) {
            out.edge(format_args!("s{}", pair[0]), format_args!("s{}", pair[1]), &[]);
        }
    }
    out.finish()
}
