//! A picture of a session: its states, the current state, the open nodes, and why other nodes are blocked.

use super::record::Record;
use grammata::error::Result;
use grammata_agents::procedures::{Event, Session, StateId, Workflow, follow};
use grammata_base::dot::escape;
use std::fmt::Write;

/// Draws a session in Graphviz's notation; the text is empty if the workflow has no supervisor. Boxes are states, with
/// the done nodes and the values that conditions test; one box is for all states outside of the automaton. The current
/// state has a double line. Solid arrows are acts, with their numbers, and decisions. Dashed arrows lead to the open
/// nodes. One box lists the blocked nodes and their obstacles.
///
/// # Errors
/// None at present.
pub fn picture(workflow: &Workflow<'_>, record: &Record) -> Result<String> {
    let procedure = workflow.procedure();
    let Some(supervisor) = workflow.supervisor() else { return Ok(String::new()) };
    let mut session = Session::supervised(supervisor);
    let mut states: Vec<Option<StateId>> = vec![supervisor.state_of(&session)];
    let mut edges: Vec<(usize, usize, Vec<String>)> = Vec::new();
    let (mut at, mut number) = (0, 0);
    let mut label = String::new();
    for event in record.events().iter().filter_map(Event::of) {
        follow(&mut session, &event);
        match &event {
            Event::Call(name, _) | Event::Say { answer: name, .. } => {
                number += 1;
                label = format!("{number}. {name}");
                if matches!(event, Event::Call(..)) {
                    continue;
                }
            }
            Event::Result(_) | Event::Decide(..) => {}
            Event::Free | Event::User(_) | Event::Guide => continue,
        }
        let state = supervisor.state_of(&session);
        let to = states.iter().position(|known| *known == state).unwrap_or(states.len());
        if to == states.len() {
            states.push(state);
        }
        let text =
            if let Event::Decide(slot, value) = &event { format!("{slot} = {value}") } else { label.clone() };
        match edges.iter_mut().find(|(from, known, _)| (*from, *known) == (at, to)) {
            Some((.., labels)) if labels.contains(&text) => {}
            Some((.., labels)) => labels.push(text),
            None => edges.push((at, to, vec![text])),
        }
        at = to;
    }
    let mut dot = String::from("digraph session {\n  rankdir=LR;\n");
    for (number, state) in states.iter().enumerate() {
        let text = state.map_or("outside of the automaton".to_owned(), |state| supervisor.state_text(state));
        let lines = if number == at { 2 } else { 1 };
        let text = if text.is_empty() { "start".to_owned() } else { text.replace(", ", "\n") };
        let _ = writeln!(dot, "  n{number} [shape=box, peripheries={lines}, label=\"{}\"];", escape(&text));
    }
    for (from, to, labels) in &edges {
        let _ = writeln!(dot, "  n{from} -> n{to} [label=\"{}\"];", escape(&labels.join("\n")));
    }
    let mut blocked = String::from("blocked");
    for (node, declared) in procedure.nodes().iter().enumerate() {
        match session.obstacle(node, None) {
            None => {
                let _ = writeln!(dot, "  o{node} [shape=ellipse, label=\"{}\"];", escape(&declared.name));
                let _ = writeln!(dot, "  n{at} -> o{node} [style=dashed];");
            }
            Some(obstacle) => {
                let _ = write!(blocked, "\n{}: {obstacle}", declared.name);
            }
        }
    }
    let _ = writeln!(dot, "  blocked [shape=box, style=dashed, label=\"{}\"];", escape(&blocked));
    dot.push_str("}\n");
    Ok(dot)
}
