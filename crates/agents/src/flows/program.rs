//! The body of a flow as position automata (Glushkov 1961). A flow that is ordered by its list is one automaton
//! (*thread*). At level 5, and in a flow with `after`, each entry is one, with a partial order of their beginnings.

use super::domain::{Entry, FlowDomain, FlowOrder, Rounds};
use super::options::Level;
use fixedbitset::FixedBitSet;
use grammata::error::Result;
use grammata::limits::{LimitKind, Limits};

/// A position: one round of a step, or, at level 5, of all steps of an alternative in which each step occurs exactly
/// once.
#[derive(Debug)]
pub(super) struct Occurrence {
    /// The APIs in the order of the file, except the end of plans, each with the step that it carries out.
    pub(super) apis: Vec<(usize, usize)>,
    /// The positions that may follow.
    pub(super) follow: Vec<u32>,
    /// Whether its thread may end after the position.
    pub(super) is_last: bool,
    /// Data that APIs of its thread can use from the position on.
    pub(super) needs: FixedBitSet,
    /// Data that APIs of its thread can use after the position.
    pub(super) needs_after: FixedBitSet,
}

/// One position automaton.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) first: Vec<u32>,
    pub(super) is_nullable: bool,
    /// The threads that must be finished before the thread begins.
    pub(super) before: Vec<usize>,
    /// Data that APIs of the thread can use.
    pub(super) needs: FixedBitSet,
}

/// The body of a flow.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) occurrences: Vec<Occurrence>,
    pub(super) threads: Vec<Thread>,
    /// Whether a step that has begun is completed before another thread moves.
    pub(super) is_whole: bool,
    /// The memory of the sets of needed data of positions and threads, in bytes.
    pub(super) bytes: usize,
}

/// A part of a position automaton.
struct Fragment {
    first: Vec<u32>,
    last: Vec<u32>,
    is_nullable: bool,
}

impl Fragment {
    fn empty() -> Fragment {
        Fragment { first: Vec::new(), last: Vec::new(), is_nullable: true }
    }
}

struct Builder<'d> {
    domain: &'d FlowDomain,
    occurrences: Vec<Occurrence>,
    /// Whether the steps of an alternative form one unordered bag of APIs, if each of them occurs exactly once.
    is_unordered: bool,
    limit: usize,
    work: usize,
}

impl Program {
    /// Builds the body of a flow at level 5, where the entries may occur in any order, or at level 6.
    ///
    /// # Errors
    /// The limit `plan_states` bounds the positions, the edges between them, and the bytes of their needs.
    pub(super) fn new(domain: &FlowDomain, flow: usize, level: Level, limits: &Limits) -> Result<Program> {
        let flow = &domain.flows[flow];
        let is_unordered = level < Level::Steps;
        let limit = limits.plan_states;
        let mut builder = Builder { domain, occurrences: Vec::new(), is_unordered, limit, work: 0 };
        let mut threads = Vec::new();
        let by_entry = is_unordered || flow.is_partial_order();
        let bodies: Vec<&[Entry]> = match by_entry {
            true => flow.body.chunks(1).collect(),
            false => vec![&flow.body],
        };
        for (number, entries) in bodies.iter().enumerate() {
            let fragment = builder.sequence(entries)?;
            fragment.last.iter().for_each(|&last| builder.occurrences[last as usize].is_last = true);
            let before = match flow.body.get(number) {
                Some(Entry::Step { after: Some(after), .. }) if by_entry && !is_unordered => after.clone(),
                _ => Vec::new(),
            };
            let needs = FixedBitSet::new();
            let Fragment { first, is_nullable, .. } = fragment;
            threads.push(Thread { first, is_nullable, before, needs });
        }
        let sets = builder.occurrences.len().saturating_mul(2).saturating_add(threads.len());
        let bytes = sets.saturating_mul(domain.data.len() / 8);
        limits.check_states_bytes(bytes)?;
        builder.find_needs();
        for thread in &mut threads {
            for &first in &thread.first {
                thread.needs.union_with(&builder.occurrences[first as usize].needs);
            }
        }
        let is_whole = !is_unordered && flow.order == FlowOrder::Whole;
        Ok(Program { occurrences: builder.occurrences, threads, is_whole, bytes })
    }
}

/// The number of units of `plan_states` that each round of an API after the first takes. A round needs a position, a
/// state, a transition and a count, about 1,000 bytes in total.
const COPY: usize = 8;

impl Builder<'_> {
    fn spend(&mut self, work: usize) -> Result<()> {
        self.work += work;
        match self.work > self.limit {
            true => {
                Err(Limits::exceeded(LimitKind::PlanStates, self.limit, "more places of steps in a flow"))
            }
            false => Ok(()),
        }
    }

    fn sequence(&mut self, entries: &[Entry]) -> Result<Fragment> {
        let mut whole = Fragment::empty();
        let once = |entry: &Entry| matches!(entry, Entry::Step { rounds: Rounds::ONCE, .. });
        if self.is_unordered && entries.iter().all(once) {
            let steps = entries.iter().filter_map(|entry| match entry {
                Entry::Step { step, .. } => Some(*step),
                Entry::Either(_) => None,
            });
            let steps: Vec<usize> = steps.collect();
            return self.rounds(&steps, Rounds::ONCE);
        }
        for entry in entries {
            let next = match entry {
                Entry::Step { step, rounds, .. } => self.rounds(&[*step], *rounds)?,
                Entry::Either(alternatives) => {
                    let mut any = Fragment {
                        first: Vec::new(),
                        last: Vec::new(),
                        is_nullable: alternatives.is_empty(),
                    };
                    for alternative in alternatives {
                        let one = self.sequence(alternative)?;
                        any.first.extend(one.first);
                        any.last.extend(one.last);
                        any.is_nullable |= one.is_nullable;
                    }
                    any
                }
            };
            whole = self.join(whole, next)?;
        }
        Ok(whole)
    }

    fn join(&mut self, before: Fragment, after: Fragment) -> Result<Fragment> {
        self.spend(before.last.len().saturating_mul(after.first.len()))?;
        for &last in &before.last {
            self.occurrences[last as usize].follow.extend_from_slice(&after.first);
        }
        let mut first = before.first;
        if before.is_nullable {
            first.extend_from_slice(&after.first);
        }
        let mut last = after.last;
        if after.is_nullable {
            last.extend_from_slice(&before.last);
        }
        Ok(Fragment { first, last, is_nullable: before.is_nullable && after.is_nullable })
    }

    /// Builds rounds in which each API of the steps is called once. The order of the APIs is not decided here, but by
    /// [`Within`](super::Within).
    fn rounds(&mut self, steps: &[usize], rounds: Rounds) -> Result<Fragment> {
        let mut apis = Vec::new();
        for &step in steps {
            let of_step = self.domain.steps[step].apis.iter().filter(|&&api| api != self.domain.end);
            apis.extend(of_step.map(|&api| (api, step)));
        }
        if apis.is_empty() {
            return Ok(Fragment::empty());
        }
        let copies = rounds.max.unwrap_or(rounds.min).max(1);
        let copied = (copies as usize - 1).saturating_mul(COPY).saturating_add(1);
        self.spend(copied.saturating_mul(apis.len()))?;
        let first = self.occurrences.len() as u32;
        for copy in 0..copies {
            let mut follow = Vec::new();
            if copy + 1 < copies {
                follow.push(first + copy + 1);
            } else if rounds.max.is_none() {
                follow.push(first + copy);
            }
            self.occurrences.push(Occurrence {
                apis: apis.clone(),
                follow,
                is_last: false,
                needs: FixedBitSet::new(),
                needs_after: FixedBitSet::new(),
            });
        }
        let last = first + rounds.min.max(1) - 1..first + copies;
        Ok(Fragment { first: vec![first], last: last.collect(), is_nullable: rounds.min == 0 })
    }

    /// Computes the data that positions need. Each position is followed only by later positions or itself, so one
    /// backward pass suffices.
    fn find_needs(&mut self) {
        for place in (0..self.occurrences.len()).rev() {
            let mut own = FixedBitSet::with_capacity(self.domain.data.len());
            for &(api, _) in &self.occurrences[place].apis {
                self.domain.add_inputs(api, &mut own);
            }
            let mut after = FixedBitSet::with_capacity(self.domain.data.len());
            for &next in &self.occurrences[place].follow {
                match next as usize == place {
                    true => after.union_with(&own),
                    false => after.union_with(&self.occurrences[next as usize].needs),
                }
            }
            own.union_with(&after);
            let occurrence = &mut self.occurrences[place];
            (occurrence.needs, occurrence.needs_after) = (own, after);
        }
    }
}
