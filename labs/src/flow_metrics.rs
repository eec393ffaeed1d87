//! Measures of a plan against the gold plan of a flow, as FLAP defines them (section 4.1 of the paper). Comments say
//! how questions are decided that the paper leaves open.

use grammata::error::Result;
use grammata_agents::flows::{FlowDomain, WrittenCall};
use grammata_agents_drive::flows::{Similarity, nearest};
use rustc_hash::FxHashMap;

/// A call of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// An API of the domain.
    Api(usize),
    /// A name that the domain does not have.
    Unknown(String),
}

/// The measures of one plan. Edits are counts; the other measures are shares of the plan's calls or steps, 0 if it has
/// none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Size of the symmetric difference of the multisets of APIs of plan and gold plan.
    pub api_edits: usize,
    /// Size of the symmetric difference of the multisets of steps of plan and gold plan.
    pub step_edits: usize,
    /// Insertions and deletions between the sequences of APIs, by their longest common subsequence.
    pub ordered_edits: usize,
    /// Share of calls with an input that neither an earlier call nor the prelude made, and that is not given or assumed
    /// by a flow.
    pub inconsistent_apis: f64,
    /// Share of steps that no flow has, or whose predecessor, in each flow that has the step, is not the prelude and
    /// not among the earlier steps.
    pub inconsistent_steps: f64,
    /// Share of calls whose API or unknown name was called before.
    pub repeated: f64,
    /// Share of calls with names that the domain does not have.
    pub hallucinated: f64,
}

/// Converts names, which may be aliases, to calls of a domain.
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

/// The step of a call of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum StepOf {
    Step(usize),
    /// The call belongs to no step.
    Unknown(Call),
}

/// Returns the steps of a plan, with equal neighbours merged. The step of a call is the step of the gold flow that has
/// its API: of several, the first that still lacks this call, or the first of all. Otherwise it is the first step of
/// the file that has the API, or a step of its own.
fn steps(domain: &FlowDomain, flow: usize, plan: &[Call]) -> Vec<StepOf> {
    let mut found = steps_of_calls(domain, flow, plan);
    found.dedup();
    found
}

/// Returns the step of each call of a plan.
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

/// Returns the share of a plan's thoughts whose nearest step of the domain, by similarity of the texts, is the step of
/// their call, as in [`Measures::step_edits`]. `None` for a plan without thoughts.
///
/// # Errors
/// Errors of the similarity.
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

/// Returns the length of the longest common subsequence.
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

/// Counts the calls with an input that no earlier call made. Outputs of the prelude, and data that is given or that any
/// flow of the domain assumes, exist from the start.
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

/// Counts the steps whose predecessor is not among the earlier steps in any flow that has them, and the steps that no
/// flow has. The prelude counts as an earlier step. Calls that belong to no step are not counted.
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
