//! Finds the conjunctions that some value satisfies, and explains why others have none. The languages of patterns are
//! not examined.

use super::conjunction::ConjunctionId;
use super::conjunctions::Conjunctions;
use super::shape::{ArrayShape, ItemClass, ItemRun, MemberShape, ObjectShape, RestShape, Shape, Typed};
use crate::diagnostic::Diagnostic;
use crate::error::Result;
use crate::grammar::conditions::Constraints;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::assertion::TypeSet;
use crate::syntax::json_schema::model::numbers;
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::values::counts::Counts;
use crate::syntax::json_schema::values::pointer::shown;
use fixedbitset::FixedBitSet;
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// Greatest number of places that a reason names.
const MAX_PLACES: usize = 8;

/// For each conjunction, whether some value satisfies it.
pub(in crate::syntax::json_schema) struct Satisfiable(Vec<bool>);

impl Satisfiable {
    pub(in crate::syntax::json_schema) fn contains(&self, id: ConjunctionId) -> bool {
        self.0[id.index()]
    }

    /// Computes the least fixed point: a conjunction is satisfiable if its shape is, given the satisfiable ones found
    /// so far. When one is found, the conjunctions that refer to it are examined again.
    ///
    /// # Errors
    /// The work budget is exhausted: a conjunction is examined again for each one that it refers to.
    pub(in crate::syntax::json_schema) fn of(all: &Conjunctions<'_>) -> Result<Satisfiable> {
        let mut known = Satisfiable(vec![false; all.len()]);
        // a conjunction usually comes before those that it refers to
        for id in all.ids().rev() {
            known.0[id.index()] = known.holds(all, id);
        }
        if known.0.iter().all(|holds| *holds) {
            return Ok(known);
        }
        let pairs = |id: ConjunctionId| all.shape_of(id).children().map(move |child| (child, id));
        let mut parents: Vec<(ConjunctionId, ConjunctionId)> = all.ids().flat_map(pairs).collect();
        parents.sort_unstable();
        // a queue without duplicates: a parent of many children is examined again after all of them
        let mut work: VecDeque<ConjunctionId> = all.ids().collect();
        let mut waits = vec![true; all.len()];
        while let Some(id) = work.pop_front() {
            waits[id.index()] = false;
            all.schemas.work.spend(1 + all.shape_of(id).children().count())?;
            if !known.contains(id) && known.holds(all, id) {
                known.0[id.index()] = true;
                let first = parents.partition_point(|&(child, _)| child < id);
                let parents = parents[first..].iter().take_while(|&&(child, _)| child == id);
                let parents = parents.map(|&(_, parent)| parent);
                work.extend(parents.filter(|parent| !std::mem::replace(&mut waits[parent.index()], true)));
            }
        }
        Ok(known)
    }

    fn holds(&self, all: &Conjunctions<'_>, id: ConjunctionId) -> bool {
        match all.shape_of(id) {
            Shape::Values(list) => !list.is_empty(),
            Shape::Union(list) => list.iter().any(|&id| self.contains(id)),
            Shape::Typed(typed) => {
                // this checks neither patterns nor whether all strings or numbers are excluded
                let Typed { types, number, length, tests: _, excluded: _, array, object } = typed;
                let has = |one| types.contains(one);
                has(TypeSet::NULL)
                    || has(TypeSet::FALSE)
                    || has(TypeSet::TRUE)
                    || has(TypeSet::NUMBER) && !numbers::is_empty(number)
                    || has(TypeSet::STRING) && !length.is_crossed()
                    || array.as_ref().is_some_and(|array| self.array(array))
                    || object.as_ref().is_some_and(|object| self.object(object))
            }
        }
    }

    fn array(&self, array: &ArrayShape) -> bool {
        // `longest` and `unmet_contains` handle the items; this does not check whether enough of them differ
        let ArrayShape { items: _, count, contains: _, unique: _ } = array;
        !count.is_crossed()
            && self.longest(array).is_none_or(|longest| longest >= count.min as usize)
            && self.unmet_contains(array).is_none()
    }

    /// Returns the counts of the first `contains` of an array that cannot be met, whatever the others are.
    fn unmet_contains(&self, array: &ArrayShape) -> Option<Counts> {
        let ArrayShape { items: _, count: length, contains, unique: _ } = array;
        let bounds = [self.longest(array), length.max.map(|max| max as usize)];
        let most = bounds.into_iter().flatten().min().unwrap_or(usize::MAX);
        let (last, further) = (array.fixed(), array.further());
        let least = length.min as usize;
        let unmet = |(place, count): &(usize, &Counts)| {
            let possible = |classes: &[ItemClass], hit: u32| {
                let is_hit =
                    |&ItemClass { value, hits }: &ItemClass| self.contains(value) && hits >> place & 1 == hit;
                classes.iter().any(is_hit)
            };
            // indices before the last run, then all indices from there on, which are alike
            let before = array.before(most).filter(|(run, _)| possible(&run.classes, 1));
            let hits = before.map(|(_, indices)| indices).sum::<usize>();
            let after = most.saturating_sub(last);
            let hits = hits.saturating_add(if after > 0 && possible(further, 1) { after } else { 0 });
            let needed = array.before(most.min(least)).filter(|(run, _)| !possible(&run.classes, 0));
            let forced = needed.map(|(_, indices)| indices).sum::<usize>();
            let rest = least.saturating_sub(last);
            let forced = forced + if rest > 0 && !possible(further, 0) { rest } else { 0 };
            count.is_crossed()
                || hits < count.min as usize
                || count.max.is_some_and(|max| forced > max as usize)
        };
        contains.iter().enumerate().find(unmet).map(|(_, count)| *count)
    }

    /// Returns the number of items before the first index that no item can have; `None` means unbounded.
    pub(in crate::syntax::json_schema) fn longest(&self, array: &ArrayShape) -> Option<usize> {
        let is_empty = |run: &&ItemRun| !run.classes.iter().any(|class| self.contains(class.value));
        array.items.iter().find(is_empty).map(|run| run.from)
    }

    fn object(&self, object: &ObjectShape<'_>) -> bool {
        if object.is_conditional() {
            return self.conditional_object(object);
        }
        // only conditions require `ones`
        let ObjectShape { members, rest, ones: _, conditions: _, count } = object;
        let (mut possible, mut required, mut is_lacking) = (0, 0, false);
        for &MemberShape { name: _, value, required: is_required } in members {
            let is_possible = self.contains(value);
            possible += usize::from(is_possible);
            required += usize::from(is_required);
            is_lacking |= is_required && !is_possible;
        }
        let most = if self.any(rest) { usize::MAX } else { possible };
        !is_lacking
            && count.max.is_none_or(|max| required.max(count.min as usize) <= max as usize)
            && count.min as usize <= most
    }

    /// Whether some object satisfies the conditions.
    fn conditional_object(&self, object: &ObjectShape<'_>) -> bool {
        // `clauses` handles the conditions
        let ObjectShape { members, rest, ones, conditions: _, count } = object;
        let entries = members.len() + ones.len();
        let (came, mut open) = (FixedBitSet::new(), FixedBitSet::with_capacity(entries));
        for (place, member) in members.iter().enumerate() {
            open.set(place, self.contains(member.value));
        }
        for (place, classes) in ones.iter().enumerate() {
            open.set(members.len() + place, self.any(classes));
        }
        let constraints = Constraints {
            clauses: &object.clauses(),
            came: &came,
            open: &open,
            count: (count.min, count.max),
            keyless: None,
            rest: self.any(rest),
        };
        constraints.is_satisfiable()
    }

    /// Whether a member of one of the classes is possible.
    fn any(&self, classes: &[RestShape<'_>]) -> bool {
        classes.iter().any(|class| self.is_possible(class))
    }

    /// Whether a member of the class is possible.
    pub(in crate::syntax::json_schema) fn is_possible(&self, class: &RestShape<'_>) -> bool {
        // this does not check whether patterns leave a name
        let &RestShape { tests: _, others: _, strings, value } = class;
        self.contains(value) && strings.is_none_or(|strings| self.contains(strings))
    }

    /// Returns the deepest conjunction that makes `id` unsatisfiable, and the reason.
    pub(in crate::syntax::json_schema) fn explain(
        &self,
        all: &Conjunctions<'_>,
        id: ConjunctionId,
    ) -> (ConjunctionId, String) {
        let mut at = id;
        let mut seen = FxHashSet::default();
        loop {
            if !seen.insert(at) {
                return (at, "every value would have to contain another such value, without end".into());
            }
            match self.step(all, at) {
                Ok(next) => at = next,
                Err(reason) => return (at, reason),
            }
        }
    }

    /// Returns warnings about schemas that contradict themselves although the root is satisfiable.
    pub(in crate::syntax::json_schema) fn contradictions(&self, all: &Conjunctions<'_>) -> Vec<Diagnostic> {
        let blamed = all.ids().filter(|&id| !self.contains(id) && all.is_written(id));
        let reasons = blamed.filter_map(|id| Some((id, self.step(all, id).err()?)));
        reasons.map(|(id, reason)| errors::dead_schema(all.pointer(id), &reason)).collect()
    }

    /// Returns an unsatisfiable conjunction inside this one that is to blame, or the reason if it is this one.
    fn step(&self, all: &Conjunctions<'_>, id: ConjunctionId) -> std::result::Result<ConjunctionId, String> {
        let typed = match all.shape_of(id) {
            Shape::Values(_) => {
                return Err("no value of `enum` or `const` satisfies the other keywords".into());
            }
            Shape::Union(list) => return list.first().copied().ok_or_else(|| "no alternative".into()),
            Shape::Typed(typed) => typed,
        };
        let Typed { types, number, length: _, tests: _, excluded: _, array, object } = typed;
        if *types == TypeSet::NONE {
            let restricting: Vec<_> = all.unfolded(id).filter(|s| s.types != TypeSet::ALL).collect();
            if let Some(schema) = restricting.iter().find(|schema| schema.types == TypeSet::NONE) {
                return Err(format!("`{}` is `false`", shown(schema.pointer)));
            }
            let shown = |schema: &&Schema<'_>| format!("`{}`", shown(schema.pointer));
            let mut places: Vec<String> = restricting.iter().take(MAX_PLACES).map(shown).collect();
            places.extend((restricting.len() > MAX_PLACES).then(|| "…".to_owned()));
            return Err(format!("the types exclude each other: {}", places.join(", ")));
        }
        if let Some(object) = object {
            if object.count.is_crossed() {
                return Err("`minProperties` is above `maxProperties`".into());
            }
            let is_impossible = |member: &MemberShape<'_>| !self.contains(member.value);
            let mut names = object.members.chunk_by(|one, other| one.name == other.name);
            let blamed = names.find(|variants| variants[0].required && variants.iter().all(is_impossible));
            let reason = match object.is_conditional() {
                true => "no combination of members meets all conditions",
                false => "more members are required than allowed",
            };
            return blamed.map(|variants| variants[0].value).ok_or_else(|| reason.into());
        }
        if let Some(array) = array {
            if array.count.is_crossed() {
                return Err("`minItems` is above `maxItems`".into());
            }
            if let Some(count) = self.unmet_contains(array) {
                return Err(unmet(&count));
            }
            let stuck = self.longest(array).and_then(|place| array.at(place).first());
            return stuck.map(|class| class.value).ok_or_else(|| "there are too few possible items".into());
        }
        if types.contains(TypeSet::STRING) {
            return Err("`minLength` is above `maxLength`".into());
        }
        let kind = if number.is_integer() { "integer" } else { "number" };
        Err(match (&number.lower, &number.upper) {
            (Some(_), Some(_)) => format!("no {kind} is between the bounds"),
            _ => format!("every {kind} that one keyword admits is excluded by another"),
        })
    }
}

/// Returns the reason why a `contains` is not met.
fn unmet(count: &Counts) -> String {
    match count.max {
        Some(max) if max < count.min => "`minContains` is above `maxContains`".into(),
        _ if count.min > 1 => format!("fewer than {} items can satisfy `contains`", count.min),
        Some(max) if count.min == 0 => format!("more than {max} items have to satisfy `contains`"),
        _ => "no item can satisfy `contains`".into(),
    }
}
