//! Measures of a plan against the gold plan of a flow, as FLAP defines them (section 4.1 of the paper); what it leaves open is
//! said where it is decided.

use grammata::error::Result;
use grammata_agents::flows::FlowDomain;
use grammata_agents::flows::WrittenCall;
use grammata_agents::flows::{Similarity, nearest};
use rustc_hash::FxHashMap;

/// A call of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// An API of the domain.
    Api(usize),
    /// A name that the domain does not have.
    Unknown(String),
}

/// The measures of one plan. Counts are plain numbers, shares are of the plan's calls or steps, 0 where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Size of the symmetric difference of the multisets of APIs of plan and gold plan.
    pub api_edits: usize,
    /// The same of steps.
    pub step_edits: usize,
    /// Insertions and deletions between the sequences of APIs, by their longest common subsequence.
    pub ordered_edits: usize,
    /// Share of calls with an input that no earlier call made.
    pub inconsistent_apis: f64,
    /// Share of steps whose predecessor, in each flow that has the step, is not among the earlier steps.
    pub inconsistent_steps: f64,
    /// Share of calls whose API came before.
    pub repeated: f64,
    /// Share of calls of names that the domain does not have.
    pub hallucinated: f64,
}

/// The calls of a plan by the names of APIs and their aliases.
pub fn calls<'a>(domain: &FlowDomain, names: impl IntoIterator<Item = &'a str>) -> Vec<Call> {
    let call = |name: &str| domain.api(name).map_or_else(|| Call::Unknown(name.to_owned()), Call::Api);
    names.into_iter().map(call).collect()
}

/// Measures a plan, without its prelude, against the gold plan of a flow.
pub fn measure(domain: &FlowDomain, flow: usize, plan: &[Call]) -> Measures {
    let gold: Vec<Call> = domain.gold(flow).into_iter().map(Call::Api).collect();
    let (steps, gold_steps) = (steps(domain, flow, plan), steps(domain, flow, &gold));
    let share = |count: usize, of: usize| if of == 0 { 0.0 } else { count as f64 / of as f64 };
    Measures {
        api_edits: multiset_edits(plan, &gold),
        step_edits: multiset_edits(&steps, &gold_steps),
        ordered_edits: plan.len() + gold.len() - 2 * common(plan, &gold),
        inconsistent_apis: share(inconsistent_apis(domain, plan), plan.len()),
        inconsistent_steps: share(inconsistent_steps(domain, &steps), steps.len()),
        repeated: share(
            (1..plan.len()).filter(|&place| plan[..place].contains(&plan[place])).count(),
            plan.len(),
        ),
        hallucinated: share(plan.iter().filter(|call| matches!(call, Call::Unknown(_))).count(), plan.len()),
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum StepOf {
    Step(usize),
    /// The call is of no step.
    Unknown(Call),
}

/// The steps of a plan: of a call, that step of the gold flow which has the API (of several, the first that still lacks the
/// call), else the first step of the file that has it, else a step of its own. Equal neighbours are one.
fn steps(domain: &FlowDomain, flow: usize, plan: &[Call]) -> Vec<StepOf> {
    let mut found = steps_of_calls(domain, flow, plan);
    found.dedup();
    found
}

/// The step of each call of a plan.
fn steps_of_calls(domain: &FlowDomain, flow: usize, plan: &[Call]) -> Vec<StepOf> {
    let mut taken: FxHashMap<(usize, usize), usize> = FxHashMap::default();
    let mut step_of = |call: &Call| match call {
        Call::Unknown(_) => None,
        Call::Api(api) => {
            let has = |step: &&usize| domain.steps[**step].apis.contains(api);
            let of_flow: Vec<usize> = domain.flows[flow].steps.iter().filter(has).copied().collect();
            let lacking = of_flow.iter().copied().find(|&step| !taken.contains_key(&(step, *api)));
            lacking
                .or_else(|| of_flow.first().copied())
                .or_else(|| domain.steps.iter().position(|step| step.apis.contains(api)))
                .inspect(|&step| *taken.entry((step, *api)).or_default() += 1)
        }
    };
    let step = |call| step_of(call).map_or_else(|| StepOf::Unknown(Call::clone(call)), StepOf::Step);
    plan.iter().map(step).collect()
}

/// The share of the thoughts of a plan whose nearest step of the domain, by similarity of the texts, is the step that their
/// call is of, as [`Measures::step_edits`] has it; `None` of a plan without thoughts.
///
/// # Errors
/// Of the similarity.
pub fn agreement(
    domain: &FlowDomain,
    flow: usize,
    plan: &[WrittenCall],
    similarity: &mut dyn Similarity,
) -> Result<Option<f64>> {
    let made = calls(domain, plan.iter().map(|call| call.name.as_str()));
    let steps = steps_of_calls(domain, flow, &made);
    let (mut agreeing, mut thoughts) = (0_u32, 0_u32);
    for (call, step) in plan.iter().zip(steps).filter(|(call, _)| !call.thought.trim().is_empty()) {
        let texts = domain.steps.iter().enumerate().map(|(place, step)| (place, step.text.as_str()));
        let found = nearest(similarity, &call.thought, texts)?;
        thoughts += 1;
        agreeing += u32::from(found.is_some_and(|(found, _)| step == StepOf::Step(found)));
    }
    Ok((thoughts > 0).then(|| f64::from(agreeing) / f64::from(thoughts)))
}

fn multiset_edits<T: Eq + std::hash::Hash>(a: &[T], b: &[T]) -> usize {
    let mut counts: FxHashMap<&T, isize> = FxHashMap::default();
    a.iter().for_each(|one| *counts.entry(one).or_default() += 1);
    b.iter().for_each(|one| *counts.entry(one).or_default() -= 1);
    counts.values().map(|count| count.unsigned_abs()).sum()
}

/// The length of the longest common subsequence.
fn common(a: &[Call], b: &[Call]) -> usize {
    let mut row = vec![0usize; b.len() + 1];
    for one in a {
        let mut diagonal = 0;
        for (place, other) in b.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = if one == other { diagonal + 1 } else { above.max(row[place]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Calls with an input that no earlier call made. What the prelude makes and what any flow of the domain assumes is there.
fn inconsistent_apis(domain: &FlowDomain, plan: &[Call]) -> usize {
    let mut made = vec![false; domain.data.len()];
    let prelude = domain.prelude_apis().iter().flat_map(|&api| &domain.apis[api].outputs);
    let assumed = domain.flows.iter().flat_map(|flow| &flow.assumes).chain(&domain.given);
    prelude.chain(assumed).for_each(|&data| made[data] = true);
    let mut inconsistent = 0;
    for call in plan {
        let Call::Api(api) = call else { continue };
        inconsistent += usize::from(!domain.is_served(*api, &|data| made[data]));
        domain.apis[*api].makes(None).for_each(|data| made[data] = true);
    }
    inconsistent
}

/// Steps none of whose predecessors is among the earlier ones; the prelude is.
fn inconsistent_steps(domain: &FlowDomain, steps: &[StepOf]) -> usize {
    let is_inconsistent = |place: &usize| {
        let StepOf::Step(step) = steps[*place] else { return false };
        let came =
            |before: usize| before == domain.prelude || steps[..*place].contains(&StepOf::Step(before));
        let of_flows = domain.flows.iter().filter_map(|flow| {
            let place = flow.steps.iter().position(|&one| one == step)?;
            Some(place == 0 || came(flow.steps[place - 1]))
        });
        !of_flows.into_iter().any(|follows| follows)
    };
    (0..steps.len()).filter(is_inconsistent).count()
}
