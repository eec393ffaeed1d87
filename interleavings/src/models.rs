//! What must hold of readers, whatever the writer is doing.

use crate::automaton::program::automaton::Automaton;
use crate::automaton::run::configuration::ConfigurationId;
use crate::automaton::run::transitions::Transitions;
use crate::automaton::writer;
use crate::collections::append_vec::AppendVec;
use crate::sync::{AtomicU64, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

fn explore(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

/// The first index of the second segment.
const SECOND: usize = 256;

/// An entry has its initial value or a value that was stored in it. If a later entry is visible, so are the earlier
/// ones.
pub fn entries_are_seen_in_the_order_of_writing() {
    explore(|| {
        let list: Arc<AppendVec<AtomicU64>> = Arc::default();
        let reader = thread::spawn({
            let list = Arc::clone(&list);
            move || {
                let read = |index: usize| list.get(index).map_or(0, |entry| entry.load(Ordering::Acquire));
                let (later, earlier) = (read(SECOND), read(0));
                assert!(matches!(later, 0 | 2) && matches!(earlier, 0 | 1));
                assert!(later == 0 || earlier == 1, "what was written first is seen first");
            }
        });
        list.entry(0).store(1, Ordering::Release);
        list.entry(SECOND).store(2, Ordering::Release);
        reader.join().unwrap();
    });
}

/// Two threads may make the same segment: both get the same entry.
pub fn a_segment_is_made_once() {
    explore(|| {
        let list: Arc<AppendVec<AtomicU64>> = Arc::default();
        let other = thread::spawn({
            let list = Arc::clone(&list);
            move || list.entry(1).fetch_add(1, Ordering::Relaxed)
        });
        list.entry(1).fetch_add(1, Ordering::Relaxed);
        other.join().unwrap();
        assert_eq!(list.get(1).map(|entry| entry.load(Ordering::Relaxed)), Some(2));
    });
}

/// A thread that reads a successor from a row also sees the known properties of that successor.
pub fn a_successor_is_there_before_it_is_named() {
    explore(|| {
        let transitions: Arc<Transitions> = Arc::default();
        writer::add(&transitions, 2, false);
        let reader = thread::spawn({
            let transitions = Arc::clone(&transitions);
            move || {
                let start = ConfigurationId::new(2);
                match transitions.step(&Automaton, start, 1) {
                    None => {}
                    Some(ConfigurationId::DEAD) => panic!("no successor is dead"),
                    Some(next) => {
                        assert!(next == ConfigurationId::new(3));
                        assert!(transitions.is_accepting(next) && transitions.is_named(next));
                    }
                }
                assert!(!transitions.is_accepting(start));
            }
        });
        let (row, _) = writer::dense(&transitions, 2, 0);
        writer::add(&transitions, 3, true);
        writer::fill(&transitions, row, 1, 3);
        writer::alike(&transitions, 2);
        reader.join().unwrap();
    });
}

/// The same where only one byte may come, whose row is replaced as a whole.
pub fn a_single_successor_is_there_before_it_is_named() {
    explore(|| {
        let transitions: Arc<Transitions> = Arc::default();
        writer::add(&transitions, 2, true);
        let reader = thread::spawn({
            let transitions = Arc::clone(&transitions);
            move || {
                let start = ConfigurationId::new(2);
                let next = transitions.step(&Automaton, start, b'x');
                assert!(next.is_none_or(|next| next == ConfigurationId::new(3)));
                assert!(next.is_none_or(|next| transitions.is_accepting(next)));
                let other = transitions.step(&Automaton, start, b'y');
                assert!(other.is_none_or(|other| other == ConfigurationId::DEAD));
                assert!(transitions.is_accepting(start), "marks stay while the row is replaced");
            }
        });
        writer::single(&transitions, 2, b'x', None);
        writer::add(&transitions, 3, true);
        writer::single(&transitions, 2, b'x', Some(3));
        reader.join().unwrap();
    });
}

/// One generation of tables, as `grammata::mask` publishes it.
struct Snapshot {
    generation: u64,
    transitions: Transitions,
}

/// When tables are dropped, whoever has an id of the old ones reads those, or learns that they are old: never what the id
/// means in the new ones.
pub fn an_id_is_read_in_the_tables_of_its_generation() {
    explore(|| {
        let first = Snapshot { generation: 0, transitions: Transitions::default() };
        // in the first generation configuration 2 accepts, in the second it does not
        writer::add(&first.transitions, 2, true);
        let current = Arc::new(Mutex::new(Arc::new(first)));
        let reader = thread::spawn({
            let current = Arc::clone(&current);
            move || {
                let located = (0, ConfigurationId::new(2));
                for _ in 0..2 {
                    let published = Arc::clone(&current.lock().unwrap());
                    if published.generation == located.0 {
                        assert!(published.transitions.is_accepting(located.1));
                    }
                }
            }
        });
        let second = Arc::new(Snapshot { generation: 1, transitions: Transitions::default() });
        *current.lock().unwrap() = Arc::clone(&second);
        writer::add(&second.transitions, 2, false);
        reader.join().unwrap();
    });
}
