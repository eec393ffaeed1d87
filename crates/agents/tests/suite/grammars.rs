//! The shipped grammars: each folder under `grammars/` has words that its grammar accepts, other texts that it rejects,
//! and the files that `grammars/README.md` describes.

use crate::language::{Language, matches};
use crate::shipped::{folders, grammar, main_file, root, spec, texts};
use grammata::syntax::automaton_spec::{Options, Spec, compile};
use grammata_agents::plan::{PlanAutomaton, ReadPlan, Verdict};
use std::cell::RefCell;
use std::path::Path;

/// A test of whether a text is an example of a grammar.
type IsExample = dyn Fn(&[u8]) -> bool;

/// Returns the test for examples of the grammar in a folder, with the defaults of its parameters. Examples are words;
/// if a spec has actions with outcomes, which cannot be written as words, examples are its plans.
fn examples(folder: &Path) -> Box<IsExample> {
    let plans = (main_file(folder) == "spec.toml").then(|| {
        let source = std::fs::read_to_string(folder.join("spec.toml")).unwrap();
        Spec::read(&source, &Options::default()).unwrap()
    });
    match plans.filter(|spec| spec.facts().has_outcomes()) {
        None => {
            let language = language(folder);
            Box::new(move |text| language.accepts(text))
        }
        Some(spec) => {
            let plans = RefCell::new(PlanAutomaton::new(spec).unwrap());
            Box::new(move |text| {
                let mut plans = plans.borrow_mut();
                let read = ReadPlan::parse(std::str::from_utf8(text).unwrap(), plans.spec()).unwrap();
                matches!(plans.verify(&read, &[]).unwrap(), Verdict::Valid(_))
            })
        }
    }
}

/// Compiles the grammar in a folder, with the defaults of its parameters.
fn language(folder: &Path) -> Language {
    Language::new(&grammar(folder))
}

#[test]
fn words_are_accepted_and_other_texts_are_not() {
    let mut wrong = Vec::new();
    let mut read = 0;
    for folder in folders() {
        read += 1;
        let is_example = examples(&folder);
        for (which, expected) in [("accept", true), ("reject", false)] {
            for (path, text) in texts(&folder, which) {
                if is_example(&text) != expected {
                    wrong.push(path);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read >= 11, "{read}");
}

#[test]
fn every_folder_is_complete_and_listed() {
    let list = std::fs::read_to_string(root().join("README.md")).unwrap();
    for folder in folders() {
        main_file(&folder);
        texts(&folder, "accept");
        texts(&folder, "reject");
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.starts_with(&format!("# {name}\n")) && readme.contains("\nSource: "), "{name}");
        assert!(list.contains(&format!("| [{name}]({name}) |")), "{name} is not in grammars/README.md");
        if main_file(&folder) == "spec.toml" {
            let source = std::fs::read_to_string(folder.join("spec.toml")).unwrap();
            let spec = Spec::read(&source, &Options::default()).unwrap();
            assert_eq!(spec.name(), Some(name.as_str()));
            assert_eq!(spec.warnings(), [], "{name}");
            for parameter in spec.parameters() {
                let named = format!("`{}`", parameter.name);
                assert!(readme.contains(&named) && list.contains(&named), "{name}: {named}");
            }
        }
    }
}

fn text(folder: &str, path: &str) -> Vec<u8> {
    std::fs::read(root().join(folder).join(path)).unwrap()
}

#[test]
fn meals_keep_their_gap() {
    let compiled = spec(&root().join("daily-plan"), &[("meal_gap_hours", "3")]);
    assert!(matches(&compiled.grammar, &text("daily-plan", "accept/gap-of-three.txt")));
    assert!(!matches(&compiled.grammar, &text("daily-plan", "accept/no-gap.txt")));
}

#[test]
fn four_hours_between_meals_leave_no_plan() {
    let source = std::fs::read_to_string(root().join("daily-plan/spec.toml")).unwrap();
    let parameters = [("meal_gap_hours".to_owned(), "4".to_owned())].into();
    let error = compile(&source, &Options::default().parameters(parameters)).unwrap_err();
    assert_eq!(error.code(), "automaton-spec/empty-language");
}

#[test]
fn inputs_and_output_of_plans_are_parameters() {
    let folder = root().join("openagi");
    let text = spec(&folder, &[("output", "text")]);
    assert!(matches(&text.grammar, b"Image Captioning, Input Image"));
    assert!(!matches(&text.grammar, b"Colorization, Input Image"));
    let no_text = spec(&folder, &[("output", "text"), ("inputs", "image")]);
    assert!(matches(&no_text.grammar, b"Image Captioning, Input Image"));
    assert!(!matches(&no_text.grammar, b"Text Summarization, Input Text"));
    let source = std::fs::read_to_string(folder.join("spec.toml")).unwrap();
    let parameters = [("inputs".to_owned(), String::new())].into();
    let error = compile(&source, &Options::default().parameters(parameters)).unwrap_err();
    assert_eq!(error.code(), "automaton-spec/unproductive");
}

#[test]
fn a_seasoning_may_have_to_be_something() {
    let compiled = spec(&root().join("cooking"), &[("seasoning_may_be_empty", "false")]);
    assert!(matches(&compiled.grammar, &text("cooking", "accept/blanched-clean.txt")));
    assert!(!matches(&compiled.grammar, &text("cooking", "accept/blanched-raw.txt")));
}

#[test]
fn names_of_a_sale_are_parameters() {
    let names = [("seller", "Delta \"D\" Ltd"), ("company", "Beta Systems"), ("buyer", "Gamma Capital")];
    let compiled = spec(&root().join("risk-management"), &names);
    let plan = String::from_utf8(text("risk-management", "accept/all-regions.txt")).unwrap();
    assert!(matches(&compiled.grammar, plan.replace("Alpha Holdings", "Delta \"D\" Ltd").as_bytes()));
    assert!(!matches(&compiled.grammar, plan.as_bytes()));
}

/// Of all orders of the day's activities, exactly those are plans that fulfil the rules of the spec. The rules are
/// written a second time here: basketball at 13:00, meals in order, no meal right before basketball, and the washing
/// machine right before homework.
#[test]
fn a_day_is_planned_as_its_rules_say() {
    const DAY: [(&str, u32); 7] = [
        ("Eating breakfast.", 1),
        ("Eating lunch.", 1),
        ("Eating supper.", 1),
        ("Playing basketball.", 2),
        ("Grocery shopping.", 1),
        ("House cleaning.", 1),
        ("Doing homework.", 3),
    ];
    let language = Language::new(&spec(&root().join("daily-plan"), &[]).grammar);
    let mut orders: Vec<Vec<usize>> = vec![vec![]];
    for _ in 0..DAY.len() {
        let longer = |order: &Vec<usize>| {
            let order = order.clone();
            let free: Vec<usize> = (0..DAY.len()).filter(|next| !order.contains(next)).collect();
            free.into_iter().map(move |next| order.iter().copied().chain([next]).collect())
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    let mut plans = 0;
    for order in orders {
        let (mut hour, mut lines, mut basketball) = (10, Vec::new(), 0);
        for &activity in &order {
            let (text, hours) = DAY[activity];
            if activity == 6 {
                lines.push(format!("{hour}:00 Turning on the washing machine."));
            }
            if activity == 3 {
                basketball = hour;
            }
            lines.push(format!("{hour}:00 - {}:00 {text}", hour + hours));
            hour += hours;
        }
        lines.reverse();
        let place = |activity: usize| order.iter().position(|&a| a == activity).unwrap();
        let meals = place(0) < place(1) && place(1) < place(2);
        let rested = place(3) > 0 && order[place(3) - 1] > 2;
        let expected = basketball == 13 && meals && rested;
        plans += u32::from(expected);
        let plan = lines.join("\n");
        assert_eq!(language.accepts(plan.as_bytes()), expected, "{plan}");
    }
    assert_eq!(plans, 44);
}
