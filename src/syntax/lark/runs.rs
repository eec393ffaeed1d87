//! Merges adjacent parts that match any text.
//!
//! Where a lazy rule may begin, any text extends as far as possible. So it is followed neither by any text nor by a
//! lazy rule that is any text up to a string: those would be part of the same text. The rewriting keeps the language,
//! because any text may be empty:
//!
//! | written | read |
//! |---|---|
//! | `TEXT TEXT` | `TEXT` |
//! | `TEXT call` | `call` |
//! | `TEXT call*` | `call+ \| TEXT` |
//! | `(call \| TEXT)*` | `call* TEXT?` |
//! | `(call \| TEXT \| other)*` | `(call \| TEXT? other)* TEXT?` |
//! | `(call TEXT)*` | `(call+ TEXT?)?` |
//!
//! Here `call` always begins with a lazy rule that is any text up to a string. After a rewriting, `call` no longer
//! follows the text, but what does follow the text still begins where `call` may begin; an [`Item::Beside`] records
//! this. Other grammars are unchanged; [`Shapes`](super::adjacent::Shapes) refuses those in which text follows text.
//! Recurses over groups, whose depth the parser bounds.

use super::any_text::Names;
use super::tree::{Body, Definition, Item, Name, Parsed, Part};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of a chain of names, each expanded within the previous one.
const MAX_NAMES: usize = 64;

/// Maximum number of parts that are copied from rules into the places where the rules are repeated.
const MAX_COPIED: usize = 1 << 16;

/// Maximum number of consecutive optional calls after a text that are rewritten. With more, the text is unchanged.
const MAX_MISSING: usize = 8;

/// Returns the grammar with merged texts. `None` if it has no lazy rule that is any text up to a string.
pub(super) fn joined<'s>(parsed: &Parsed<'s>) -> Option<Parsed<'s>> {
    let names = Names::new(parsed);
    let lazies = parsed.definitions.iter().filter(|it| it.attributes.is_lazy && names.trigger(it).is_some());
    let lazies: FxHashSet<Name<'s>> = lazies.map(|it| it.name).collect();
    if lazies.is_empty() {
        return None;
    }
    let calls = lazies.into_iter().map(|name| (name, true)).collect();
    let mut runs = Runs { names, calls, plain: FxHashSet::default(), depth: 0, budget: MAX_COPIED };
    let mut joined = parsed.clone();
    for definition in joined.definitions.iter_mut().filter(|it| is_rule(it)) {
        definition.body = runs.body(&definition.body);
    }
    Some(joined)
}

/// Whether a definition is a rule that is not lazy.
fn is_rule(definition: &Definition<'_>) -> bool {
    !definition.name.is_terminal() && !definition.attributes.is_lazy
}

fn is_once(part: &Part<'_>) -> bool {
    part.min == 1 && part.max == Some(1)
}

fn group<'s>(at: usize, body: Body<'s>, min: u32, max: Option<u32>) -> Part<'s> {
    Part { at, item: Item::Group(body), min, max }
}

/// A part that adds no text, and records that the lazy rules with which these alternatives begin may begin at its
/// place.
fn beside_of<'s>(at: usize, body: Body<'s>) -> Part<'s> {
    Part { at, item: Item::Beside(body), min: 0, max: Some(1) }
}

/// The state of merging the texts of a grammar.
struct Runs<'s, 'p> {
    names: Names<'s, 'p>,
    /// By the name of a rule: whether each of its words begins with a lazy rule that is any text up to a string.
    calls: FxHashMap<Name<'s>, bool>,
    /// The names of rules whose unbounded repetitions are known to stay unchanged.
    plain: FxHashSet<Name<'s>>,
    /// The number of names and repetitions that are being expanded.
    depth: usize,
    /// The number of parts that may still be copied.
    budget: usize,
}

impl<'s> Names<'s, '_> {
    /// Adds the alternatives of an item to `ways`. An alternative that is only a rule or a group is replaced by the
    /// alternatives of the rule or group. The flag of an alternative says whether its texts are already merged.
    fn ways<'b>(
        &'b self,
        item: &'b Item<'s>,
        is_rule_body: bool,
        ways: &mut Vec<(&'b [Part<'s>], bool)>,
        seen: &mut FxHashSet<Name<'s>>,
        depth: usize,
    ) {
        let (body, is_raw) = match item {
            Item::Group(body) => (body, is_rule_body),
            // expanding a name again would add only alternatives that are in the list
            Item::Name(name) if seen.insert(*name) => match self.definition(*name) {
                Some(it) => (&it.body, true),
                None => return,
            },
            _ => return,
        };
        for parts in body {
            match &parts[..] {
                [only] if is_once(only) && depth < MAX_NAMES && self.has_ways(&only.item) => {
                    self.ways(&only.item, is_raw, ways, seen, depth + 1);
                }
                _ => ways.push((parts, !is_raw)),
            }
        }
    }

    /// Whether an item is a group or a rule whose alternatives may replace it: it is not any text, and a rule has no
    /// attributes.
    fn has_ways(&self, item: &Item<'s>) -> bool {
        let is_plain = match item {
            Item::Group(_) => true,
            Item::Name(name) => {
                self.definition(*name).is_some_and(|it| is_rule(it) && it.attributes.is_none())
            }
            _ => false,
        };
        is_plain && !self.is_any_text(item)
    }
}

impl<'s> Runs<'s, '_> {
    fn is_text(&self, part: &Part<'s>) -> bool {
        part.max != Some(0) && self.names.is_any_text(&part.item)
    }

    /// Whether each word of an item begins with a lazy rule that is any text up to a string. `false` if this is not
    /// known.
    fn is_call(&mut self, item: &Item<'s>) -> bool {
        match item {
            Item::Group(body) => self.are_calls(body),
            Item::Beside(_) => true,
            Item::Name(name) => {
                if let Some(&known) = self.calls.get(name) {
                    return known;
                }
                let definition = self.names.definition(*name).filter(|it| is_rule(it));
                let Some(definition) = definition.filter(|_| self.depth < MAX_NAMES) else { return false };
                // `false` is assumed meanwhile: a left-recursive rule does not begin with a call
                self.calls.insert(*name, false);
                self.depth += 1;
                let found = self.are_calls(&definition.body);
                self.depth -= 1;
                self.calls.insert(*name, found);
                found
            }
            _ => false,
        }
    }

    fn are_calls(&mut self, body: &Body<'s>) -> bool {
        !body.is_empty() && body.iter().all(|parts| self.begins_with_call(parts))
    }

    fn begins_with_call(&mut self, parts: &[Part<'s>]) -> bool {
        parts.first().is_some_and(|part| part.min > 0 && part.max != Some(0) && self.is_call(&part.item))
    }

    fn body(&mut self, body: &Body<'s>) -> Body<'s> {
        body.iter().map(|parts| self.sequence(parts)).collect()
    }

    fn sequence(&mut self, parts: &[Part<'s>]) -> Vec<Part<'s>> {
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            match self.part(part) {
                Part { item: Item::Group(mut body), min: 1, max: Some(1), .. } if body.len() == 1 => {
                    all.append(&mut body[0]);
                }
                part => all.push(part),
            }
        }
        self.join(all)
    }

    /// Merges the texts of a sequence. Within each part, texts are already merged.
    fn join(&mut self, mut parts: Vec<Part<'s>>) -> Vec<Part<'s>> {
        parts.dedup_by(|next, before| self.is_text(before) && self.is_text(next));
        let mut joined: Vec<Part<'s>> = Vec::with_capacity(parts.len());
        // from the end, so that the parts after a text are already merged
        for part in parts.into_iter().rev() {
            if !self.is_text(&part) {
                joined.push(part);
                continue;
            }
            let mut missing = 0;
            while joined
                .iter()
                .rev()
                .nth(missing)
                .is_some_and(|next| next.min == 0 && self.is_call(&next.item))
            {
                missing += 1;
            }
            let next = joined.iter().rev().nth(missing);
            if next.is_some_and(|next| self.is_text(next) || next.min > 0 && self.is_call(&next.item)) {
                continue;
            }
            let is_beside = |part: &Part<'s>| matches!(part.item, Item::Beside(_));
            if joined.iter().rev().take(missing).all(is_beside) || missing > MAX_MISSING {
                joined.push(part);
                continue;
            }
            let calls: Vec<Part<'s>> = joined.drain(joined.len() - missing..).rev().collect();
            let at = calls[0].at;
            let mut ways: Body<'s> = (0..missing).map(|first| calls[first..].to_vec()).collect();
            ways.iter_mut().for_each(|way| way[0].min = 1);
            let beside = calls.into_iter().map(|call| vec![call]).collect();
            ways.push(vec![part, beside_of(at, beside)]);
            joined.push(group(at, ways, 1, Some(1)));
        }
        joined.reverse();
        joined
    }

    fn part(&mut self, part: &Part<'s>) -> Part<'s> {
        if self.names.is_any_text(&part.item) {
            return part.clone();
        }
        let item = match &part.item {
            Item::Group(body) => Item::Group(self.body(body)),
            item => item.clone(),
        };
        let same = Part { at: part.at, item, min: part.min, max: part.max };
        self.repeated(&same).unwrap_or(same)
    }

    /// Rewrites an unbounded repetition of alternatives, if an alternative ends in any text. `None` if the part is to
    /// stay unchanged.
    fn repeated(&mut self, part: &Part<'s>) -> Option<Part<'s>> {
        if part.max.is_some() || self.depth >= MAX_NAMES || !self.names.has_ways(&part.item) {
            return None;
        }
        let plain = match part.item {
            Item::Name(name) if !self.plain.insert(name) => return None,
            Item::Name(name) => Some(name),
            _ => None,
        };
        let (mut ways, mut seen) = (Vec::new(), FxHashSet::default());
        self.names.ways(&part.item, false, &mut ways, &mut seen, 0);
        if !ways.iter().any(|(parts, _)| parts.last().is_some_and(|last| self.is_text(last))) {
            return None;
        }
        let cost = ways.iter().map(|(parts, _)| 1 + parts.len()).sum();
        let budget = self.budget.checked_sub(cost)?;
        let ways: Vec<(Vec<Part<'s>>, bool)> =
            ways.into_iter().map(|(parts, is_joined)| (parts.to_vec(), is_joined)).collect();
        self.budget = budget;
        if let Some(name) = plain {
            self.plain.remove(&name);
        }
        let (texts, others): (Vec<_>, Vec<_>) =
            ways.into_iter().partition(|(parts, _)| matches!(&parts[..], [only] if self.is_text(only)));
        let text = texts.into_iter().flat_map(|(parts, _)| parts).next();
        self.depth += 1;
        let others: Body<'s> = others
            .into_iter()
            .map(|(parts, is_joined)| if is_joined { parts } else { self.sequence(&parts) })
            .collect();
        self.depth -= 1;
        match text {
            Some(text) => Some(self.with_text(part.at, text, others)),
            None if self.are_calls(&others) => self.calls_with_text(part, others),
            None => None,
        }
    }

    /// Rewrites `(call | text | other)*`, where `ways` are the alternatives other than the text.
    fn with_text(&mut self, at: usize, text: Part<'s>, mut ways: Body<'s>) -> Part<'s> {
        let text = Part { min: 0, max: Some(1), ..text };
        for parts in &mut ways {
            // the optional text of the next repetition, or after the last one, covers this text
            parts.pop_if(|last| self.is_text(last));
        }
        if ways.is_empty() {
            return text;
        }
        let beside = beside_of(at, ways.clone());
        let (mut ways, mut others): (Body<'s>, Body<'s>) =
            ways.into_iter().partition(|parts| self.begins_with_call(parts));
        if !others.is_empty() {
            others.push(vec![Part { min: 1, ..beside.clone() }]);
            ways.push(vec![text.clone(), group(at, others, 1, Some(1))]);
        }
        group(at, vec![vec![group(at, ways, 0, None), text, beside]], 1, Some(1))
    }

    /// Rewrites `(call text)*`, where each alternative begins with a call. `None` unless each alternative ends in any
    /// text and has parts before it.
    fn calls_with_text(&mut self, part: &Part<'s>, ways: Body<'s>) -> Option<Part<'s>> {
        let (mut calls, mut text) = (Body::new(), None);
        for mut parts in ways {
            text = parts.pop_if(|last| self.is_text(last));
            if text.is_none() || parts.is_empty() {
                return None;
            }
            calls.push(parts);
        }
        let (at, min) = (part.at, part.min.max(1));
        let beside = beside_of(at, calls.clone());
        let parts = vec![group(at, calls, min, None), Part { min: 0, max: Some(1), ..text? }, beside];
        Some(group(at, vec![parts], part.min.min(1), Some(1)))
    }
}
