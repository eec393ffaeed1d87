//! Flows that are built to take much memory or time: a limit ends the work, or it takes little.

use grammata::transitions::{Count, Counts, Transition, TransitionSystem};
use grammata::{Error, LimitKind, Limits, Result};
use grammata_agents::flows::{FlowAutomaton, FlowDomain, FlowOptions, Level};
use num_bigint::BigUint;

/// Returns the text of a domain of `steps` steps of `apis` APIs each. `api` writes an API from the number of its step.
/// The one flow has `entries` between the prelude and the end.
fn domain(steps: usize, apis: usize, api: impl Fn(usize) -> String, entries: &[String]) -> String {
    let mut text =
        String::from("kind = 'flows'\nname = 'n'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {}\nE = {}\n");
    let mut of_steps =
        String::from("[steps]\np = { text = 'p', apis = ['P'] }\ne = { text = 'e', apis = ['E'] }\n");
    for step in 0..steps {
        let names: Vec<String> = (0..apis).map(|number| format!("A{step}x{number}")).collect();
        names.iter().for_each(|name| text += &format!("{name} = {}\n", api(step)));
        of_steps += &format!("s{step} = {{ text = 's', apis = {names:?} }}\n");
    }
    let flow = format!("[[flows]]\nid = 'f'\nintent = 'i'\nsteps = ['p', {}, 'e']\n", entries.join(", "));
    text + &of_steps + &flow
}

/// Returns the entries of `steps` consecutive steps.
fn in_order(steps: usize) -> Vec<String> {
    (0..steps).map(|step| format!("'s{step}'")).collect()
}

fn count(text: &str, level: u8, limits: Limits) -> Result<Count> {
    let domain = FlowDomain::read(text, &Limits::default())?;
    let options = FlowOptions::default().level(Level::of(level).unwrap()).limits(limits);
    let mut automaton = FlowAutomaton::new(&domain, options)?;
    let start = automaton.start();
    Counts::default().count(&mut automaton, &start)
}

fn assert_found(error: &Error, kind: LimitKind, found: &str) {
    assert_eq!(error.limit(), Some(kind), "{error}");
    assert!(error.to_string().contains(found), "{error}");
}

#[test]
fn counts_of_plans_are_bounded_in_bytes() {
    // (5!)^600 plans: 19,200 states, whose counts have up to about 520 bytes
    let text = domain(600, 5, |_| "{}".to_owned(), &in_order(600));
    let error = count(&text, 6, Limits::default().plan_states(22_000)).unwrap_err();
    assert_found(&error, LimitKind::PlanStates, "counts and transitions of ");
    let Count::Finite(plans) = count(&text, 6, Limits::default()).unwrap() else { panic!("infinite") };
    assert_eq!(plans, BigUint::from(120u32).pow(600));
}

/// Returns an API that needs the data of the step before and makes the data of its own step.
fn chained(step: usize) -> String {
    let input = step.checked_sub(1).map(|before| format!("'d{before}'")).unwrap_or_default();
    format!("{{ inputs = [{input}], outputs = ['d{step}'] }}")
}

/// There is one plan. In each of its states all later steps wait for data, so checking each of them anew would take a
/// quadratic number of lookups.
#[test]
fn steps_that_wait_for_data_take_no_time() {
    let text = domain(2_500, 1, chained, &in_order(2_500));
    assert_eq!(count(&text, 5, Limits::default().compile_work(1_000_000)).unwrap().to_string(), "1");
}

/// Each step needs data of the step before and is ordered after it; level 5 ignores the order. A state of 20,000 steps
/// is larger than the limit allows.
#[test]
fn steps_after_each_other_take_no_time() {
    let entry = |step: usize| match step {
        0 => "'s0'".to_owned(),
        _ => format!("{{ step = 's{step}', after = ['s{}'] }}", step - 1),
    };
    let entries: Vec<String> = (0..20_000).map(entry).collect();
    let text = domain(2_000, 1, chained, &entries[..2_000]);
    assert_eq!(count(&text, 6, Limits::default()).unwrap().to_string(), "1");
    let text = domain(20_000, 1, chained, &entries);
    for level in [5, 6] {
        let error = count(&text, level, Limits::default()).unwrap_err();
        assert_found(&error, LimitKind::PlanStates, "states of ");
    }
}

/// Ten entries with 200 alternatives each: the transitions of a state take more memory than the state.
#[test]
fn moves_are_bounded_in_bytes() {
    let entry = |entry: usize| {
        let lists: Vec<String> = (0..200).map(|number| format!("['s{}']", 200 * entry + number)).collect();
        format!("{{ either = [{}] }}", lists.join(", "))
    };
    let text = domain(2_000, 1, |_| "{}".to_owned(), &(0..10).map(entry).collect::<Vec<_>>());
    let error = count(&text, 5, Limits::default().plan_states(20_000)).unwrap_err();
    assert_found(&error, LimitKind::PlanStates, "states of ");
}

/// Each optional entry is checked for a plan that leaves it out, which takes work for the whole flow. If the work limit
/// is reached, the remaining warnings are not given.
#[test]
fn warnings_of_entries_are_bounded_in_work() {
    let entries: Vec<String> =
        (0..50).map(|step| format!("{{ step = 's{step}', optional = true }}")).collect();
    let text = domain(51, 1, chained, &[entries, vec!["'s50'".to_owned()]].concat());
    let warnings = |limits: Limits| FlowDomain::read(&text, &limits).unwrap().warnings.len();
    assert_eq!(warnings(Limits::default()), 50);
    assert!((1..50).contains(&warnings(Limits::default().compile_work(2_000))));
}

/// A chain of the states 1 to `length`. Each but the last also has a transition to the accepting state 0, which counts
/// as `2^BITS` words.
struct Row {
    length: usize,
    /// The bytes that the counting algorithm reported last.
    held: usize,
}

const BITS: usize = 80_000;

impl TransitionSystem for Row {
    type State = usize;
    type Label = bool;

    fn start(&self) -> usize {
        1
    }

    fn successors(&mut self, &state: &usize, into: &mut Vec<Transition<usize, bool>>) -> Result<()> {
        if state == self.length {
            assert!(self.held > self.length * BITS / 8 * 9 / 10, "only {} bytes", self.held);
        } else if state > 0 {
            into.push(Transition { label: true, to: 0 });
            into.push(Transition { label: false, to: state + 1 });
        }
        Ok(())
    }

    fn is_accepting(&self, &state: &usize) -> bool {
        state == 0
    }

    fn times(&self, &many: &bool, count: &BigUint) -> BigUint {
        if many { count << BITS } else { count.clone() }
    }

    fn charge(&mut self, held: usize) -> Result<()> {
        self.held = held;
        Ok(())
    }
}

/// Each state on an open path has a partial total. The memory of these totals is charged before the path ends.
#[test]
fn totals_of_a_path_are_charged() {
    let mut row = Row { length: 200, held: 0 };
    let Count::Finite(words) = Counts::default().count(&mut row, &1).unwrap() else { panic!("infinite") };
    assert_eq!(words, BigUint::from(199u32) << BITS);
}

/// Each round of a step is a place of its own. Without a limit, a million rounds took 7 seconds and 800 MB.
#[test]
fn rounds_of_steps_are_bounded() {
    let rounds = |max: usize| {
        let entry = format!("{{ step = 's0', repeat = {{ max = {max} }} }}");
        count(&domain(1, 1, |_| "{}".to_owned(), &[entry]), 6, Limits::default())
    };
    assert_eq!(rounds(100_000).unwrap().to_string(), "100000");
    assert_found(&rounds(830_095).unwrap_err(), LimitKind::PlanStates, "more places of steps");
}
