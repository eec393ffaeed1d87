//! Follows the gold plan of a flow, to explain why no plan can follow the flow.

use super::domain::{Entry, FlowDomain, Input};
use super::errors::{self, Maker};
use super::options::Within;
use grammata::error::Result;
use grammata_base::work::Budget;
use rustc_hash::FxHashSet;

/// A step of the gold plan, with its APIs that were not called yet.
struct Item {
    open: Vec<usize>,
    /// The items that precede the item, by index.
    before: Vec<usize>,
}

/// Follows the gold plan of a flow in an order that its data allow. Data are only made and never consumed, so any such
/// order is equivalent.
///
/// # Errors
/// `flow/unprovided-input` if an API lacks an input that no earlier call makes, `flow/cyclic-dependency` if APIs of a
/// step need each other's outputs; the limit `compile_work`.
pub(super) fn follow(domain: &FlowDomain, number: usize, within: Within, budget: &Budget) -> Result<()> {
    let flow = &domain.flows[number];
    let by_after = flow.is_plain() && flow.is_partial_order();
    let before = |place: usize| match flow.body.get(place.wrapping_sub(1)) {
        _ if place == 0 => Vec::new(),
        Some(Entry::Step { after, .. }) if by_after => {
            let after = after.iter().flatten().map(|place| place + 1);
            after.chain([0]).collect()
        }
        _ => vec![place - 1],
    };
    let item = |(place, &step): (usize, &usize)| {
        let open = domain.steps[step].apis.iter().copied().filter(|&api| api != domain.end).collect();
        Item { open, before: before(place) }
    };
    let mut items: Vec<Item> = flow.steps.iter().enumerate().map(item).collect();
    let mut allow = domain.allow.clone();
    let mut made: FxHashSet<usize> = flow.assumes.iter().chain(&domain.given).copied().collect();
    let mut is_done: Vec<bool> = vec![false; items.len()];
    let mut has_moved = true;
    while has_moved {
        has_moved = false;
        budget.spend(lookups(domain, &allow) + 1)?;
        allow.retain(|&api| !take(domain, api, &mut made));
        for (place, item) in items.iter_mut().enumerate() {
            budget.spend(lookups(domain, &item.open) + item.before.len() + 1)?;
            if is_done[place] || !item.before.iter().all(|&before| is_done[before]) {
                continue;
            }
            let open = item.open.len();
            let mut is_blocked = false;
            item.open.retain(|&api| {
                let is_taken = !is_blocked && take(domain, api, &mut made);
                is_blocked |= !is_taken && within == Within::Declared;
                !is_taken
            });
            is_done[place] = item.open.is_empty();
            has_moved |= item.open.len() < open || is_done[place];
        }
    }
    let is_stuck = |(place, item): &(usize, &Item)| {
        !is_done[*place] && item.before.iter().all(|&before| is_done[before])
    };
    if let Some((place, item)) = items.iter().enumerate().find(is_stuck) {
        return Err(unserved(domain, number, place, &item.open, &made, within));
    }
    match domain.is_served(domain.end, &|data| made.contains(&data)) {
        true => Ok(()),
        false => Err(unserved(domain, number, flow.steps.len() - 1, &[domain.end], &made, within)),
    }
}

/// Returns a bound on the lookups of data needed to find out which of some APIs have their inputs, plus one per API.
fn lookups(domain: &FlowDomain, apis: &[usize]) -> usize {
    let of_api = |&api: &usize| domain.apis[api].inputs.iter().map(|input| input.any_of.len()).sum::<usize>();
    apis.iter().map(|api| of_api(api) + 1).sum()
}

/// Adds the data that an API makes if its inputs are available. Returns whether they are.
fn take(domain: &FlowDomain, api: usize, made: &mut FxHashSet<usize>) -> bool {
    let is_served = domain.is_served(api, &|data| made.contains(&data));
    if is_served {
        made.extend(domain.apis[api].makes(None));
    }
    is_served
}

/// Returns the first open API and one of its missing inputs, if APIs are called in declared order.
fn blocked<'d>(
    open: &[usize],
    within: Within,
    missing: &dyn Fn(usize) -> Vec<&'d Input>,
) -> Option<(usize, &'d Input)> {
    let first = *open.first().filter(|_| within == Within::Declared)?;
    Some((first, missing(first).into_iter().next()?))
}

/// Returns the error that APIs of a step cannot be called: they need each other's outputs, or an input that no earlier
/// call makes.
fn unserved(
    domain: &FlowDomain,
    number: usize,
    place: usize,
    open: &[usize],
    made: &FxHashSet<usize>,
    within: Within,
) -> grammata::Error {
    let flow = &domain.flows[number];
    let pointer = match flow.is_plain() {
        true => format!("/flows/{number}/steps/{place}"),
        false => format!("/flows/{number}/steps"),
    };
    let missing = |api: usize| {
        let inputs = domain.apis[api].inputs.iter();
        inputs.filter(|input| !input.any_of.iter().any(|data| made.contains(data))).collect::<Vec<_>>()
    };
    let makes =
        |api: usize, input: &Input| domain.apis[api].makes(None).any(|data| input.any_of.contains(&data));
    // each open API lacks an input; if open APIs make all of these, following makers leads into a cycle
    let stuck = open.iter().find_map(|&api| {
        let input = missing(api).into_iter().find(|input| !open.iter().any(|&maker| makes(maker, input)))?;
        Some((api, input))
    });
    let name = |api: usize| domain.apis[api].name.as_str();
    let Some((api, input)) = stuck.or_else(|| blocked(open, within, &missing)) else {
        let mut path = vec![open[0]];
        loop {
            let last = path[path.len() - 1];
            let next = missing(last)
                .first()
                .and_then(|input| open.iter().copied().find(|&maker| makes(maker, input)));
            let Some(next) = next else { break };
            if let Some(from) = path.iter().position(|&api| api == next) {
                path.drain(..from);
                path.push(next);
                break;
            }
            path.push(next);
        }
        let names: Vec<&str> = path.iter().map(|&api| name(api)).collect();
        return errors::cycle(&flow.id, &names.join(" needs the output of "), pointer);
    };
    let later = flow.steps.iter().skip(place).flat_map(|&step| domain.steps[step].apis.iter());
    let later = later.copied().find(|&maker| makes(maker, input));
    let anybody = (0..domain.apis.len()).find(|&maker| makes(maker, input));
    let maker = match (later, anybody) {
        (Some(later), _) => Maker::Later(name(later)),
        (None, Some(maker)) => Maker::Elsewhere(name(maker)),
        (None, None) => Maker::Nobody,
    };
    let wanted: Vec<&str> = input.any_of.iter().map(|&data| domain.data[data].as_str()).collect();
    errors::unprovided(&flow.id, name(api), &wanted.join(" or "), maker, pointer)
}
