//! A picture of the determinised automaton: its configurations as a graph in the DOT language.

use super::{Automaton, ConfigurationId, Tables};
use crate::error::Result;
use crate::grammar::{ByteSet, Grammar};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt::Write;

/// A graph in the DOT language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The text.
    pub dot: String,
    /// Whether there are more configurations than were asked for; the graph shows those nearest to the
    /// start, and a dashed node in place of the rest.
    pub truncated: bool,
}

/// Draws the configurations nearest to the start, `max_configurations` at most. Accepting ones have a double
/// circle; edges show bytes; nodes name the rules that wait for a byte.
///
/// # Errors
/// Limits.
pub fn dot(automaton: &Automaton, grammar: &Grammar, max_configurations: usize) -> Result<Graph> {
    let mut tables = Tables::new();
    let start = tables.start(automaton)?;
    let mut numbers: FxHashMap<ConfigurationId, usize> = FxHashMap::default();
    numbers.insert(start, 0);
    let mut queue = VecDeque::from([start]);
    let (mut nodes, mut edges, mut truncated) = (String::new(), String::new(), false);
    while let Some(at) = queue.pop_front() {
        let number = numbers[&at];
        let mut rules: Vec<&str> = Vec::new();
        for state in tables.states(at) {
            let name = &*grammar.rule(automaton.scope(state).rule).name;
            if !rules.contains(&name) && rules.len() < 4 {
                rules.push(name);
            }
        }
        let shape = if tables.is_accepting(at) { "doublecircle" } else { "circle" };
        let label = escape(&format!("{number} {}", rules.join(" ")));
        let _ = writeln!(nodes, "  n{number} [shape={shape}, label=\"{}\"];", label.trim_end());
        let mut targets: Vec<(ConfigurationId, ByteSet)> = Vec::new();
        for byte in 0..=255 {
            let next = tables.step(automaton, at, byte)?;
            if next == ConfigurationId::DEAD {
                continue;
            }
            match targets.iter_mut().find(|(known, _)| *known == next) {
                Some((_, bytes)) => bytes.insert(byte),
                None => targets.push((next, ByteSet::range(byte, byte))),
            }
        }
        for (next, bytes) in targets {
            let count = numbers.len();
            let target = match numbers.get(&next) {
                Some(known) => format!("n{known}"),
                None if count >= max_configurations => {
                    truncated = true;
                    "more".into()
                }
                None => {
                    numbers.insert(next, count);
                    queue.push_back(next);
                    format!("n{count}")
                }
            };
            let _ = writeln!(edges, "  n{number} -> {target} [label=\"{}\"];", escape(&show(&bytes)));
        }
    }
    if truncated {
        nodes.push_str("  more [shape=box, style=dashed, label=\"more\"];\n");
    }
    let dot = format!("digraph automaton {{\n  rankdir=LR;\n{nodes}{edges}}}\n");
    Ok(Graph { dot, truncated })
}

/// Bytes as ranges: printable ASCII as it is, others in hexadecimal.
fn show(bytes: &ByteSet) -> String {
    let one = |byte: u8| match byte {
        b'!'..=b'~' => char::from(byte).to_string(),
        _ => format!("{byte:02X}"),
    };
    let ranges = bytes.ranges().collect::<Vec<_>>();
    let mut parts: Vec<String> = ranges
        .iter()
        .take(5)
        .map(|&(low, high)| if low == high { one(low) } else { format!("{}-{}", one(low), one(high)) })
        .collect();
    if ranges.len() > 5 {
        parts.push("...".into());
    }
    parts.join(" ")
}

fn escape(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).fold(String::new(), |mut out, c| {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
        out
    })
}
