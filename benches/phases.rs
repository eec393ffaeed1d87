//! The cost of a grammar by phases: the vocabulary, then reading, lowering, first masks, and the same masks again.
//! `cargo bench --bench phases`

mod support;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use grammata::automaton::Automaton;
use grammata::syntax::parse;
use grammata::{Compiler, Limits, Vocabulary};
use std::path::Path;
use std::sync::Arc;
use support::{shipped, walk};

fn phases(criterion: &mut Criterion) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tokenizer = here.join("tests/data/smollm2/tokenizer.json");
    let load = || Vocabulary::from_file(&tokenizer, &Default::default()).expect("the vocabulary loads");
    criterion.bench_function("vocabulary", |bencher| bencher.iter(load));
    let vocabulary = Arc::new(load());
    let compiler = Compiler::new(Arc::clone(&vocabulary));
    let mut words = vec![0; vocabulary.mask_words()];
    for grammar in shipped(&here.join("grammars")).expect("the grammars are there") {
        let mut group = criterion.benchmark_group(&grammar.name);
        let read = || parse(&grammar.source).expect("a shipped grammar is sound").grammar;
        group.bench_function("read", |bencher| bencher.iter(read));
        let ir = read();
        group.bench_function("lower", |bencher| bencher.iter(|| Automaton::new(&ir, &Limits::default())));
        let compile = || compiler.compile(&ir).expect("a shipped grammar compiles");
        group.bench_function("first mask", |bencher| {
            bencher.iter_batched(compile, |compiled| compiled.matcher().mask(), BatchSize::SmallInput);
        });
        let mut all = |compiled: &grammata::CompiledGrammar| {
            for example in &grammar.examples {
                walk(compiled, example, &mut words, |matcher, words| matcher.fill_mask(words))
                    .expect("masks");
            }
        };
        group.bench_function("examples, first time", |bencher| {
            bencher.iter_batched_ref(compile, |compiled| all(compiled), BatchSize::SmallInput);
        });
        let compiled = compile();
        group.bench_function("examples again", |bencher| bencher.iter(|| all(&compiled)));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = phases
}
criterion_main!(benches);
