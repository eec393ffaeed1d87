//! Requirements, effects and outcomes of plans against a naive interpreter that shares no code with the engine: random
//! small specs, all words up to a length.

use crate::language::Language;
use crate::plans::plans;
use grammata::automaton::words::Count;
use grammata_agents::plan::{Completable, Plan, PlanAutomaton, ReadPlan, Step, Verdict};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet, HashMap};

const ACTIONS: [&str; 4] = ["a", "b", "c", "d"];

/// A formula as a tree, which the interpreter evaluates; the engine reads its text.
#[derive(Clone, Debug)]
enum Tree {
    Name(&'static str),
    Equal(&'static str, bool),
    Not(Box<Tree>),
    Two(Box<Tree>, bool, Box<Tree>),
}

impl Tree {
    fn random(random: &mut ChaCha8Rng, depth: usize) -> Tree {
        match random.random_range(0..if depth == 0 { 4 } else { 8 }) {
            0 | 1 => Tree::Name(["a", "b", "c", "g", "x", "y", "f"].choose(random).unwrap()),
            2 => Tree::Name(ACTIONS.choose(random).unwrap()),
            3 => Tree::Equal(["p", "q"].choose(random).unwrap(), random.random()),
            4 => Tree::Not(Box::new(Tree::random(random, depth - 1))),
            _ => Tree::Two(
                Box::new(Tree::random(random, depth - 1)),
                random.random(),
                Box::new(Tree::random(random, depth - 1)),
            ),
        }
    }

    fn text(&self) -> String {
        match self {
            Tree::Name(name) => (*name).to_owned(),
            Tree::Equal(value, true) => format!("f == {value}"),
            Tree::Equal(value, false) => format!("f != {value}"),
            Tree::Not(inner) => format!("not ({})", inner.text()),
            Tree::Two(left, true, right) => format!("({}) and ({})", left.text(), right.text()),
            Tree::Two(left, false, right) => format!("({}) or ({})", left.text(), right.text()),
        }
    }

    fn holds(&self, world: &World) -> bool {
        match self {
            Tree::Name("g") => world.done.contains(&0) || world.done.contains(&1),
            Tree::Name("f") => world.facts.contains_key("f"),
            Tree::Name(name) => match ACTIONS.iter().position(|action| action == name) {
                Some(action) => world.done.contains(&action),
                None => world.facts.get(name) == Some(&"true"),
            },
            Tree::Equal(value, is) => (world.facts.get("f") == Some(value)) == *is,
            Tree::Not(inner) => !inner.holds(world),
            Tree::Two(left, true, right) => left.holds(world) && right.holds(world),
            Tree::Two(left, false, right) => left.holds(world) || right.holds(world),
        }
    }
}

/// The state of the interpreter after some steps of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct World {
    state: usize,
    done: BTreeSet<usize>,
    facts: BTreeMap<&'static str, &'static str>,
    used: [usize; 4],
}

/// New values of facts. An empty text removes the value of a fact or, with the name of an action, makes the action
/// count as not done.
type Effects = Vec<(&'static str, &'static str)>;

#[derive(Clone, Debug, Default)]
struct Action {
    requires: Option<Tree>,
    effects: Effects,
    outcomes: Vec<Effects>,
    at_most: Option<usize>,
}

#[derive(Clone, Debug)]
struct Machine {
    actions: Vec<Action>,
    /// The next state for each state and action; `None` if there is no transition.
    next: Vec<[Option<usize>; 4]>,
    accepting: Vec<bool>,
}

/// A step: the number of the action, and that of its outcome if it has outcomes.
type Letter = (usize, Option<usize>);

fn effects(random: &mut ChaCha8Rng) -> Effects {
    let all = [
        ("x", "true"),
        ("y", "true"),
        ("x", ""),
        ("y", ""),
        ("f", "p"),
        ("f", "q"),
        ("f", ""),
        ("a", ""),
        ("b", ""),
    ];
    let mut found: Effects = Vec::new();
    for _ in 0..random.random_range(0..3) {
        let &(name, value) = all.choose(random).unwrap();
        if found.iter().all(|(known, _)| *known != name) {
            found.push((name, value));
        }
    }
    found
}

fn written(effects: &Effects) -> String {
    let set = effects.iter().filter(|(_, value)| !value.is_empty());
    let set: Vec<String> = set
        .map(
            |(name, value)| {
                if *value == "true" { format!("{name} = true") } else { format!("{name} = '{value}'") }
            },
        )
        .collect();
    let clear: Vec<String> =
        effects.iter().filter(|(_, value)| value.is_empty()).map(|(name, _)| format!("'{name}'")).collect();
    format!("{{ set = {{ {} }}, clear = [{}] }}", set.join(", "), clear.join(", "))
}

impl Machine {
    fn random(random: &mut ChaCha8Rng, with_outcomes: bool) -> Machine {
        let states = random.random_range(1..4);
        let mut actions = vec![Action::default(); 4];
        for action in &mut actions {
            if random.random_bool(0.6) {
                action.requires = Some(Tree::random(random, 2));
            }
            action.effects = effects(random);
            if with_outcomes && random.random_bool(0.4) {
                action.outcomes = (0..random.random_range(1..4)).map(|_| effects(random)).collect();
            }
            action.at_most = random.random_bool(0.5).then(|| random.random_range(1..3));
        }
        let mut next = vec![[None; 4]; states];
        for row in &mut next {
            for to in row {
                *to = random.random_bool(0.6).then(|| random.random_range(0..states));
            }
        }
        let mut accepting: Vec<bool> = (0..states).map(|_| random.random_bool(0.4)).collect();
        accepting[states - 1] = true;
        Machine { actions, next, accepting }
    }

    fn spec(&self) -> String {
        let mut symbols = String::new();
        for (id, action) in ACTIONS.iter().zip(&self.actions) {
            let group = if matches!(*id, "a" | "b") { ", group = 'g'" } else { "" };
            let requires = action.requires.as_ref().map(|tree| format!(", requires = \"{}\"", tree.text()));
            let outcomes: Vec<String> =
                action.outcomes.iter().enumerate().map(|(n, e)| format!("o{n} = {}", written(e))).collect();
            let outcomes = match outcomes.is_empty() {
                true => String::new(),
                false => format!(", outcomes = {{ {} }}", outcomes.join(", ")),
            };
            symbols.push_str(&format!(
                "{id} = {{ text = '{id}', effects = {}{group}{}{outcomes} }}\n",
                written(&action.effects),
                requires.unwrap_or_default()
            ));
        }
        let mut transitions = String::new();
        for (from, row) in self.next.iter().enumerate() {
            for (action, to) in row.iter().enumerate() {
                if let Some(to) = to {
                    transitions.push_str(&format!(
                        "[[transitions]]\nfrom = 's{from}'\ninput = '{}'\nto = 's{to}'\n",
                        ACTIONS[action]
                    ));
                }
            }
        }
        let list = |wanted: &dyn Fn(usize) -> bool| -> String {
            (0..self.next.len()).filter(|&s| wanted(s)).map(|s| format!("'s{s}', ")).collect()
        };
        let most: Vec<String> = ACTIONS
            .iter()
            .zip(&self.actions)
            .filter_map(|(id, action)| Some(format!("{id} = {}", action.at_most?)))
            .collect();
        format!(
            "kind = 'dfa'\nstart = 's0'\nseparator = ','\nstates = [{}]\naccepting = [{}]\n\
             facts = {{ f = ['p', 'q'], x = false, y = {{ initial = false }} }}\n\
             limits = {{ at_most = {{ {} }} }}\n[symbols]\n{symbols}{transitions}",
            list(&|_| true),
            list(&|state| self.accepting[state]),
            most.join(", ")
        )
    }

    fn apply(world: &mut World, effects: &Effects) {
        for (name, value) in effects {
            match ACTIONS.iter().position(|action| action == name) {
                Some(action) => {
                    world.done.remove(&action);
                }
                None if value.is_empty() => {
                    world.facts.remove(name);
                }
                None => {
                    world.facts.insert(name, value);
                }
            }
        }
    }

    /// Returns the steps that the rules allow, each with the world after it.
    fn letters(&self, world: &World) -> Vec<(Letter, World)> {
        let mut found = Vec::new();
        for (number, action) in self.actions.iter().enumerate() {
            let Some(to) = self.next[world.state][number] else { continue };
            let is_required = action.requires.as_ref().is_none_or(|tree| tree.holds(world));
            if !is_required || action.at_most.is_some_and(|most| world.used[number] >= most) {
                continue;
            }
            let mut after = World { state: to, ..world.clone() };
            after.used[number] += usize::from(action.at_most.is_some());
            after.done.insert(number);
            Machine::apply(&mut after, &action.effects);
            if action.outcomes.is_empty() {
                found.push(((number, None), after));
                continue;
            }
            for (outcome, effects) in action.outcomes.iter().enumerate() {
                let mut after = after.clone();
                Machine::apply(&mut after, effects);
                found.push(((number, Some(outcome)), after));
            }
        }
        found
    }

    /// The worlds from which a plan can be finished whatever the outcomes: the others are removed until nothing
    /// changes.
    fn safe(&self) -> BTreeSet<World> {
        let mut all: BTreeSet<World> = BTreeSet::new();
        let mut open = vec![World::default()];
        while let Some(world) = open.pop() {
            if all.insert(world.clone()) {
                open.extend(self.letters(&world).into_iter().map(|(_, after)| after));
            }
        }
        loop {
            let mut reaching: BTreeSet<World> =
                all.iter().filter(|world| self.accepting[world.state]).cloned().collect();
            loop {
                let more: Vec<World> = all
                    .iter()
                    .filter(|world| !reaching.contains(*world))
                    .filter(|world| {
                        self.offered(world, &all).iter().any(|(_, after)| reaching.contains(after))
                    })
                    .cloned()
                    .collect();
                if more.is_empty() {
                    break;
                }
                reaching.extend(more);
            }
            if reaching.len() == all.len() {
                return all;
            }
            all = reaching;
        }
    }

    /// Returns the letters of the actions all of whose outcomes are safe.
    fn offered(&self, world: &World, safe: &BTreeSet<World>) -> Vec<(Letter, World)> {
        let all = self.letters(world);
        let is_bad =
            |action: usize| all.iter().any(|((other, _), after)| *other == action && !safe.contains(after));
        all.iter().filter(|((action, _), _)| !is_bad(*action)).cloned().collect()
    }

    /// Returns all plans with at most `most` steps.
    fn words(&self, most: usize, safe: &BTreeSet<World>) -> BTreeSet<Vec<Letter>> {
        let mut found = BTreeSet::new();
        let mut open = vec![(Vec::new(), World::default())];
        while let Some((word, world)) = open.pop() {
            if !safe.contains(&world) {
                continue;
            }
            if self.accepting[world.state] {
                found.insert(word.clone());
            }
            if word.len() < most {
                for (letter, after) in self.offered(&world, safe) {
                    open.push(([&word[..], &[letter]].concat(), after));
                }
            }
        }
        found
    }

    /// Returns the number of plans, or `None` if there are infinitely many.
    fn count(&self, safe: &BTreeSet<World>) -> Option<u64> {
        fn visit(
            machine: &Machine,
            world: &World,
            safe: &BTreeSet<World>,
            known: &mut HashMap<World, Option<u64>>,
        ) -> Option<u64> {
            if let Some(known) = known.get(world) {
                return *known;
            }
            known.insert(world.clone(), None);
            let mut total = u64::from(machine.accepting[world.state]);
            for (_, after) in machine.offered(world, safe) {
                total += visit(machine, &after, safe, known)?;
            }
            known.insert(world.clone(), Some(total));
            Some(total)
        }
        match safe.contains(&World::default()) {
            true => visit(self, &World::default(), safe, &mut HashMap::new()),
            false => Some(0),
        }
    }
}

fn letters(plan: &Plan) -> Vec<Letter> {
    plan.steps.iter().map(|step| (step.action, step.outcome)).collect()
}

fn plan(word: &[Letter]) -> Plan {
    let step = |&(action, outcome): &Letter| Step::of(action).with_outcome(outcome);
    Plan { steps: word.iter().map(step).collect() }
}

/// Returns the automaton of a machine, or `None` if it has no words or a formula contradicts itself.
fn automaton(machine: &Machine) -> Option<PlanAutomaton> {
    use grammata::syntax::automaton_spec::{Options, Spec};
    match Spec::read(&machine.spec(), &Options::default()) {
        Ok(spec) => Some(PlanAutomaton::new(spec).unwrap()),
        Err(error)
            if matches!(error.code(), "automaton-spec/contradiction" | "automaton-spec/empty-language") =>
        {
            None
        }
        Err(error) => panic!("{error}\n{}", machine.spec()),
    }
}

#[test]
fn plans_are_those_of_a_naive_interpreter() {
    const MOST: usize = 5;
    let (mut read, mut infinite, mut empty) = (0, 0, 0);
    for seed in 0..400 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let machine = Machine::random(&mut random, seed % 2 == 0);
        let Some(mut automaton) = automaton(&machine) else { continue };
        read += 1;
        let spec = machine.spec();
        let safe = machine.safe();
        let expected = machine.words(MOST, &safe);
        let within = automaton.count_within(automaton.start(), MOST).unwrap();
        assert_eq!(within.to_string(), expected.len().to_string(), "seed {seed}\n{spec}");
        let count = machine.count(&safe);
        match automaton.count().unwrap() {
            Count::Infinite => assert_eq!(count, None, "seed {seed}\n{spec}"),
            Count::Finite(found) => {
                assert_eq!(Some(found.to_string()), count.map(|n| n.to_string()), "seed {seed}\n{spec}")
            }
        }
        infinite += usize::from(count.is_none());
        empty += usize::from(count == Some(0));
        let start = automaton.start();
        let open = automaton.completable(start).unwrap() == Completable::Yes;
        assert_eq!(open, safe.contains(&World::default()), "seed {seed}\n{spec}");
        if count.is_none() || count < Some(5_000) {
            let all = automaton.plans().unwrap().map(Result::unwrap);
            let all: Vec<Vec<Letter>> = match count {
                Some(_) => all.map(|plan| letters(&plan)).filter(|word| word.len() <= MOST).collect(),
                None => all.map(|plan| letters(&plan)).take_while(|word| word.len() <= MOST).collect(),
            };
            let distinct: BTreeSet<Vec<Letter>> = all.iter().cloned().collect();
            assert_eq!(distinct.len(), all.len(), "seed {seed}");
            assert_eq!(distinct, expected, "seed {seed}\n{spec}");
        }
        for word in expected.iter().take(60) {
            // the plan itself, and the plan with one step replaced
            let mut other = word.clone();
            if !other.is_empty() {
                let place = random.random_range(0..other.len());
                let action = random.random_range(0..4);
                let outcomes = machine.actions[action].outcomes.len();
                other[place] = (action, (outcomes > 0).then(|| random.random_range(0..outcomes)));
            }
            for word in [word, &other] {
                let read = ReadPlan::of(&plan(word), automaton.spec());
                let valid = matches!(automaton.verify(&read, &[]).unwrap(), Verdict::Valid(_));
                assert_eq!(valid, expected.contains(word), "seed {seed} {word:?}\n{spec}");
                let walk = automaton.walk(&plan(word)).unwrap();
                let whole = walk.is_some_and(|walk| automaton.is_complete(walk.position().state));
                assert_eq!(whole, valid, "seed {seed} {word:?}\n{spec}");
            }
        }
    }
    assert!(read > 250 && infinite > 40 && empty > 5, "{read} {infinite} {empty}");
}

/// The texts of a spec follow its requirements and effects, too.
#[test]
fn texts_keep_requirements_and_effects() {
    let mut tried = 0;
    for seed in 1_000..1_120 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let machine = Machine::random(&mut random, false);
        let Some(automaton) = automaton(&machine) else { continue };
        let safe = machine.safe();
        let expected = machine.words(4, &safe);
        let language = Language::new(&automaton.spec().grammar().unwrap());
        let mut words: Vec<Vec<usize>> = vec![Vec::new()];
        for length in 0..4 {
            let longer = words.iter().filter(|word| word.len() == length);
            let longer: Vec<_> = longer.flat_map(|w| (0..4).map(|a| [&w[..], &[a]].concat())).collect();
            words.extend(longer);
        }
        for word in words {
            let text = word.iter().map(|&action| ACTIONS[action]).collect::<Vec<_>>().join(",");
            let letters: Vec<Letter> = word.iter().map(|&action| (action, None)).collect();
            let found = language.accepts(text.as_bytes());
            assert_eq!(found, expected.contains(&letters), "seed {seed} {text}\n{}", machine.spec());
        }
        tried += 1;
    }
    assert!(tried > 60, "{tried}");
}

#[test]
fn a_retry_is_no_dead_end_but_a_trap_is() {
    let source = |lost: &str| {
        format!(
            "kind = 'dfa'\nstart = 's'\naccepting = ['end']\nfacts = {{ state = ['ok', 'lost'] }}\n[symbols]\n\
             call = {{ requires = \"state != lost\", outcomes = {{ ok = {{ set = {{ state = 'ok' }} }}, error = {{ {lost} }} }} }}\n\
             close = {{ requires = \"state == ok\" }}\n\
             transitions = []\n"
        )
        .replace(
            "transitions = []\n",
            "[[transitions]]\nfrom = 's'\ninput = 'call'\nto = 's'\n[[transitions]]\nfrom = 's'\ninput = 'close'\nto = 'end'\n",
        )
    };
    // after an error, the action can be called again
    let mut retry = plans(&source(""));
    assert_eq!(retry.count().unwrap(), Count::Infinite);
    let start = retry.start();
    assert_eq!(retry.fewest_steps(start.state).unwrap(), Some(2));
    // after an error no step is possible, so the call is never offered
    let mut trap = plans(&source("set = { state = 'lost' }"));
    assert_eq!(trap.count().unwrap().to_string(), "0");
    assert_eq!(trap.completable(trap.start()).unwrap(), Completable::No);
}
