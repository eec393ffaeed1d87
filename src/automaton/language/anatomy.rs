//! The parts of a configuration as plain data, for the figures of `docs/architecture.md`, which are drawn from the
//! engine's tables.

use crate::automaton::program::block::Scope;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::interval::Interval;
use crate::automaton::program::registers::{RegisterKind, Role};
use crate::automaton::program::state::State;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::error::Result;
use crate::grammar::ByteSet;

/// The items of a configuration and the sets of stacks that they lead to.
#[derive(Clone, Debug)]
pub struct Anatomy {
    /// The leaf states with their stacks, sorted.
    pub items: Vec<ItemView>,
    /// The sets of stacks, each after all sets that lead to it. The last set, if there is one, contains only the empty
    /// stack.
    pub stacks: Vec<StackSetView>,
}

/// A leaf state and its stacks.
#[derive(Clone, Debug)]
pub struct ItemView {
    /// The leaf state, which waits for a byte or a token.
    pub state: StateId,
    /// The rule and label from which the state was lowered.
    pub scope: Scope,
    /// The bytes that the state waits for.
    pub reads: ByteSet,
    /// The index of the set of its stacks in [`Anatomy::stacks`].
    pub stack: usize,
}

/// A set of stacks, as its top frames and the sets below them.
#[derive(Clone, Debug)]
pub struct StackSetView {
    /// The top frames; empty for the set of the empty stack.
    pub frames: Vec<FrameView>,
}

/// A frame and the stacks below it.
#[derive(Clone, Debug)]
pub struct FrameView {
    /// The return address: the state that follows the call.
    pub to_return: StateId,
    /// The rule and label from which the return address was lowered.
    pub scope: Scope,
    /// The value of the frame, such as the members seen; [`RegisterView::None`] for a plain call.
    pub register: RegisterView,
    /// The index of the set of the stacks below in [`Anatomy::stacks`].
    pub below: usize,
}

/// The value of a frame, by the kind of its register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RegisterView {
    /// A plain call, or a register that is neither a loop nor a list of members, with the value 0.
    None,
    /// The numbers of rounds that may follow, as intervals; `None` means unbounded.
    Rounds(Vec<(u32, Option<u32>)>),
    /// In declared order: the first member that may still follow.
    NextMember(u32),
    /// In any order: the members seen.
    SeenMembers(Vec<u32>),
    /// Another register, by its value, which is not 0.
    Other(u32),
}

/// A residual of a configuration: some of its states up to their return.
#[derive(Clone, Copy, Debug)]
pub struct ResidualView {
    /// The states on an empty stack. Where this configuration accepts, the residual returns.
    pub configuration: ConfigurationId,
    /// The configuration after the return; `None` if the text ends there.
    pub returned: Option<ConfigurationId>,
}

impl Lazy<'_> {
    /// Describes the items and the stacks of a configuration.
    pub fn anatomy(&self, id: ConfigurationId) -> Anatomy {
        let mut sets: Vec<StackSetId> = Vec::new();
        let mut open: Vec<StackSetId> = self.items(id).iter().rev().map(|item| item.stack).collect();
        while let Some(set) = open.pop() {
            if !sets.contains(&set) {
                sets.push(set);
                open.extend(self.frames_of(set).rev().map(|frame| frame.below));
            }
        }
        // sets of stacks below have a smaller depth
        sets.sort_by_key(|&set| std::cmp::Reverse((self.depth(set), set)));
        let place = |set: StackSetId| sets.iter().position(|&other| other == set).unwrap_or_default();
        let items = self.items(id).iter().map(|item| ItemView {
            state: item.state,
            scope: self.automaton.scope(item.state),
            reads: self.automaton.wanted_bytes(item.state),
            stack: place(item.stack),
        });
        let frame = |frame: Frame| FrameView {
            to_return: frame.to_return,
            scope: self.automaton.scope(frame.to_return),
            register: self.register(frame),
            below: place(frame.below),
        };
        let stacks =
            sets.iter().map(|&set| StackSetView { frames: self.frames_of(set).map(frame).collect() });
        Anatomy { items: items.collect(), stacks: stacks.collect() }
    }

    /// The residuals of a configuration, as masks use them for tokens of at most `horizon` bytes.
    ///
    /// # Errors
    /// Limits: `cache_bytes`, `lockstep_search`, and the budget of work; errors of deferred lowering.
    pub fn residuals(&mut self, id: ConfigurationId, horizon: u32) -> Result<Vec<ResidualView>> {
        let mut views = Vec::new();
        for &part in &*self.decompose(id, horizon) {
            let returned = part.returns_to.map(|set| self.returned(set)).transpose()?;
            views.push(ResidualView { configuration: part.configuration, returned });
        }
        Ok(views)
    }

    fn frames_of(&self, set: StackSetId) -> impl DoubleEndedIterator<Item = Frame> + '_ {
        self.stacks.frames(set).iter().copied().filter(|frame| frame.to_return != Frame::BOTTOM)
    }

    /// The number of frames of the longest stack. Uses a worklist instead of recursion, since stacks are as deep as the
    /// text nests.
    fn depth(&self, set: StackSetId) -> usize {
        let (mut level, mut depth) = (vec![set], 0);
        loop {
            let mut below: Vec<StackSetId> =
                level.iter().flat_map(|&set| self.frames_of(set)).map(|frame| frame.below).collect();
            below.sort_unstable();
            below.dedup();
            if below.is_empty() {
                return depth;
            }
            (level, depth) = (below, depth + 1);
        }
    }

    fn register(&self, frame: Frame) -> RegisterView {
        match self.automaton.state(frame.to_return) {
            _ if frame.value.is_rounds() => {
                let bound = |high: u32| (high != Interval::ENDLESS).then_some(high);
                let rounds = self.stacks.rounds.get(frame.value.rounds());
                RegisterView::Rounds(rounds.iter().map(|span| (span.low, bound(span.high))).collect())
            }
            State::Register {
                kind: RegisterKind::Members,
                role: Role::Return | Role::Between,
                record,
                ..
            } => {
                let members = self.automaton.members(record);
                let base = self.progress(members, frame.value).base;
                match members.any_order {
                    true => RegisterView::SeenMembers(self.seen.get(base).ones().map(|m| m as u32).collect()),
                    false => RegisterView::NextMember(base),
                }
            }
            _ if frame.value == FrameValue::NONE => RegisterView::None,
            _ => RegisterView::Other(frame.value.bits()),
        }
    }
}
