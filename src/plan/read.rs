//! Reading plans: JSON or lines of text to steps, as far as each says which action is meant.

use super::automaton::{PlanAutomaton, Position};
use super::errors;
use super::walk::{Plan, Step, Walk};
use crate::error::Result;
use crate::syntax::automaton_spec::{Direction, Spec, Symbol};
use serde_json::Value;

/// One step as it is written, and the steps that it may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStep {
    /// The step as it is written.
    pub written: String,
    /// What it may mean: none if no action is known by it, several if they share a label.
    pub meanings: Vec<Step>,
}

/// A plan as it is written, in the order in which it is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPlan {
    /// The steps.
    pub steps: Vec<ReadStep>,
}

impl ReadPlan {
    /// Reads a plan: a JSON array of steps (or an object with such an array as `steps`), else a line of text a step.
    ///
    /// A step of JSON is the id of an action, or `{"action": id, "elements": [texts]}`. A line is an action's text, one
    /// of its aliases, its label or its id; letter case, punctuation and a number before it do not matter. Steps stand
    /// in the order in which they are carried out.
    ///
    /// # Errors
    /// `plan/unreadable`: what begins like JSON is not a plan in JSON.
    pub fn parse(text: &str, spec: &Spec) -> Result<ReadPlan> {
        let steps = match text.trim_start().chars().next() {
            Some('[' | '{') => from_json(text, spec)?,
            _ => text
                .lines()
                .filter(|line| !line.trim().is_empty())
                .map(|line| from_line(line, spec))
                .collect(),
        };
        Ok(ReadPlan { steps })
    }

    /// A plan that was made here.
    pub fn of(plan: &Plan, spec: &Spec) -> ReadPlan {
        let one = |step: &Step| ReadStep { written: step.text(spec), meanings: vec![step.clone()] };
        ReadPlan { steps: plan.executed(spec).map(one).collect() }
    }

    /// The places of the steps in the order of the spec's words.
    pub(super) fn in_word_order(&self, spec: &Spec) -> Vec<usize> {
        let places = 0..self.steps.len();
        match spec.direction() {
            Direction::Forward => places.collect(),
            Direction::Backward => places.rev().collect(),
        }
    }
}

impl PlanAutomaton {
    /// The plan that a word of the spec's texts names, if the automaton allows it to its end.
    ///
    /// # Errors
    /// Limits.
    pub fn read_word(&mut self, text: &str) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        let mut walk = Walk::new(self);
        // per step and the next: the offers still to be tried, each with where in the text it ends
        let mut path: Vec<Vec<(Step, Position, usize)>> = Vec::new();
        let mut at = 0;
        loop {
            if at == text.len() && self.is_complete(walk.position().state) {
                return Ok(Some(walk.into_plan()));
            }
            let separator = if walk.is_empty() { "" } else { spec.separator() };
            let mut open = Vec::new();
            if let Some(rest) = text.get(at..).and_then(|rest| rest.strip_prefix(separator)) {
                for offer in self.allowed(&walk)?.into_iter().rev() {
                    let Some(symbol) = spec.symbols().get(offer.action) else { continue };
                    if let Some((elements, length)) = spelled(symbol, rest) {
                        let step = Step { action: offer.action, elements };
                        open.push((step, offer.to, at + separator.len() + length));
                    }
                }
            }
            path.push(open);
            loop {
                let Some(open) = path.last_mut() else { return Ok(None) };
                match open.pop() {
                    Some((step, to, end)) => {
                        walk.push(step, to);
                        at = end;
                        break;
                    }
                    None => {
                        path.pop();
                        walk.pop();
                    }
                }
            }
        }
    }
}

/// The elements that a symbol takes at the start of a text, and the length of what it spells there.
fn spelled(symbol: &Symbol, text: &str) -> Option<(Vec<usize>, usize)> {
    let Some(set) = &symbol.set else {
        return text.starts_with(&symbol.text).then_some((Vec::new(), symbol.text.len()));
    };
    let (before, after) = symbol.text.split_once("{}")?;
    let mut rest = text.strip_prefix(before)?;
    let mut elements = Vec::new();
    for (place, element) in set.of.iter().enumerate() {
        let next = if elements.is_empty() { Some(rest) } else { rest.strip_prefix(set.separator.as_str()) };
        if let Some(found) = next.and_then(|next| next.strip_prefix(element.as_str())) {
            rest = found;
            elements.push(place);
        }
    }
    if elements.is_empty() {
        rest = rest.strip_prefix(set.empty.as_str())?;
    }
    rest = rest.strip_prefix(after)?;
    Some((elements, text.len() - rest.len()))
}

fn from_json(text: &str, spec: &Spec) -> Result<Vec<ReadStep>> {
    let value: Value = serde_json::from_str(text).map_err(|e| errors::unreadable(&e.to_string()))?;
    let list = value.get("steps").unwrap_or(&value).as_array();
    let list = list.ok_or_else(|| errors::unreadable("neither a list nor an object with a list `steps`"))?;
    let mut steps = Vec::with_capacity(list.len());
    for value in list {
        let id = value.as_str().or_else(|| value.get("action")?.as_str());
        let id = id.ok_or_else(|| {
            errors::unreadable("a step is the id of an action, or an object with it as `action`")
        })?;
        let symbols = spec.symbols().iter().enumerate();
        let mut meanings: Vec<Step> = symbols.filter(|(_, s)| s.id == id).map(|(i, _)| Step::of(i)).collect();
        let written = value.get("elements").and_then(Value::as_array);
        meanings.retain_mut(|step| {
            let set = spec.symbols().get(step.action).and_then(|symbol| symbol.set.as_ref());
            match (set, written) {
                (Some(set), written) => {
                    let mut elements: Vec<Option<usize>> = written
                        .into_iter()
                        .flatten()
                        .map(|name| set.of.iter().position(|element| name.as_str() == Some(element)))
                        .collect();
                    elements.sort_unstable();
                    step.elements = elements.iter().flatten().copied().collect();
                    step.elements.len() == elements.len() && step.elements.is_sorted_by(|a, b| a < b)
                }
                (None, written) => written.is_none_or(Vec::is_empty),
            }
        });
        steps.push(ReadStep {
            written: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            meanings,
        });
    }
    Ok(steps)
}

fn from_line(line: &str, spec: &Spec) -> ReadStep {
    let (whole, bare) = (words(line), words(without_number(line)));
    let mut best: Vec<Step> = Vec::new();
    // what says more comes first: the text, then an alias, then the id, then a label
    for rank in 0..4 {
        for (action, symbol) in spec.symbols().iter().enumerate() {
            for form in [&whole, &bare] {
                if let Some(elements) = matches(symbol, form, line, rank) {
                    let step = Step { action, elements };
                    if !best.contains(&step) {
                        best.push(step);
                    }
                }
            }
        }
        if !best.is_empty() {
            break;
        }
    }
    ReadStep { written: line.trim().to_owned(), meanings: best }
}

/// The elements that a line takes, if it means the symbol.
fn matches(symbol: &Symbol, form: &str, line: &str, rank: usize) -> Option<Vec<usize>> {
    let is = |text: &str| words(text) == *form;
    if symbol.set.is_some() {
        return if rank == 0 { elements(symbol, line) } else { None };
    }
    let found = match rank {
        0 => is(&symbol.text),
        1 => symbol.aliases.iter().any(|alias| is(alias)),
        2 => is(&symbol.id),
        _ => symbol.label.as_deref().is_some_and(is),
    };
    found.then(Vec::new)
}

/// The elements in a line of a set-valued symbol.
fn elements(symbol: &Symbol, line: &str) -> Option<Vec<usize>> {
    let set = symbol.set.as_ref()?;
    let (before, after) = symbol.text.trim().split_once("{}")?;
    let line = line.trim();
    let (line, before, after) = (line.to_lowercase(), before.to_lowercase(), after.trim_end().to_lowercase());
    let start = line.find(&before)?;
    if !words(&line[..start]).chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let middle = line[start + before.len()..].strip_suffix(&after)?;
    if words(middle) == words(&set.empty) {
        return Some(Vec::new());
    }
    let mut elements = Vec::new();
    for part in middle.split(set.separator.as_str()) {
        elements.push(set.of.iter().position(|element| words(element) == words(part))?);
    }
    elements.sort_unstable();
    elements.is_sorted_by(|a, b| a < b).then_some(elements)
}

/// The letters and digits of a text in lower case, with one space between words.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// A line without a mark of a list before it: `3.`, `3)`, `-`, `*`, `Step 3:`.
fn without_number(line: &str) -> &str {
    let line = line.trim_start().trim_start_matches(['-', '*', '•']).trim_start();
    let step = line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("step"));
    let rest = if step { line[4..].trim_start() } else { line };
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match (digits.len() < rest.len(), digits.chars().next()) {
        (true, Some('.' | ')')) => &digits[1..],
        (true, Some(':')) if step => &digits[1..],
        _ => line,
    }
}
