//! Calls that name the makers of their inputs. The accepted texts are compared with a naive enumeration; in texts
//! sampled under the mask, each input names an API that was called before and makes it, or `given` if there is none.

use crate::flow_texts::{Logits, write};
use crate::flow_vocabulary::{tokens, vocabulary};
use grammata::transitions::TransitionSystem;
use grammata::{Compiler, Limits};
use grammata_agents::flows::{
    Brackets, FlowAutomaton, FlowDomain, FlowOptions, Level, Thoughts, WithinBudget, grammar, parse,
    parse_with,
};
use grammata_agents_drive::flows::FlowPrompt;
use grammata_testing::earley::Recogniser;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeSet;
use std::sync::Arc;

/// `Near` and `Far` make the same data, `C` needs some of it and assumed data, and `E` needs two inputs.
const DOMAIN: &str = "kind = 'flows'\nname = 'd'\nprelude = 'p'\nend = 'E'\n[apis]\n\
    P = { outputs = ['ready'], description = 'readies' }\nQ = { inputs = ['ready'], description = 'asks' }\nNear = { outputs = ['place'], description = 'looks near' }\n\
    Far = { inputs = ['ready'], outputs = ['place', 'far'], description = 'looks far' }\n\
    C = { inputs = [['place', 'far'], 'money'], outputs = ['trip'], description = 'makes' }\nE = { inputs = ['trip', 'ready'], description = 'ends' }\n[steps]\n\
    p = { text = 'begin', apis = ['P', 'Q'] }\nfind = { text = 'find places', apis = ['Near', 'Far'] }\n\
    make = { text = 'make it', apis = ['C'] }\ne = { text = 'end it', apis = ['E'] }\n\
    [[flows]]\nid = 'f'\nintent = 'travel'\nsteps = ['p', { step = 'find', optional = false }, 'make', 'e']\nassumes = ['money']\n";

fn domain() -> FlowDomain {
    FlowDomain::read(DOMAIN, &Limits::default()).unwrap()
}

fn options(level: Level) -> FlowOptions {
    FlowOptions::default().level(level).arguments(true)
}

fn shipped(name: &str) -> FlowDomain {
    let path = format!("{}/grammars/flows/{name}.toml", crate::ROOT);
    FlowDomain::read(&std::fs::read_to_string(path).unwrap(), &Limits::default()).unwrap()
}

/// Returns all plans of a finite domain, as sequences of APIs.
fn plans(domain: &FlowDomain, level: Level) -> Vec<Vec<usize>> {
    let options = FlowOptions::default().level(level);
    let mut automaton = FlowAutomaton::new(domain, options).unwrap();
    let (mut open, mut found) = (vec![(automaton.start(), Vec::new())], Vec::new());
    while let Some((state, calls)) = open.pop() {
        let mut next = Vec::new();
        automaton.successors(&state, &mut next).unwrap();
        for one in next {
            let longer = [&calls[..], &[one.label.api]].concat();
            match automaton.is_accepting(&one.to) {
                true => found.push(longer),
                false => open.push((one.to, longer)),
            }
        }
    }
    found
}

/// Returns all texts of a plan by the naive rule: an input names any maker that was called before, or `given` if there
/// is none.
fn texts(domain: &FlowDomain, plan: &[usize]) -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut called: Vec<usize> = domain.prelude_apis().to_vec();
    for &api in plan {
        let declared = &domain.apis[api];
        let mut calls = vec![format!(" {}(", declared.name)];
        for (number, input) in declared.inputs.iter().enumerate() {
            let mut values: Vec<String> = Vec::new();
            for &data in &input.any_of {
                let makers = called.iter().filter(|&&maker| domain.apis[maker].outputs.contains(&data));
                values.extend(
                    makers.map(|&maker| format!("{}={}", domain.data[data], domain.apis[maker].name)),
                );
            }
            if values.is_empty() {
                values.push(format!("{}=given", domain.data[input.any_of[0]]));
            }
            let between = if number > 0 { ", " } else { "" };
            calls = calls
                .iter()
                .flat_map(|call| values.iter().map(move |value| format!("{call}{between}{value}")))
                .collect();
        }
        let before = if texts[0].is_empty() { "" } else { "," };
        texts = texts
            .iter()
            .flat_map(|text| calls.iter().map(move |call| format!("{text}{before}{call})")))
            .collect();
        called.push(api);
    }
    texts
}

#[test]
fn the_texts_are_those_of_the_rule() {
    let domain = domain();
    let mut all = BTreeSet::new();
    for plan in plans(&domain, Level::Steps) {
        all.extend(texts(&domain, &plan));
    }
    // two orders of the first step, each with three inputs of C: place by Near, place by Far, far by Far
    assert_eq!(all.len(), 2 * 3);
    assert!(all.contains(" Near(), Far(ready=P), C(far=Far, money=given), E(trip=C, ready=P)"));
    let made = grammar(&domain, &options(Level::Steps), Thoughts::None).unwrap();
    let vocabulary = vocabulary(&tokens(&domain));
    let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made).unwrap();
    let recogniser = Recogniser::new(&made).unwrap_or_else(|_| panic!("the grammar is small"));
    let accepts = |text: &str| {
        let mut matcher = compiled.matcher();
        let accepted = matcher.accept_bytes(text.as_bytes()).is_ok() && matcher.is_accepting();
        assert_eq!(accepted, recogniser.accepts(text.as_bytes()), "{text}");
        accepted
    };
    for text in &all {
        assert!(accepts(text), "{text}");
        for (from, to) in [
            ("E(trip=C", "E(trip=Near"),
            ("(ready=P)", "()"),
            (", money=given", ""),
            ("money=given", "money=Near"),
            ("C(", "C(ready=P, "),
            ("ready=P", "ready=Q"),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert!(wrong == *text || !accepts(&wrong), "{wrong}");
        }
    }
    // an API that is called later is not a maker
    assert!(!accepts(" C(place=Near, money=given)"));
    // sampling reaches exactly the enumerated texts
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let found: BTreeSet<String> = (0..200).map(|_| write(&compiled, Logits::Random, &mut random)).collect();
    assert_eq!(found, all);
}

#[test]
fn every_input_names_an_api_that_was_called_and_makes_it() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    for (domain, level) in [
        (shipped("restaurant-and-ride"), Level::Steps),
        (shipped("insurance"), Level::Apis),
        (domain(), Level::Data),
    ] {
        let vocabulary = vocabulary(&tokens(&domain));
        for (thoughts, cases) in
            [(Thoughts::None, 40), (Thoughts::Free, 10), (Thoughts::Guided, 5), (Thoughts::After, 2)]
        {
            let made = grammar(&domain, &options(level), thoughts).unwrap();
            let compiled = Compiler::new(Arc::clone(&vocabulary)).compile(&made).unwrap();
            for _ in 0..cases {
                let text = write(&compiled, Logits::Short, &mut random);
                let end = &domain.apis[domain.end].name;
                let plan = parse_with(&text, end, thoughts, Brackets::Makers);
                assert!(plan.is_finished && plan.is_parsable && plan.length == text.len(), "{text}");
                let mut called: Vec<usize> = domain.prelude_apis().to_vec();
                for call in &plan.calls {
                    let api = domain.api(&call.name).unwrap();
                    assert_eq!(call.arguments.len(), domain.apis[api].inputs.len(), "{text}");
                    for (input, (data, maker)) in domain.apis[api].inputs.iter().zip(&call.arguments) {
                        let data = domain.data.iter().position(|name| name == data).unwrap();
                        assert!(input.any_of.contains(&data), "{text}");
                        let makers: Vec<usize> = called
                            .iter()
                            .copied()
                            .filter(|&api| {
                                domain.apis[api].outputs.iter().any(|made| input.any_of.contains(made))
                            })
                            .collect();
                        match maker.as_str() {
                            "given" => assert!(makers.is_empty(), "{text}"),
                            maker => {
                                let maker = domain.api(maker).unwrap();
                                let is_made = domain.apis[maker].outputs.contains(&data);
                                assert!(called.contains(&maker) && is_made, "{text}");
                            }
                        }
                    }
                    called.push(api);
                }
            }
        }
        // a budget of 0 tokens is below the least, so it is refused
        let compiled = Compiler::new(Arc::clone(&vocabulary))
            .compile(&grammar(&domain, &options(level), Thoughts::None).unwrap())
            .unwrap();
        let refused = WithinBudget::new(&compiled, &domain, &options(level), Thoughts::None, 0).unwrap_err();
        assert_eq!(refused.code(), "flow/budget");
    }
}

#[test]
fn what_cannot_name_makers_is_refused() {
    let domain = domain();
    for level in [Level::Format, Level::Names, Level::Bounded] {
        let error = grammar(&domain, &options(level), Thoughts::Free).unwrap_err();
        assert_eq!(error.code(), "flow/arguments", "{level:?}");
    }
    let odd = FlowDomain::read(&DOMAIN.replace("'trip'", "'the) trip'"), &Limits::default()).unwrap();
    assert_eq!(grammar(&odd, &options(Level::Steps), Thoughts::None).unwrap_err().code(), "flow/arguments");
    let few = Limits::default().plan_states(3);
    let options = options(Level::Steps).limits(few);
    assert_eq!(grammar(&domain, &options, Thoughts::None).unwrap_err().code(), "limit/exceeded");
    // if brackets are expected to be empty, a plan with arguments is broken
    let text = " A(x=B), E(y=A, z=given)";
    assert!(parse(text, "E", Thoughts::None).is_broken);
    let plan = parse_with(text, "E", Thoughts::None, Brackets::Makers);
    assert!(plan.is_finished && plan.calls[1].arguments.len() == 2, "{plan:?}");
    for (text, is_broken) in [
        (" A(x=B", false),
        (" A(x", false),
        (" A(x=B)", false),
        (" A(x!", true),
        (" A(x=)", true),
        (" A(x)", true),
    ] {
        assert_eq!(parse_with(text, "E", Thoughts::None, Brackets::Makers).is_broken, is_broken, "{text}");
    }
}

#[test]
fn the_prompt_names_makers_too() {
    let domain = domain();
    let error =
        FlowPrompt::new(&domain, &[0, 99], "far away", Thoughts::None, &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "flow/unknown-name");
    let prompt = FlowPrompt::new(&domain, &[0], "far away", Thoughts::None, &Limits::default()).unwrap();
    assert_eq!(prompt.answer, "Plan: P(), Q(),");
    let prompt = prompt.naming_makers(&domain, Thoughts::None);
    assert_eq!(prompt.answer, "Plan: P(), Q(ready=P),");
    assert!(prompt.question.ends_with("Name(input=API).\n"));
}
