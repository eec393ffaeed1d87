//! Conditions on listed items, each present at most once, that bound the number of items that satisfy each `contains`.

use crate::grammar::{Alternative, Condition};
use crate::syntax::json_schema::values::counts::Counts;

/// Greatest number of literals of the conditions of one array.
const MAX_LITERALS: usize = 1 << 14;

/// Returns the conditions on items that are counted in some entries of `contains`: `hits` has, for each item, a bit for
/// each entry. `None` if there are too many.
///
/// At least `min` of `n` items are present if each set of `n - min + 1` items has one that is. At most `max` are
/// present if each set of `max + 1` items has one that is not.
pub(super) fn conditions(contains: &[Counts], hits: &[u32]) -> Option<Vec<Condition>> {
    let mut conditions = Vec::new();
    let mut literals = 0;
    for (place, &Counts { min, max }) in contains.iter().enumerate() {
        let counted: Vec<u32> =
            (0..).zip(hits).filter(|(_, hits)| *hits >> place & 1 == 1).map(|one| one.0).collect();
        let mut add = |size: usize, condition: &dyn Fn(&[u32]) -> Condition| {
            let few = subsets(&counted, size, MAX_LITERALS.saturating_sub(literals))?;
            literals += few.len() * size;
            conditions.extend(few.iter().map(|set| condition(set)));
            Some(())
        };
        if min > 0 {
            // no set at all if there are fewer items: then a condition without alternatives
            match (counted.len() + 1).checked_sub(min as usize).filter(|&size| size > 0) {
                None => add(0, &|_| Condition(Box::default()))?,
                Some(size) => add(size, &|set| {
                    let some = [Box::from(set)].into();
                    Condition([Alternative { some, none: Box::default() }].into())
                })?,
            }
        }
        if let Some(max) = max.filter(|&max| (max as usize) < counted.len()) {
            let absent = |&item: &u32| Alternative { some: Box::default(), none: [item].into() };
            add(max as usize + 1, &|set| Condition(set.iter().map(absent).collect()))?;
        }
    }
    Some(conditions)
}

/// Returns all subsets of a size, in lexicographic order; `None` if they have more than `most` elements together.
fn subsets(all: &[u32], size: usize, most: usize) -> Option<Vec<Box<[u32]>>> {
    if size > all.len() {
        return Some(Vec::new());
    }
    let few = size.min(all.len() - size);
    // each partial product is a binomial coefficient
    let count = (0..few).try_fold(1_usize, |count, at| {
        Some(count.checked_mul(all.len() - at)? / (at + 1)).filter(|&count| count <= most)
    })?;
    if count.saturating_mul(size) > most {
        return None;
    }
    let mut subsets = Vec::with_capacity(count);
    let mut places: Vec<usize> = (0..size).collect();
    loop {
        subsets.push(places.iter().map(|&place| all[place]).collect());
        // the last place that can move on
        let Some(last) = (0..size).rev().find(|&at| places[at] < all.len() - size + at) else { break };
        let first = places[last] + 1;
        places[last..].iter_mut().zip(first..).for_each(|(place, next)| *place = next);
    }
    Some(subsets)
}

#[cfg(test)]
mod tests {
    use super::conditions;
    use crate::grammar::conditions::hold;
    use crate::syntax::json_schema::values::counts::Counts;
    use fixedbitset::FixedBitSet;

    /// All bounds on up to six items, of which some are counted, for every set of items that is present.
    #[test]
    fn conditions_hold_for_sets_within_the_bounds() {
        for items in 0..=6_u32 {
            for (first, second) in (0..1_u32 << items).map(|first| (first, first.rotate_left(3) & 0x15)) {
                let hits: Vec<u32> = (0..items).map(|at| first >> at & 1 | (second >> at & 1) << 1).collect();
                for (min, max) in (0..4).flat_map(|min| [(min, None), (min, Some(min)), (min, Some(min + 2))])
                {
                    let contains = [Counts { min, max }, Counts { min: 1, max: None }];
                    let made = conditions(&contains, &hits).unwrap();
                    for present in 0..1_u32 << items {
                        let mut came = FixedBitSet::with_capacity(items as usize);
                        (0..items as usize).for_each(|at| came.set(at, present >> at & 1 == 1));
                        let all = (1_u32 << items) - 1;
                        let counts = [present & first & all, present & second & all].map(u32::count_ones);
                        let expected = contains.iter().zip(counts).all(|(c, n)| c.contains(n as usize));
                        assert_eq!(
                            hold(&made, &came),
                            expected,
                            "{present:b} of {hits:?} within {min} to {max:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn too_many_sets_are_refused() {
        let hits = vec![1; 1 << 12];
        for (min, max) in [(2, None), (0, Some(1)), (2000, None), (0, Some(2000)), (4000, Some(4095))] {
            assert!(conditions(&[Counts { min, max }], &hits).is_none(), "{min} to {max:?}");
        }
        // one set of all items, and one set for each item
        for (min, max) in [(1, None), (1 << 12, None), (0, Some(0)), (0, Some(4095))] {
            assert!(conditions(&[Counts { min, max }], &hits).is_some(), "{min} to {max:?}");
        }
    }
}
