//! Flows that are made to take much memory or time: a limit ends them, or they take neither.

use grammata::flows::{FlowAutomaton, FlowDomain, FlowOptions, Level};
use grammata::transitions::{Count, Counts, Transition, TransitionSystem};
use grammata::{Error, LimitKind, Limits, Result};
use num_bigint::BigUint;

/// A domain with one flow of the entries that `entry` writes, `steps` of them between the prelude and the end, of `apis` APIs
/// each, which are written as `api` says.
fn domain(
    steps: usize,
    apis: usize,
    api: impl Fn(usize) -> String,
    entry: impl Fn(usize) -> String,
) -> String {
    let mut text =
        String::from("kind = 'flows'\nname = 'n'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {}\nE = {}\n");
    let (mut of_steps, mut entries) = (String::new(), String::new());
    for step in 0..steps {
        let names: Vec<String> = (0..apis).map(|number| format!("A{step}x{number}")).collect();
        names.iter().for_each(|name| text += &format!("{name} = {}\n", api(step)));
        of_steps += &format!("s{step} = {{ text = 's', apis = {names:?} }}\n");
        entries += &format!("{}, ", entry(step));
    }
    text + "[steps]\np = { text = 'p', apis = ['P'] }\ne = { text = 'e', apis = ['E'] }\n"
        + &of_steps
        + &format!("[[flows]]\nid = 'f'\nintent = 'i'\nsteps = ['p', {entries}'e']\n")
}

fn count(text: &str, level: u8, limits: Limits) -> Result<Count> {
    let domain = FlowDomain::read(text, &limits)?;
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
    // (5!)^600 plans: 19,200 states, whose counts have up to 500 bytes
    let text = domain(600, 5, |_| "{}".to_owned(), |step| format!("'s{step}'"));
    let error = count(&text, 6, Limits::default().plan_states(22_000)).unwrap_err();
    assert_found(&error, LimitKind::PlanStates, "counts and transitions of ");
    let Count::Finite(plans) = count(&text, 6, Limits::default()).unwrap() else { panic!("infinite") };
    assert_eq!(plans, BigUint::from(120u32).pow(600));
}

/// States in a row, each of which can also end in `2^BITS` ways.
struct Row {
    length: usize,
    /// What the algorithm last said it held.
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

/// Where the counts are known of many states that a path of states goes by, its totals take memory before it ends.
#[test]
fn totals_of_a_path_are_charged() {
    let mut row = Row { length: 200, held: 0 };
    let Count::Finite(words) = Counts::default().count(&mut row, &1).unwrap() else { panic!("infinite") };
    assert_eq!(words, BigUint::from(199u32) << BITS);
}
