//! Memory, counted by the allocator: what is freed, what forks share, and whether reported sizes are correct.

use grammata::serve::GrammarCache;
use grammata::syntax::Source;
use grammata::vocabulary::{TokenId, Vocabulary, VocabularyBuilder};
use grammata::{Compiler, Matcher};
use grammata_agents::tools::{Document, ReadOptions, read};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the bytes allocated since the start of the region, less the bytes freed.
fn live(since: &Region<'_, System>) -> isize {
    let change = since.change();
    change.bytes_allocated as isize - change.bytes_deallocated as isize
}

fn vocabulary() -> Arc<Vocabulary> {
    let bytes = (0..=255u8).map(|byte| vec![byte]);
    let vocabulary = VocabularyBuilder::from_tokens(bytes).special(TokenId::new(256), "<end>");
    Arc::new(vocabulary.eos([TokenId::new(256)]).build().unwrap())
}

/// Computes a mask before each byte of a text, and accepts the byte.
fn walk(matcher: &mut Matcher, text: &str) {
    for byte in text.bytes() {
        matcher.mask().unwrap();
        matcher.accept_bytes(&[byte]).unwrap();
    }
}

fn source(number: usize) -> Source {
    Source::json_schema(format!(
        r#"{{"type":"object","properties":{{"p{number}":{{"type":"array","uniqueItems":true,"items":
            {{"type":["integer","string"]}}}}}},"additionalProperties":{{"enum":["v{number}",{number}]}}}}"#
    ))
}

fn text(number: usize) -> String {
    let items: Vec<String> = (0..100).map(|item| format!("{},\"{item}\"", item * 7 + number)).collect();
    format!(r#"{{"p{number}":[{}],"other":{number},"another":"v{number}"}}"#, items.join(","))
}

/// Compiles eight grammars and walks along a text of each. Returns the size in bytes that the cache reports.
fn round(cache: &GrammarCache, from: usize) -> usize {
    for number in from..from + 8 {
        let grammar = cache.get(&source(number)).unwrap();
        walk(&mut grammar.compiled.matcher(), &text(number));
    }
    cache.memory_usage()
}

// all checks are in one test, because the allocator would also count tests that run at the same time
#[test]
fn memory_is_given_back_and_shared_and_counted() {
    let compiler = Compiler::new(vocabulary());
    let cache = GrammarCache::new(compiler.clone(), usize::MAX);
    // data that is built once, such as the index of the vocabulary, exists after the first round
    round(&cache, 0);
    cache.clear();
    let region = Region::new(ALLOCATOR);
    let counted = round(&cache, 100);
    compiler.clear_cache();
    let used = live(&region);
    cache.clear();
    let left = live(&region);
    eprintln!("counted {counted}, used {used}, left after clearing {left}");
    assert!(counted > 1 << 20);
    assert!(left * 20 < used, "{left} of {used} bytes are left after clearing");
    let ratio = counted as f64 / used as f64;
    assert!((0.7..1.4).contains(&ratio), "{counted} bytes are counted, {used} are used");

    let compiled = cache.get(&Source::regex("[a-z]*")).unwrap();
    let mut matcher = compiled.compiled.matcher();
    (0..100_000).for_each(|_| matcher.accept_bytes(b"a").unwrap());
    let region = Region::new(ALLOCATOR);
    let mut forks: Vec<Matcher> = (0..100).map(|_| matcher.fork()).collect();
    forks.iter_mut().for_each(|fork| fork.accept_bytes(b"b").unwrap());
    let used = live(&region) / 100;
    eprintln!("a fork of 100,000 steps takes {used} bytes");
    assert!(used < 1 << 14, "a fork takes {used} bytes");

    sets_of_tools_take_little_more_than_their_text();
}

fn sets_of_tools_take_little_more_than_their_text() {
    let property = |name: &str| format!(r#""{name}":{{"type":"string","description":"The {name} of it."}}"#);
    let all = ["title", "author", "publisher", "language", "subject"].map(property).join(",");
    let tool = |at: usize| {
        format!(
            r#"{{"name":"tool_{at}","description":"The tool with the number {at}.","inputSchema":
                {{"type":"object","properties":{{"of_{at}":{{"type":"integer"}},{all}}},"required":["title"]}}}}"#
        )
    };
    let text = format!(r#"{{"tools":[{}]}}"#, (0..2_000).map(tool).collect::<Vec<_>>().join(","));
    let region = Region::new(ALLOCATOR);
    let set = read([Document { label: "all", text: &text }], &ReadOptions::default()).unwrap();
    let used = live(&region) as usize;
    assert_eq!(set.callable().count(), 2_000);
    let ratio = used as f64 / text.len() as f64;
    eprintln!("2,000 tools of {} bytes of text take {used} bytes", text.len());
    assert!(ratio < 2.0, "tools take {ratio:.1} times their text");
}
