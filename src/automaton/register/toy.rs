//! The smallest register, for tests only. It shows what a new register needs: a file like this one, a record with a row
//! in `program/registers.rs`, and a row in `mod.rs`.

use super::register::Register;
use crate::automaton::distance::bounds::Estimates;
use crate::automaton::distance::program::Rules;
use crate::automaton::program::automaton::Automaton;
use crate::automaton::program::ids::StateId;
use crate::automaton::program::registers::{RegisterKind, RegisterState, Role, Toy};
use crate::automaton::program::state::State;
use crate::automaton::residual::canonical::Writer;
use crate::automaton::residual::kept::Keep;
use crate::automaton::run::configuration::{ConfigurationId, Frame, StackSetId};
use crate::automaton::run::frame_value::FrameValue;
use crate::automaton::run::lazy::Lazy;
use crate::automaton::run::work_list::Closure;
use crate::error::Result;
use crate::grammar::{ByteSet, GrammarBuilder, Unit};
use crate::limits::Limits;

/// The value of a frame is the number of bytes `x` read.
impl Register for Toy {
    fn enter(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        stack: StackSetId,
    ) -> Result<()> {
        let stack = lazy.stacks.push(self.inside, FrameValue::of_number(0), stack);
        lazy.add(closure, self.inside, stack);
        Ok(())
    }

    fn leave(&self, _: RegisterState, _: &mut Lazy<'_>, _: &mut Closure, _: Frame) -> Result<()> {
        Ok(())
    }

    fn step(
        &self,
        _: RegisterState,
        lazy: &mut Lazy<'_>,
        closure: &mut Closure,
        byte: u8,
        stack: StackSetId,
    ) -> Result<(u8, u8)> {
        for place in 0..lazy.stacks.frame_count(stack) {
            let frame = lazy.stacks.frame(stack, place);
            let came = frame.value.number();
            if byte == b'x' && came < self.most {
                let stack = lazy.stacks.push(self.inside, FrameValue::of_number(came + 1), frame.below);
                lazy.add(closure, self.inside, stack);
            }
            if byte == b';' && came.is_multiple_of(2) {
                lazy.add(closure, self.exit, frame.below);
            }
        }
        Ok((byte, byte))
    }

    fn add_wanted(&self, _: RegisterState, wanted: &mut ByteSet) {
        wanted.insert(b'x');
        wanted.insert(b';');
    }

    fn literal(&self, _: RegisterState) -> Option<(u8, Option<StateId>)> {
        None
    }

    fn canonical(&self, at: RegisterState, writer: &mut Writer<'_>) -> Option<()> {
        writer.put_register(at, self.most);
        writer.refer(self.inside)?;
        writer.refer(self.exit)
    }

    fn canonical_value(&self, _: RegisterState, writer: &mut Writer<'_>, value: FrameValue) -> Option<()> {
        writer.put(value.bits());
        Some(())
    }

    fn keep(&self, at: RegisterState, _: &mut Lazy<'_>, frame: &Frame, _: (State, u32)) -> (Keep, bool) {
        (if at.role == Role::Inside { Keep::Last(frame.value) } else { Keep::Away }, false)
    }

    fn may_return(&self, _: RegisterState, _: &mut dyn FnMut(StateId, bool)) -> bool {
        false
    }

    fn least(&self, at: RegisterState, rules: &mut Rules<'_>, target: u32) {
        let semicolon = u32::from(at.role == Role::Enter);
        rules.add(target, semicolon, &[(rules.at(self.exit), 1)]);
    }

    fn least_after(
        &self,
        _: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        _: &Frame,
    ) -> Result<u32> {
        Ok(estimates.state(lazy, self.exit))
    }

    /// A semicolon, and before it an `x` if the number of bytes `x` so far is odd.
    fn least_inside(
        &self,
        _: RegisterState,
        estimates: &Estimates,
        lazy: &Lazy<'_>,
        stack: StackSetId,
    ) -> Option<u32> {
        let frames = lazy.stacks.frames(stack).iter();
        let left = |frame: &Frame| {
            let below = estimates.state(lazy, self.exit).saturating_add(estimates.stack(frame.below).0);
            below.saturating_add(1 + frame.value.number() % 2)
        };
        frames.map(left).min()
    }
}

const MOST: u32 = 4;

/// `a`, followed by the register, followed by `bb`: one `b` at the register's exit, one after the call.
fn automaton() -> Automaton {
    let mut builder = GrammarBuilder::new();
    let bytes = builder.bytes(b"a;xb");
    let root = builder.declare("root");
    builder.define(root, bytes);
    let grammar = builder.build(root).unwrap();
    let mut automaton = Automaton::new(&grammar, &Limits::default()).unwrap();
    let scope = *automaton.ahead.state_scopes.first().unwrap();
    let mut add = |state| {
        automaton.ahead.states.push(state);
        automaton.ahead.state_scopes.push(scope);
        StateId(automaton.ahead.states.len() as u32 - 1)
    };
    let exit = add(State::Byte { byte: b'b', next: StateId::ACCEPT });
    let state = |role| RegisterState { kind: RegisterKind::Toy, role, record: 0, node: 0 };
    let inside = add(state(Role::Inside).into());
    let enter = add(state(Role::Enter).into());
    // the register is called, so that there is a stack below its frame
    let after = add(State::Byte { byte: b'b', next: StateId::ACCEPT });
    let call = add(State::Call { start: enter, to_return: after });
    let start = add(State::Byte { byte: b'a', next: call });
    automaton.ahead.ranks.push((enter, 0));
    automaton.ahead.records.toys.push(Toy { most: MOST, inside, exit });
    automaton.start = start;
    automaton
}

/// The words: `a`, an even number of `x`, `;bb`.
fn words() -> Vec<Vec<u8>> {
    let word = |count: u32| [b"a".to_vec(), vec![b'x'; count as usize], b";bb".to_vec()].concat();
    (0..=MOST).step_by(2).map(word).collect()
}

/// The configuration after a text.
fn reads(lazy: &mut Lazy<'_>, from: ConfigurationId, text: &[u8]) -> ConfigurationId {
    text.iter().fold(from, |at, &byte| lazy.step(at, byte).unwrap())
}

#[test]
fn a_register_is_run_measured_and_taken_apart_by_its_verbs() {
    let automaton = automaton();
    let mut cache = crate::automaton::Cache::new();
    let mut lazy = Lazy::new(&automaton, &mut cache);
    let words = words();
    let mut open = vec![Vec::new()];
    let mut met = 0;
    while let Some(text) = open.pop() {
        let start = lazy.start().unwrap();
        let at = reads(&mut lazy, start, &text);
        let left = words.iter().filter(|word| word.starts_with(&text)).map(|word| word.len() - text.len());
        let left: Vec<usize> = left.collect();
        assert_eq!(at != ConfigurationId::DEAD, !left.is_empty(), "{text:?}");
        let Some(&least) = left.iter().min() else { continue };
        met += 1;
        assert_eq!(lazy.is_accepting(at), least == 0, "{text:?}");
        assert_eq!(lazy.lower_bound(Unit::Bytes, at).unwrap() as usize, least, "{text:?}");
        assert_eq!(lazy.canonical_form(at).is_some(), least > 0, "{text:?}");
        // a residual behaves like the configuration until it returns, then like the stack below
        for residual in lazy.decompose(at, 8).to_vec() {
            let inside = text.contains(&b'a') && !text.contains(&b';');
            assert_eq!(residual.returns_to.is_some(), inside || text.ends_with(b";"), "{text:?}");
            for byte in *b"abx;" {
                let (whole, apart) =
                    (lazy.step(at, byte).unwrap(), lazy.step(residual.configuration, byte).unwrap());
                let is_dead = |id: ConfigurationId| id == ConfigurationId::DEAD;
                assert_eq!(is_dead(whole), is_dead(apart), "{text:?} {byte}");
            }
        }
        open.extend(b"abx;".iter().map(|&byte| [&text[..], &[byte]].concat()));
    }
    // the prefixes of the words, without duplicates
    assert_eq!(met, 2 + MOST as usize + 3 * words.len());
}
