//! Masks of a tree of 64 draft tokens: in one call, and with a fork for each node. `cargo bench --bench drafts`

use criterion::{Criterion, criterion_group, criterion_main};
use grammata::matcher::DraftTree;
use grammata::syntax::json_schema;
use grammata::{Compiler, Matcher, TokenId, Vocabulary};
use std::path::Path;
use std::sync::Arc;

const NODES: usize = 64;

const SCHEMA: &str = r#"{"type": "object", "required": ["name", "tags"], "additionalProperties": false, "properties":
    {"name": {"type": "string", "maxLength": 80}, "tags": {"type": "array", "items": {"enum": ["new", "next", "old"]}}}}"#;

/// Grows a random tree in which each node has up to three children, all of them allowed. Returns the arrays of
/// `DraftTree::new` (first children, next siblings, tokens), and the parent of each node.
fn grown(matcher: &Matcher) -> ([Vec<i64>; 3], Vec<usize>) {
    let (mut child, mut sibling, mut tokens) = (vec![-1; NODES], vec![-1; NODES], vec![0; NODES]);
    let (mut parents, mut forks) = (vec![0; NODES], vec![matcher.fork()]);
    let mut state = 29u64;
    for node in 1..NODES {
        let parent = (node - 1) / 3;
        let mask = forks[parent].mask().expect("a mask");
        let allowed: Vec<TokenId> = mask.iter().collect();
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let token = allowed[(state >> 33) as usize % allowed.len()];
        let mut fork = forks[parent].fork();
        fork.accept_token(token).expect("the mask allows it");
        forks.push(fork);
        tokens[node] = i64::from(token.get());
        sibling[node] = std::mem::replace(&mut child[parent], node as i64);
        parents[node] = parent;
    }
    ([child, sibling, tokens], parents)
}

fn drafts(criterion: &mut Criterion) {
    let tokenizer = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/smollm2/tokenizer.json");
    let vocabulary = Vocabulary::from_file(tokenizer, &Default::default()).expect("the vocabulary loads");
    let grammar = json_schema::compile(SCHEMA, &json_schema::Options::generation()).expect("a sound schema");
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar.grammar).expect("it compiles");
    let row_words = compiled.vocabulary().mask_words();
    let mut rows = vec![0u32; NODES * row_words];
    for prefix in [r#"{"name": "Ann"#, r#"{"name": "Ann", "tags": ["#] {
        let mut matcher = compiled.matcher();
        matcher.accept_bytes(prefix.as_bytes()).expect("a prefix");
        let ([child, sibling, tokens], parents) = grown(&matcher);
        let mut group = criterion.benchmark_group(format!("tree of {NODES} after {prefix}"));
        group.bench_function("one call", |bencher| {
            bencher.iter(|| {
                let tree = DraftTree::new(&child, &sibling, &tokens).expect("a tree");
                matcher.fill_tree_masks(&tree, &mut rows, row_words).expect("masks")
            });
        });
        group.bench_function("a fork a node", |bencher| {
            bencher.iter(|| {
                let mut forks: Vec<Matcher> = Vec::with_capacity(NODES);
                for (node, row) in rows.chunks_mut(row_words).enumerate() {
                    let mut fork = if node == 0 { matcher.fork() } else { forks[parents[node]].fork() };
                    if node > 0 {
                        fork.accept_token(TokenId::new(tokens[node] as u32)).expect("allowed");
                    }
                    fork.fill_mask(row).expect("a mask");
                    forks.push(fork);
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, drafts);
criterion_main!(benches);
