//! Parsing plans: steps from JSON or from lines of text, each with the actions it may name.

use super::arguments::{ArgumentChecker, WrongArguments};
use super::automaton::{PlanAutomaton, Position};
use super::errors;
use super::partial::PartialPlan;
use super::step::{ARROW, Plan, Step};
use grammata::error::Result;
use grammata::syntax::automaton_spec::{Direction, Spec, Symbol, SymbolSet};
use rustc_hash::FxHashSet;
use serde::de::IgnoredAny;
use serde_json::Value;

/// A step as written, and the steps that it may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadStep {
    /// The text of the step as written.
    pub written: String,
    /// The possible meanings. Empty if no action has this name, or if its elements, outcome or arguments are invalid;
    /// several if actions share a label or no outcome is named.
    pub meanings: Vec<Step>,
    /// The first violation in the step's arguments, if the step has no meaning because of it.
    pub wrong_arguments: Option<WrongArguments>,
}

/// A plan as written, in order of execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadPlan {
    /// The steps. Several steps of a [phrase](grammata::syntax::automaton_spec::Phrase) have the same text.
    pub steps: Vec<ReadStep>,
    /// The lines that are not steps: phrases of the spec without steps, and thoughts.
    pub notes: Vec<String>,
}

impl ReadPlan {
    /// Parses a plan: a JSON array of steps, or one step per line of text. The array may also be the member `steps` of
    /// an object, which stands alone or is the only item of `plans`.
    ///
    /// A step in JSON is the id of an action, or an object with the id as `action` and optional `elements` (texts),
    /// `arguments` (a value) and `outcome` (a name). A line is an action's text, alias, label or id, optionally
    /// followed by ` -> ` and an outcome, or a phrase of the spec. Letter case, punctuation, a leading number, and a
    /// trailing `from 2 and 1` after two spaces are ignored, except in the text of a step with arguments. Steps are in
    /// order of execution. Arguments are checked against their schema. In a line `[thought] … [API] STEP` only the step
    /// counts; a line `[thought] …` is a note. In JSON, a text that is no id may be any of these names of an action.
    ///
    /// # Errors
    /// `plan/unreadable`: the text begins as JSON, but is not a plan in JSON; limits.
    pub fn parse(text: &str, spec: &Spec) -> Result<ReadPlan> {
        if is_json(text) {
            return Ok(ReadPlan { steps: from_json(text, spec)?, notes: Vec::new() });
        }
        let mut checker = ArgumentChecker::default();
        let mut plan = ReadPlan::default();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let mut step = from_line(line, spec, &mut checker)?;
            let mut is_known = !step.meanings.is_empty() || step.wrong_arguments.is_some();
            if let Some(call) = without_thought(line).filter(|_| !is_known) {
                if call.is_empty() {
                    plan.notes.push(step.written);
                    continue;
                }
                step = ReadStep { written: step.written, ..from_line(call, spec, &mut checker)? };
                is_known = !step.meanings.is_empty();
            }
            match phrase(line, spec).filter(|_| !is_known) {
                None => plan.steps.push(step),
                Some(steps) if steps.is_empty() => plan.notes.push(step.written),
                Some(steps) => plan.steps.extend(steps.into_iter().map(|of_phrase| ReadStep {
                    meanings: with_outcomes(vec![of_phrase], None, spec),
                    ..step.clone()
                })),
            }
        }
        Ok(plan)
    }

    /// Returns the indices of the steps without a meaning, in ascending order.
    pub fn unknown(&self) -> impl Iterator<Item = usize> {
        self.steps.iter().enumerate().filter(|(_, step)| step.meanings.is_empty()).map(|(place, _)| place)
    }

    /// Converts a plan of the spec to the form of a parsed plan.
    pub fn of(plan: &Plan, spec: &Spec) -> ReadPlan {
        let one = |step: &Step| ReadStep {
            written: step.line(spec),
            meanings: vec![step.clone()],
            wrong_arguments: None,
        };
        ReadPlan { steps: plan.executed(spec).map(one).collect(), notes: Vec::new() }
    }

    /// Returns the indices of the steps in the order of the spec's words.
    pub(super) fn in_word_order(&self, spec: &Spec) -> Vec<usize> {
        let places = 0..self.steps.len();
        match spec.direction() {
            Direction::Forward => places.collect(),
            Direction::Backward => places.rev().collect(),
        }
    }
}

impl PlanAutomaton {
    /// Parses a word of the spec into a plan; `None` if the automaton does not accept the whole text.
    ///
    /// # Errors
    /// Limits.
    pub fn read_word(&mut self, text: &str) -> Result<Option<Plan>> {
        let spec = self.shared_spec();
        let mut checker = ArgumentChecker::default();
        let mut walk = PartialPlan::new(self);
        // for each step and the next one: the untried successors, each with the end of its text
        let mut path: Vec<Vec<(Step, Position, usize)>> = Vec::new();
        let mut at = 0;
        loop {
            if at == text.len() && self.is_complete(walk.position().state) {
                return Ok(Some(walk.into_plan()));
            }
            let separator = if walk.is_empty() { "" } else { spec.separator() };
            let mut open = Vec::new();
            if let Some(rest) = text.get(at..).and_then(|rest| rest.strip_prefix(separator)) {
                for successor in self.allowed(&walk)?.into_iter().rev() {
                    let Some(symbol) = spec.symbols().get(successor.action) else { continue };
                    let step = Step::of(successor.action).with_outcome(successor.outcome);
                    for (elements, length) in spelled(symbol, &symbol.text, rest) {
                        let step = Step { elements, ..step.clone() };
                        open.push((step, successor.to, at + separator.len() + length));
                    }
                    if let Some((arguments, length)) = with_arguments(symbol, &symbol.text, rest)
                        && checker.check(&spec, successor.action, &arguments)?.is_none()
                    {
                        let step = Step { arguments: Some(arguments), ..step };
                        open.push((step, successor.to, at + separator.len() + length));
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

/// Returns the ways to match a symbol, whose text is `pattern`, at the start of `text`: the elements taken, and the
/// number of bytes matched. There is one result per number of bytes, because the choice of elements does not affect the
/// rest.
///
/// An element may be a prefix of another (`salt`, `salt water`), so each is tried. The search visits each combination
/// of elements passed, number taken and bytes read once.
fn spelled(symbol: &Symbol, pattern: &str, text: &str) -> Vec<(Vec<usize>, usize)> {
    let Some(set) = &symbol.set else {
        if symbol.arguments.is_some() {
            return Vec::new();
        }
        return Vec::from_iter(text.starts_with(pattern).then_some((Vec::new(), pattern.len())));
    };
    let Some((before, after)) = pattern.split_once("{}") else { return Vec::new() };
    let Some(rest) = text.strip_prefix(before) else { return Vec::new() };
    let mut found: Vec<(Vec<usize>, usize)> = Vec::new();
    let mut end = |elements: &[usize], rest: &str| {
        let written = if elements.is_empty() { rest.strip_prefix(set.empty.as_str()) } else { Some(rest) };
        let rest = written.and_then(|rest| rest.strip_prefix(after));
        let length = rest.map_or(0, |rest| text.len() - rest.len());
        let is_new = rest.is_some() && found.iter().all(|&(_, known)| known != length);
        if is_new && (set.min..=set.max).contains(&elements.len()) {
            found.push((elements.to_vec(), length));
        }
    };
    let mut seen = FxHashSet::default();
    let mut open = vec![(Vec::new(), rest)];
    while let Some((elements, rest)) = open.pop() {
        end(&elements, rest);
        let next = if elements.is_empty() { Some(rest) } else { rest.strip_prefix(set.separator.as_str()) };
        let Some(next) = next.filter(|_| elements.len() < set.max) else { continue };
        let first = elements.last().map_or(0, |&last: &usize| last + 1);
        for (place, element) in set.of.iter().enumerate().skip(first) {
            if let Some(rest) = next.strip_prefix(element.as_str())
                && seen.insert((place, elements.len(), rest.len()))
            {
                open.push((elements.iter().copied().chain([place]).collect(), rest));
            }
        }
    }
    found
}

/// Parses the arguments in a symbol's text at the start of `text`, and returns them with the number of bytes matched.
fn with_arguments(symbol: &Symbol, pattern: &str, text: &str) -> Option<(Value, usize)> {
    symbol.arguments.as_ref()?;
    let (before, after) = pattern.split_once("{}")?;
    let rest = text.strip_prefix(before)?;
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = rest.get(values.byte_offset()..)?.strip_prefix(after)?;
    Some((value, text.len() - rest.len()))
}

/// Returns whether a text is JSON or begins as such: with `{`, or with `[` and then the end of the list or of the text,
/// a text, an object or a list. Other texts that begin with `[` are lines, such as `[thought] …`.
fn is_json(text: &str) -> bool {
    let text = text.trim_start();
    let of_list = text.strip_prefix('[').map(|rest| rest.trim_start().chars().next());
    let is_begun = of_list.is_some_and(|next| matches!(next, None | Some('"' | ']' | '{' | '[')));
    let is_whole = || text.starts_with('[') && serde_json::from_str::<IgnoredAny>(text).is_ok();
    text.starts_with('{') || is_begun || is_whole()
}

/// Returns the step in a line `[thought] … [API] STEP` or `[API] STEP`, as FLAP writes plans; the empty text for a line
/// with only a thought; `None` for other lines.
fn without_thought(line: &str) -> Option<&str> {
    let bare = without_number(line).trim();
    match bare.rsplit_once("[API]") {
        Some((before, call)) if before.is_empty() || before.starts_with("[thought]") => Some(call.trim()),
        _ => bare.starts_with("[thought]").then_some(""),
    }
}

fn from_json(text: &str, spec: &Spec) -> Result<Vec<ReadStep>> {
    let value: Value = serde_json::from_str(text).map_err(|e| errors::unreadable(&e.to_string()))?;
    // a report of `grammata plan run` stores its plans in a list
    let plan = match value.get("plans").and_then(Value::as_array).map(Vec::as_slice) {
        Some([plan]) => plan,
        Some(plans) => {
            return Err(errors::unreadable(&format!("a list of {} plans instead of one", plans.len())));
        }
        None => &value,
    };
    let list = plan.get("steps").unwrap_or(plan).as_array();
    let list = list.ok_or_else(|| errors::unreadable("neither a list nor an object with a list `steps`"))?;
    let mut checker = ArgumentChecker::default();
    let mut steps = Vec::with_capacity(list.len());
    for value in list {
        let id = value.as_str().or_else(|| value.get("action")?.as_str());
        let id = id.ok_or_else(|| {
            errors::unreadable("a step is the id of an action, or an object with it as `action`")
        })?;
        let mut wrong_arguments = None;
        let symbols = spec.symbols().iter().enumerate();
        let mut meanings: Vec<Step> = symbols.filter(|(_, s)| s.id == id).map(|(i, _)| Step::of(i)).collect();
        if meanings.is_empty() && value.is_string() {
            steps.push(from_line(id, spec, &mut checker)?);
            continue;
        }
        let written = value.get("elements").and_then(Value::as_array);
        meanings.retain_mut(|step| {
            let set = spec.symbols().get(step.action).and_then(|symbol| symbol.set.as_ref());
            match (set, written) {
                (Some(set), written) => {
                    let mut elements: Vec<Option<usize>> = written
                        .into_iter()
                        .flatten()
                        .map(|name| set.element(name.as_str()?).or_else(|| aliased(set, name.as_str()?)))
                        .collect();
                    elements.sort_unstable();
                    step.elements = elements.iter().flatten().copied().collect();
                    step.elements.len() == elements.len() && step.elements.is_sorted_by(|a, b| a < b)
                }
                (None, written) => written.is_none_or(Vec::is_empty),
            }
        });
        if let Some(arguments) = value.get("arguments") {
            for step in &mut meanings {
                wrong_arguments = checker.check(spec, step.action, arguments)?;
                step.arguments = Some(arguments.clone());
            }
        }
        if wrong_arguments.is_some() {
            meanings.clear();
        }
        let outcome = value.get("outcome").and_then(Value::as_str);
        steps.push(ReadStep {
            written: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            meanings: with_outcomes(meanings, outcome, spec),
            wrong_arguments,
        });
    }
    Ok(steps)
}

/// Restricts meanings to the named outcome, or expands each to all its outcomes if none is named.
fn with_outcomes(meanings: Vec<Step>, outcome: Option<&str>, spec: &Spec) -> Vec<Step> {
    let all = meanings.into_iter().flat_map(|step| step.with_each_outcome(spec));
    all.filter(|step| outcome.is_none_or(|outcome| step.outcome_name(spec) == Some(outcome))).collect()
}

fn from_line(line: &str, spec: &Spec, checker: &mut ArgumentChecker) -> Result<ReadStep> {
    let whole = one_line(line, spec, checker)?;
    // the text of an action may itself contain an arrow
    if whole.meanings.is_empty()
        && let Some((step, outcome)) = line.trim_end().rsplit_once(ARROW)
    {
        let step = one_line(step, spec, checker)?;
        let meanings = with_outcomes(step.meanings, Some(outcome), spec);
        if !meanings.is_empty() || step.wrong_arguments.is_some() {
            return Ok(ReadStep { meanings, written: whole.written, ..step });
        }
    }
    Ok(ReadStep { meanings: with_outcomes(whole.meanings, None, spec), ..whole })
}

fn one_line(line: &str, spec: &Spec, checker: &mut ArgumentChecker) -> Result<ReadStep> {
    let bare = without_number(line);
    let written = line.trim().to_owned();
    let mut wrong = None;
    for (action, symbol) in spec.symbols().iter().enumerate() {
        for form in [line.trim(), bare.trim()] {
            let found = with_arguments(symbol, symbol.text.trim(), form);
            let Some((arguments, _)) = found.filter(|&(_, length)| length == form.len()) else { continue };
            match checker.check(spec, action, &arguments)? {
                None => {
                    let step = Step { arguments: Some(arguments), ..Step::of(action) };
                    return Ok(ReadStep { written, meanings: vec![step], wrong_arguments: None });
                }
                found => wrong = found,
            }
        }
    }
    // in order of specificity: the text, an alias, the id, the label
    let read = |rank: usize| {
        let mut meanings: Vec<Step> = Vec::new();
        for (action, symbol) in spec.symbols().iter().enumerate() {
            for form in [line, bare, without_sources(bare)] {
                if let Some(elements) = matches(symbol, form, rank) {
                    let step = Step { elements, ..Step::of(action) };
                    if !meanings.contains(&step) {
                        meanings.push(step);
                    }
                }
            }
        }
        meanings
    };
    let meanings = (0..4).map(read).find(|meanings| !meanings.is_empty());
    let meanings = if wrong.is_some() { None } else { meanings };
    Ok(ReadStep { written, meanings: meanings.unwrap_or_default(), wrong_arguments: wrong })
}

/// Returns the elements that a line takes; `None` if the line does not name the symbol in the way that `rank` says: by
/// its text (0), an alias (1), its id (2) or its label (others). A set-valued symbol is named only by its text or an
/// alias.
fn matches(symbol: &Symbol, line: &str, rank: usize) -> Option<Vec<usize>> {
    let line_words = words(line);
    let is = |text: &str| words(text) == line_words;
    if symbol.set.is_some() {
        let pattern = |text: &str| elements(symbol, text, line);
        return match rank {
            0 => pattern(&symbol.text),
            1 => symbol.aliases.iter().find_map(|alias| pattern(alias)),
            _ => None,
        };
    }
    let found = match rank {
        0 => is(&symbol.outline()),
        1 => symbol.aliases.iter().any(|alias| is(alias)),
        2 => is(&symbol.id),
        _ => symbol.label.as_deref().is_some_and(is),
    };
    found.then(Vec::new)
}

/// Returns the steps of the phrase that a line is; `None` if it is no phrase.
fn phrase(line: &str, spec: &Spec) -> Option<Vec<Step>> {
    let bare = without_number(line);
    spec.phrases().iter().find_map(|phrase| {
        let symbols = phrase.steps.iter().filter_map(|&step| spec.symbols().get(step));
        let taken = match symbols.into_iter().find(|symbol| symbol.set.is_some()) {
            Some(symbol) => [line, bare].iter().find_map(|form| elements(symbol, &phrase.text, form))?,
            None => {
                let text = words(&phrase.text);
                [line, bare].iter().any(|form| words(form) == text).then(Vec::new)?
            }
        };
        let has_set = |step: usize| spec.symbols().get(step).is_some_and(|symbol| symbol.set.is_some());
        let step = |&step: &usize| match has_set(step) {
            true => Step { elements: taken.clone(), ..Step::of(step) },
            false => Step::of(step),
        };
        Some(phrase.steps.iter().map(step).collect())
    })
}

/// Returns the index of the element of which `name` is another name, in any letter case and punctuation.
fn aliased(set: &SymbolSet, name: &str) -> Option<usize> {
    let name = words(name);
    let alias = set.aliases.iter().find(|(_, alias)| words(alias) == name);
    alias.and_then(|(element, _)| set.element(element))
}

/// Returns the elements in a line of a set-valued symbol, whose text is `pattern`. The line spells the elements as the
/// symbol does, or in any order and letter case, by their texts or aliases, with the separator, `and`, `or` or `and/or`
/// between them.
fn elements(symbol: &Symbol, pattern: &str, line: &str) -> Option<Vec<usize>> {
    let set = symbol.set.as_ref()?;
    let (pattern, line) = (pattern.trim(), line.trim());
    if let Some((elements, _)) =
        spelled(symbol, pattern, line).into_iter().find(|&(_, length)| length == line.len())
    {
        return Some(elements);
    }
    let (before, after) = pattern.split_once("{}")?;
    let (line, before, after) = (line.to_lowercase(), before.to_lowercase(), after.trim_end().to_lowercase());
    let start = line.find(&before)?;
    if !words(&line[..start]).chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let middle = line[start + before.len()..].strip_suffix(&after)?;
    if words(middle) == words(&set.empty) {
        return Some(Vec::new());
    }
    chosen(set, middle)
}

/// The maximum number of words between two elements of a list: `and/or`.
const MOST_JOINTS: usize = 2;

/// Returns the elements that a text lists, in ascending order; `None` if it has other words, or an element twice.
fn chosen(set: &SymbolSet, text: &str) -> Option<Vec<usize>> {
    let aliases = set.aliases.iter().filter_map(|(element, alias)| Some((alias, set.element(element)?)));
    let names = set.of.iter().enumerate().map(|(place, element)| (element, place)).chain(aliases);
    let split = |name: &str| words(name).split(' ').map(str::to_owned).collect::<Vec<String>>();
    let names: Vec<(Vec<String>, usize)> = names.map(|(name, place)| (split(name), place)).collect();
    // the words of the text, each with whether a separator is before it
    let separator = set.separator.trim().to_lowercase();
    let mut list: Vec<(String, bool)> = Vec::new();
    let mut gap = String::new();
    for c in text.to_lowercase().chars().chain([' ']) {
        match (c.is_alphanumeric(), list.last_mut()) {
            (true, Some((word, _))) if gap.is_empty() => word.push(c),
            (true, _) => {
                list.push((c.to_string(), gap.contains(&separator)));
                gap.clear();
            }
            (false, _) => gap.push(c),
        }
    }
    let is_joint = |place: usize| list.get(place).is_some_and(|(word, _)| word == "and" || word == "or");
    let mut seen = FxHashSet::default();
    let mut open: Vec<(usize, Vec<usize>)> = vec![(0, Vec::new())];
    while let Some((from, mut taken)) = open.pop() {
        if from == list.len() {
            taken.sort_unstable();
            return Some(taken);
        }
        let mut begin = from;
        while !taken.is_empty() && begin < from + MOST_JOINTS && is_joint(begin) {
            begin += 1;
        }
        // an element may itself begin with `and` or `or`
        for start in from..=begin {
            let is_apart =
                taken.is_empty() || start > from || list.get(start).is_some_and(|(_, apart)| *apart);
            for (name, place) in names.iter().filter(|(_, place)| is_apart && !taken.contains(place)) {
                let end = start + name.len();
                let has = list.get(start..end).is_some_and(|list| list.iter().map(|(word, _)| word).eq(name));
                if has && seen.insert(end) {
                    open.push((end, taken.iter().copied().chain([*place]).collect()));
                }
            }
        }
    }
    None
}

/// Returns the words of a text, its runs of letters and digits, in lower case and separated by one space.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// Strips a list marker from the start of a line: `3.`, `3)`, `3: `, `-`, `*`, `Step 3:`, or the number of a table row,
/// which is followed by two spaces. `3:` without a space may be a time.
fn without_number(line: &str) -> &str {
    let line = line.trim_start().trim_start_matches(['-', '*', '•']).trim_start();
    let step = line.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("step"));
    let rest = if step { line[4..].trim_start() } else { line };
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    match (digits.len() < rest.len(), digits.chars().next()) {
        (true, Some('.' | ')')) => &digits[1..],
        (true, Some(':')) if step || digits[1..].starts_with(' ') => &digits[1..],
        (true, Some(' ')) if digits.starts_with("  ") => digits,
        _ => line,
    }
}

/// Strips the last column of a table row, which lists the sources of a step's inputs: `  from 3 and 1`.
fn without_sources(line: &str) -> &str {
    let is_sources = |sources: &str| {
        !sources.is_empty()
            && sources.split(' ').all(|word| word == "and" || word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    match line.trim_end().rsplit_once("  from ") {
        Some((step, sources)) if is_sources(sources) => step,
        _ => line,
    }
}
