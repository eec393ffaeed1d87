//! One memory bound for the tables of many grammars: it is kept, and changes no mask.

use grammata::explore::ExploreBudget;
use grammata::syntax::{Source, parse};
use grammata::vocabulary::{TokenId, VocabularyBuilder};
use grammata::{CompiledGrammar, Compiler, MemoryBound};
use std::sync::Arc;

/// The number of grammars that differ in their names.
const GRAMMARS: usize = 12;

fn compiler() -> Compiler {
    let tokens = (0..=255u8).map(|byte| vec![byte]).chain(["name", "\": \"", "abc"].map(|text| text.into()));
    let end = TokenId::new(300);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(end, "<end>").eos([end]).build();
    Compiler::new(Arc::new(vocabulary.unwrap()))
}

fn compile(compiler: &Compiler, number: usize) -> CompiledGrammar {
    let schema = format!(
        r#"{{"type": "object", "properties": {{"name{number}": {{"type": "string", "maxLength": 40}},
            "list{number}": {{"type": "array", "items": {{"enum": ["a{number}", "b{number}", true]}}}}}}}}"#
    );
    compiler.compile(&parse(&Source::json_schema(schema)).unwrap().grammar).unwrap()
}

fn document(number: usize) -> String {
    format!(
        r#"{{"name{number}": "abc and {number} more", "list{number}": ["a{number}", true, "b{number}"]}}"#
    )
}

/// Returns the masks along the document of a grammar.
fn masks(compiled: &CompiledGrammar, number: usize) -> Vec<Vec<TokenId>> {
    let tokens = compiled.vocabulary().encode_greedy(document(number).as_bytes()).unwrap();
    let mut matcher = compiled.matcher();
    let masks = tokens.into_iter().map(|token| {
        let mask = matcher.mask().unwrap().iter().collect();
        matcher.accept_token(token).unwrap();
        mask
    });
    let masks = masks.collect();
    assert!(matcher.is_finished() || matcher.is_accepting());
    masks
}

#[test]
fn tables_of_grammars_used_longest_ago_are_dropped() {
    let roomy = MemoryBound::new(usize::MAX);
    let alone: Vec<CompiledGrammar> =
        (0..GRAMMARS).map(|number| compile(&compiler().within(&roomy), number)).collect();
    let expected: Vec<_> =
        alone.iter().enumerate().map(|(number, compiled)| masks(compiled, number)).collect();
    let each: Vec<usize> = alone.iter().map(|compiled| compiled.statistics().cache_bytes).collect();
    let (all, largest) = (each.iter().sum::<usize>(), *each.iter().max().unwrap());
    assert_eq!((roomy.used(), roomy.most()), (all, usize::MAX));
    assert!(alone.iter().all(|compiled| compiled.statistics().resets == 0));

    let bound = MemoryBound::new(all / 3);
    let grammars: Vec<CompiledGrammar> =
        (0..GRAMMARS).map(|number| compile(&compiler().within(&bound), number)).collect();
    for round in 0..3 {
        for (number, compiled) in grammars.iter().enumerate() {
            assert!(masks(compiled, number) == expected[number], "round {round}, grammar {number}");
            assert!(bound.used() <= bound.most() + largest, "{} of {}", bound.used(), bound.most());
            let used: usize = grammars.iter().map(|compiled| compiled.statistics().cache_bytes).sum();
            assert_eq!(bound.used(), used);
        }
    }
    let resets: u64 = grammars.iter().map(|compiled| compiled.statistics().resets).sum();
    assert!(resets >= 2 * GRAMMARS as u64, "{resets}");
    // the tables that were used last are kept
    let before = grammars[GRAMMARS - 1].statistics();
    masks(&grammars[GRAMMARS - 1], GRAMMARS - 1);
    assert_eq!(grammars[GRAMMARS - 1].statistics(), before);
    drop(grammars);
    assert_eq!(bound.used(), 0);
}

/// The tables of a grammar whose masks are all known are only read. They are kept while others grow.
#[test]
fn tables_that_sequences_only_read_are_not_dropped() {
    let all = MemoryBound::new(usize::MAX);
    let shared = compiler().within(&all);
    let compiled: Vec<CompiledGrammar> = (0..GRAMMARS).map(|number| compile(&shared, number)).collect();
    compiled.iter().enumerate().for_each(|(number, compiled)| drop(masks(compiled, number)));
    let bound = MemoryBound::new(all.used() / 3);
    let shared = compiler().within(&bound);
    let grammars: Vec<CompiledGrammar> = (0..GRAMMARS).map(|number| compile(&shared, number)).collect();
    masks(&grammars[0], 0);
    let warm = grammars[0].statistics();
    for _ in 0..4 {
        for (number, compiled) in grammars.iter().enumerate().skip(1) {
            masks(compiled, number);
            masks(&grammars[0], 0);
            assert_eq!(grammars[0].statistics(), warm);
        }
    }
    let resets: u64 = grammars.iter().map(|compiled| compiled.statistics().resets).sum();
    assert!(resets >= GRAMMARS as u64, "{resets}");
}

/// Threads use all grammars within a bound that is so small that tables are dropped all the time, even in the middle of
/// texts.
#[test]
fn threads_that_drop_each_others_tables_have_the_same_masks() {
    let expected: Vec<_> = (0..GRAMMARS).map(|number| masks(&compile(&compiler(), number), number)).collect();
    let bound = MemoryBound::new(1);
    let shared = compiler().within(&bound);
    let grammars: Vec<CompiledGrammar> = (0..GRAMMARS).map(|number| compile(&shared, number)).collect();
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let (grammars, expected) = (&grammars, &expected);
            scope.spawn(move || {
                for step in 0..2 * GRAMMARS {
                    let number = (thread * 5 + step * 7) % GRAMMARS;
                    assert!(masks(&grammars[number], number) == expected[number]);
                }
            });
        }
    });
    assert!(grammars.iter().map(|compiled| compiled.statistics().resets).sum::<u64>() > GRAMMARS as u64);
}

/// Warming up stops at the bound, and evicts no tables of other grammars.
#[test]
fn warming_up_stops_at_the_bound() {
    let bound = MemoryBound::new(1 << 18);
    let shared = compiler().within(&bound);
    let first = compile(&shared, 0);
    masks(&first, 0);
    let second = compile(&shared, 1);
    let budget = ExploreBudget::default().states(1 << 20).work(u64::MAX).bytes(usize::MAX);
    second.warm(budget).wait();
    assert_eq!(first.statistics().resets, 0);
    assert!(bound.used() < 2 * bound.most(), "{} of {}", bound.used(), bound.most());
}
