//! Arrays.

use super::bare::marked;
use super::{Emitter, Layout, contained, elements, value};
use crate::error::Result;
use crate::grammar::{Distinct, ExprId, Member, Members, Order};
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::schema_id::SchemaId;
use crate::syntax::json_schema::normal::conjunction::ConjunctionId;
use crate::syntax::json_schema::normal::shape::{ArrayShape, ItemClass, Shape};
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::json::Value;
use rustc_hash::FxHashMap;

/// Greatest number of states for counting the items of an array and those that satisfy `contains`.
const MAX_COUNT_STATES: usize = 1 << 14;

/// Greatest number of required different items for which a search decides whether there are enough.
const MAX_FEW_ITEMS: u32 = 100;

impl<'a> Emitter<'_, 'a> {
    pub(super) fn array(&mut self, array: &ArrayShape, pointer: &str) -> Result<ExprId> {
        // the function that writes the items handles their classes
        let ArrayShape { items: _, count, contains, unique } = array;
        let longest = self.satisfiable.longest(array);
        let stuck = longest.map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
        let count = count.intersection(&Counts { min: 0, max: stuck });
        if count.is_crossed() {
            return Ok(self.g.never());
        }
        let items = match *unique {
            Some(schema) if count.max.is_none_or(|max| max > 1) => {
                self.different_items(array, count, schema)?
            }
            _ if contains.is_empty() => self.items(array, count)?,
            _ => self.counted_items(array, count, pointer)?,
        };
        Ok(self.g.sequence([self.layout.open_array, items, self.layout.close_array]))
    }

    /// Returns an item with the space after it, or an element.
    fn item(&mut self, class: &ItemClass) -> Result<ExprId> {
        let &ItemClass { value, hits: _ } = class;
        if let Some(element) = self.element_of(value)? {
            return Ok(element);
        }
        let item = self.inner(value);
        Ok(self.g.sequence([item, self.layout.space]))
    }

    fn items(&mut self, array: &ArrayShape, count: Counts) -> Result<ExprId> {
        let comma = self.layout.comma;
        let rest = self.item_of(array.further())?;
        let within = array.fixed().min(count.max.map_or(usize::MAX, |max| max as usize));
        if within == 0 {
            return Ok(match count.max {
                Some(0) => self.g.empty(),
                max => self.g.separated(rest, comma, count.min, max),
            });
        }
        let after = within as u32;
        let next = self.g.sequence([comma, rest]);
        let mut tail = self.g.repeat(next, count.min.saturating_sub(after), count.max.map(|max| max - after));
        let runs: Vec<_> = array.before(within).collect();
        for (run, indices) in runs.into_iter().rev() {
            let item = self.item_of(&run.classes)?;
            tail = self.run((run.from, indices), item, count.min as usize, tail);
        }
        Ok(tail)
    }

    /// Returns an item of one of some classes.
    fn item_of(&mut self, classes: &[ItemClass]) -> Result<ExprId> {
        let items = classes.iter().map(|class| self.item(class)).collect::<Result<Vec<_>>>()?;
        Ok(self.g.choice(items))
    }

    /// Returns a run of items, beginning with the one at `from`, before a tail. From index `min` on items may be
    /// absent, and then all further ones are.
    fn run(&mut self, (from, indices): (usize, usize), item: ExprId, min: usize, mut tail: ExprId) -> ExprId {
        let next = self.g.sequence([self.layout.comma, item]);
        // the first item has no separator
        let first = usize::from(from == 0);
        let optional = (from + indices).saturating_sub(min.max(from + first));
        if let Ok(optional @ 1..) = u32::try_from(optional) {
            let (fewer, all) =
                (self.g.repeat(next, 0, Some(optional - 1)), self.g.repeat(next, optional, Some(optional)));
            let whole = self.g.sequence([all, tail]);
            tail = self.g.choice([fewer, whole]);
        }
        let required = u32::try_from(indices - first - optional).unwrap_or(u32::MAX);
        let required = self.g.repeat(next, required, Some(required));
        let begin = if first == 1 { item } else { self.g.empty() };
        tail = self.g.sequence([begin, required, tail]);
        if first == 1 && min == 0 { self.g.optional(tail) } else { tail }
    }

    /// Returns items with counts for each `contains`: a small automaton over (items so far, hits so far), built from
    /// its end. A count stops where further hits change nothing.
    fn counted_items(&mut self, array: &ArrayShape, count: Counts, pointer: &str) -> Result<ExprId> {
        let places = array.fixed();
        let last = (places as u32).max(count.max.unwrap_or(count.min)).max(1);
        let caps: Vec<u32> = array.contains.iter().map(|c| c.max.unwrap_or(c.min)).collect();
        let sizes = caps.iter().map(|cap| *cap as usize + 1);
        let states = sizes.fold(last as usize + 1, |all, size| all.saturating_mul(size));
        if states > MAX_COUNT_STATES {
            return Err(errors::too_many_counts(pointer, MAX_COUNT_STATES));
        }
        let classes = array.items.iter().map(|run| run.classes.len()).max().unwrap_or(0);
        self.spend(states.saturating_mul(1 + classes), pointer)?;
        let mut hit_states: Vec<Vec<u32>> = vec![Vec::new()];
        for &cap in &caps {
            hit_states = hit_states
                .iter()
                .flat_map(|hits| (0..=cap).map(|n| hits.iter().copied().chain([n]).collect()))
                .collect();
        }
        // states with more hits are built before those with fewer
        hit_states.sort_by_key(|hits| std::cmp::Reverse(hits.iter().sum::<u32>()));
        let mut next: FxHashMap<Vec<u32>, ExprId> = FxHashMap::default();
        for index in (0..=last).rev() {
            let mut made: FxHashMap<Vec<u32>, ExprId> = FxHashMap::default();
            for hits in &hit_states {
                let tail = self.counted_tail(array, count, (index, index == last), hits, &next, &made)?;
                made.insert(hits.clone(), tail);
            }
            next = made;
        }
        Ok(next.get(&vec![0; caps.len()]).copied().unwrap_or_else(|| self.g.never()))
    }

    /// Returns the text that may follow `index` items with the counts `hits`.
    fn counted_tail(
        &mut self,
        array: &ArrayShape,
        count: Counts,
        (index, is_last): (u32, bool),
        hits: &[u32],
        next: &FxHashMap<Vec<u32>, ExprId>,
        made: &FxHashMap<Vec<u32>, ExprId>,
    ) -> Result<ExprId> {
        let mut ways = Vec::new();
        let complete = array.contains.iter().zip(hits).all(|(count, &hits)| count.contains(hits as usize));
        if complete && index >= count.min {
            ways.push(self.g.empty());
        }
        let mut loops = Vec::new();
        let classes = array.at(index as usize);
        let full = count.max.is_some_and(|max| index >= max);
        for class in classes.iter().filter(|class| !full && self.satisfiable.contains(class.value)) {
            let Some(after) = counted(&array.contains, hits, class.hits) else { continue };
            let item = self.item(class)?;
            let separator = if index > 0 { self.layout.comma } else { self.g.empty() };
            let item = self.g.sequence([separator, item]);
            if is_last && after == hits {
                loops.push(item);
            } else if let Some(&tail) = (if is_last { made } else { next }).get(&after) {
                ways.push(self.g.sequence([item, tail]));
            }
        }
        let (loops, ways) = (self.g.choice(loops), self.g.choice(ways));
        let loops = self.g.star(loops);
        Ok(self.g.sequence([loops, ways]))
    }

    /// Returns pairwise different items. Listed items become members that occur at most once.
    fn different_items(&mut self, array: &ArrayShape, count: Counts, schema: SchemaId) -> Result<ExprId> {
        let pointer = self.all.schemas.get(schema).pointer;
        let unsupported = |reason: &str| Err(errors::unique_items(pointer, reason));
        let style = self.options.spelling.style().filter(|style| style.item.is_some());
        let listed = match &array.items[..] {
            [run] => self.listed_items(&run.classes),
            _ => None,
        };
        let Some(listed) = listed else {
            if !array.contains.is_empty() {
                return unsupported("together with `contains` if items are not listed");
            }
            if style.is_some() {
                return unsupported("of items that are not listed, in this style");
            }
            let classes = array.items.iter().flat_map(|run| &run.classes);
            if self.is_marked() && classes.into_iter().any(|class| self.has_compounds(class.value)) {
                return unsupported("of arrays or objects, in this style");
            }
            return self.distinct(array, count, schema);
        };
        let listed = listed.into_iter().filter(|(_, value)| !self.is_excluded(value, style));
        // for each text, in which entries of `contains` it counts
        let mut seen: FxHashMap<String, u32> = FxHashMap::default();
        let (mut members, mut counted) = (Vec::new(), Vec::new());
        for (hits, value) in listed {
            let text = match style {
                Some(style) => elements::listed_item(style, &value),
                None => match &value {
                    Value::String(text) if self.is_marked() => marked(text),
                    value => value::canonical(value),
                },
            };
            match seen.get(&text) {
                Some(known) if *known == hits => continue,
                Some(_) => {
                    return unsupported("together with `contains` that depends on how an item is written");
                }
                None => _ = seen.insert(text.clone(), hits),
            }
            counted.push(hits);
            members.push(Member { key: text.into_bytes().into(), value: self.layout.space, required: false });
        }
        let Some(conditions) = contained::conditions(&array.contains, &counted) else {
            return unsupported("together with `contains` that too many sets of items satisfy");
        };
        let list = Members {
            order: Order::Any,
            members: members.into(),
            rest: None,
            ones: Box::default(),
            conditions: conditions.into(),
            separator: self.layout.comma,
            min: count.min,
            max: count.max,
        };
        list.check_conditions(self.g.limits()).map_err(|error| errors::placed(error, pointer))?;
        Ok(self.g.member_list(list))
    }

    /// Returns the values of some classes, each with the hits of its class, if they are listed scalars.
    fn listed_items(&self, classes: &[ItemClass]) -> Option<Vec<(u32, Value<'a>)>> {
        let mut values = Vec::new();
        let possible = classes.iter().filter(|class| self.satisfiable.contains(class.value));
        for &ItemClass { value, hits } in possible {
            values.extend(self.listed(value)?.into_iter().map(|value| (hits, value)));
        }
        Some(values)
    }

    fn distinct(&mut self, array: &ArrayShape, count: Counts, schema: SchemaId) -> Result<ExprId> {
        let mut endless = true;
        for run in &array.items {
            let mut any = false;
            for class in &run.classes {
                any = any || self.is_endless(class.value)?;
            }
            endless &= any;
        }
        let most = if array.items.len() == 1 { MAX_FEW_ITEMS } else { 1 };
        if !endless && count.min > most {
            let reason = format!("where more than {most} items are required whose values may be few");
            return Err(errors::unique_items(self.all.schemas.get(schema).pointer, &reason));
        }
        let mut items = Vec::with_capacity(array.items.len());
        self.spend(array.fixed(), self.all.schemas.get(schema).pointer)?;
        for (run, indices) in array.before(usize::MAX).chain(array.items.last().map(|run| (run, 1))) {
            let classes: Vec<ExprId> = run.classes.iter().map(|class| self.inner(class.value)).collect();
            let item = self.g.choice(classes);
            items.extend(std::iter::repeat_n(item, indices));
        }
        let Layout { space, comma, is_json, .. } = self.layout;
        let separator = self.g.sequence([space, comma]);
        let list = self.g.distinct(Distinct {
            items: items.into(),
            separator,
            min: count.min.max(1),
            max: count.max,
            endless,
            json: is_json,
        });
        let list = self.g.sequence([list, space]);
        Ok(if count.min == 0 { self.g.optional(list) } else { list })
    }

    /// Returns the values of a conjunction if they are listed scalars.
    fn listed(&self, id: ConjunctionId) -> Option<Vec<Value<'a>>> {
        let mut values = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            match self.all.shape_of(id) {
                Shape::Values(list) => values.extend(list.iter().copied().cloned()),
                Shape::Union(list) => {
                    open.extend(list.iter().copied().filter(|&id| self.satisfiable.contains(id)))
                }
                Shape::Typed(typed) => {
                    let scalars = [
                        (TypeSet::NULL, Value::Null),
                        (TypeSet::TRUE, Value::Bool(true)),
                        (TypeSet::FALSE, Value::Bool(false)),
                    ];
                    let mut left = typed.types;
                    for (one, value) in scalars {
                        if left.contains(one) {
                            values.push(value);
                            left = left.without(one);
                        }
                    }
                    if left != TypeSet::NONE {
                        return None;
                    }
                }
            }
        }
        values.iter().all(|value| !matches!(value, Value::Array(_) | Value::Object(_))).then_some(values)
    }
}

/// Returns the counts after an item of a class; `None` if one would be too large.
fn counted(contains: &[Counts], hits: &[u32], class: u32) -> Option<Vec<u32>> {
    let one = |(at, (count, &hits)): (usize, (&Counts, &u32))| {
        if class >> at & 1 == 0 {
            return Some(hits);
        }
        match count.max {
            Some(max) => (hits < max).then(|| hits + 1),
            None => Some((hits + 1).min(count.min)),
        }
    };
    contains.iter().zip(hits).enumerate().map(one).collect()
}
