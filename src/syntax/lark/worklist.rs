//! Propagation of facts from definitions to the definitions that refer to them, until a fixed point is reached.

use super::tree::{Body, Definition, Item, Name};
use crate::error::Result;
use crate::work::Budget;
use rustc_hash::FxHashMap;

/// Lists, for each rule, the rules that refer to it, in ascending order without duplicates. A rule is an index into
/// `rules`; nested grammars do not count, since they have names of their own.
pub(super) fn users(rules: &[&Definition<'_>]) -> Vec<Vec<usize>> {
    let numbers: FxHashMap<Name<'_>, usize> =
        rules.iter().enumerate().map(|(rule, it)| (it.name, rule)).collect();
    let mut users = vec![Vec::new(); rules.len()];
    for (user, definition) in rules.iter().enumerate() {
        if let Some((_, Item::Name(name))) = &definition.attributes.end
            && let Some(&named) = numbers.get(name)
        {
            users[named].push(user);
        }
        let mut open: Vec<&Item<'_>> = definition.body.iter().flatten().map(|part| &part.item).collect();
        while let Some(item) = open.pop() {
            open.extend(item.inner());
            if let Item::Name(name) = item
                && let Some(&named) = numbers.get(name)
            {
                users[named].push(user);
            }
        }
    }
    for users in &mut users {
        users.sort_unstable();
        users.dedup();
    }
    users
}

/// Calls `look` for each rule, and again for the users of each rule for which `look` returned true: its facts have
/// changed. `cost` returns the steps of work of one call.
pub(super) fn until_nothing_changes(
    users: &[Vec<usize>],
    work: &Budget,
    cost: impl Fn(usize) -> usize,
    mut look: impl FnMut(usize) -> bool,
) -> Result<()> {
    // the last rule is looked at first: rules are often used before they are defined
    let mut open: Vec<usize> = (0..users.len()).collect();
    let mut is_open = vec![true; users.len()];
    while let Some(rule) = open.pop() {
        is_open[rule] = false;
        work.spend(cost(rule))?;
        if look(rule) {
            for &user in &users[rule] {
                if !std::mem::replace(&mut is_open[user], true) {
                    open.push(user);
                }
            }
        }
    }
    Ok(())
}

/// The number of parts of a body, those in groups included.
pub(super) fn size(body: &Body<'_>) -> usize {
    let mut open: Vec<&Item<'_>> = body.iter().flatten().map(|part| &part.item).collect();
    let mut size = 1;
    while let Some(item) = open.pop() {
        size += 1;
        open.extend(item.inner());
    }
    size
}
