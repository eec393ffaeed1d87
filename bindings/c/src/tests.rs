//! Tests that C cannot express: panics, calls during another call, and the places of `unsafe`.

use crate::error::{GrammataError, grammata_error_free, grammata_error_text};
use crate::failure::GrammataStatus;
use crate::matcher::{GrammataMatcher, grammata_matcher_free, grammata_matcher_steps};
use crate::raw::{Call, Exclusive};
use engine::vocabulary::VocabularyBuilder;
use engine::{Compiler, syntax};
use std::ffi::CStr;
use std::ptr::null_mut;
use std::sync::Arc;

/// The files with functions for C.
const FILES: [(&str, &str); 15] = [
    ("archive", include_str!("archive.rs")),
    ("batch", include_str!("batch.rs")),
    ("cache", include_str!("cache.rs")),
    ("draft", include_str!("draft.rs")),
    ("error", include_str!("error.rs")),
    ("explanation", include_str!("explanation.rs")),
    ("failure", include_str!("failure.rs")),
    ("grammar", include_str!("grammar.rs")),
    ("llama", include_str!("llama.rs")),
    ("mask_file", include_str!("mask_file.rs")),
    ("matcher", include_str!("matcher.rs")),
    ("steps", include_str!("steps.rs")),
    ("token_index", include_str!("token_index.rs")),
    ("version", include_str!("version.rs")),
    ("vocabulary", include_str!("vocabulary.rs")),
];

#[test]
fn only_the_border_has_unsafe_code() {
    for (name, text) in FILES {
        for line in text.lines().filter(|line| line.contains("unsafe")) {
            let line = line.trim();
            let is_contract = line == "#[unsafe(no_mangle)]"
                || line.starts_with("pub unsafe extern \"C\" fn grammata_")
                || line == "let call = unsafe { Call::new() };";
            assert!(is_contract, "{name}.rs: {line}");
        }
    }
}

#[test]
fn each_function_is_called_from_c() {
    let programs = concat!(
        include_str!("../tests/grammars.c"),
        include_str!("../tests/matchers.c"),
        include_str!("../tests/mask_files.c"),
        include_str!("../tests/threads.c"),
        include_str!("../tests/llama.c"),
        include_str!("../examples/decoder.c"),
        include_str!("../examples/decoder.cpp")
    );
    let mut count = 0;
    for (_, text) in FILES {
        for declared in text.split("extern \"C\" fn ").skip(1) {
            let name = declared.split('(').next().unwrap();
            assert!(
                programs.contains(&format!("{name}(")) || programs.contains(&format!("{name},")),
                "{name}"
            );
            count += 1;
        }
    }
    assert!(count > 60, "{count}");
}

/// The page's examples print JSON, except for errors.
#[test]
fn what_the_page_shows_is_json() {
    let page = include_str!("../../../docs/c.md");
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let lines = blocks.flat_map(str::lines).filter(|line| line.starts_with(['{', '[']));
    let values: Vec<serde_json::Value> = lines.map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(values.len() >= 6, "{values:?}");
}

/// The code on the page is taken from the examples.
#[test]
fn the_page_has_the_code_of_the_examples() {
    let page = include_str!("../../../docs/c.md");
    let without_indent =
        |text: &str| -> String { text.lines().map(|line| format!("{}\n", line.trim_start())).collect() };
    let examples = [
        include_str!("../examples/decoder.c"),
        include_str!("../examples/decoder.cpp"),
        include_str!("../examples/CMakeLists.txt"),
    ]
    .map(without_indent)
    .concat();
    let mut count = 0;
    for language in ["```c\n", "```cpp\n", "```cmake\n"] {
        for block in page.split(language).skip(1).filter_map(|rest| rest.split("```").next()) {
            assert!(examples.contains(&without_indent(block)), "no example has this code:\n{block}");
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}

fn matcher() -> *mut GrammataMatcher {
    let vocabulary = VocabularyBuilder::from_tokens(["a"]).build().unwrap();
    let grammar = syntax::regex::compile("a*", &syntax::regex::Options::default()).unwrap();
    let compiled = Compiler::new(Arc::new(vocabulary)).compile(&grammar).unwrap();
    Box::into_raw(Box::new(GrammataMatcher::new(compiled.matcher())))
}

/// The text of an error, which is freed.
#[allow(unsafe_code)]
fn take(error: *mut GrammataError) -> String {
    // SAFETY: a call has made it
    unsafe {
        let text = CStr::from_ptr(grammata_error_text(error)).to_str().unwrap().to_owned();
        grammata_error_free(error);
        text
    }
}

#[test]
#[allow(unsafe_code)]
fn a_matcher_in_use_is_refused() {
    let handle = matcher();
    let (mut steps, mut error) = (7, null_mut());
    // SAFETY: the pointers are those of this function's variables, and the handle is freed once
    unsafe {
        let call = Call::new();
        let using = GrammataMatcher::acquire(&call, handle).ok().unwrap();
        assert_eq!(grammata_matcher_steps(handle, &mut steps, &mut error), GrammataStatus::Busy);
        assert_eq!(steps, 7);
        assert!(take(error).starts_with("error[c/busy] "));
        assert_eq!(grammata_matcher_free(handle), GrammataStatus::Busy);
        drop(using);
        assert_eq!(grammata_matcher_steps(handle, &mut steps, &mut error), GrammataStatus::Ok);
        assert_eq!((steps, error), (0, null_mut()));
        assert_eq!(grammata_matcher_free(handle), GrammataStatus::Ok);
    }
}

#[test]
#[allow(unsafe_code)]
fn a_panic_does_not_cross_the_border() {
    let handle = matcher();
    let (mut steps, mut error) = (7, null_mut());
    // SAFETY: the pointers are those of this function's variables, and the handle is freed once
    unsafe {
        let call = Call::new();
        let status = call.run(&mut error, || {
            let _using = GrammataMatcher::acquire(&call, handle)?;
            panic!("out of order");
        });
        assert_eq!(status, GrammataStatus::Panic);
        assert!(take(error).contains("cause: out of order"));
        // a value left by a panic is not used
        assert_eq!(grammata_matcher_steps(handle, &mut steps, &mut error), GrammataStatus::Panic);
        assert!(take(error).starts_with("error[c/broken] "));
        assert_eq!(grammata_matcher_free(handle), GrammataStatus::Ok);
    }
}

/// Threads take turns; no update is lost.
#[test]
fn one_call_at_a_time_uses_a_value() {
    let value = Exclusive::new(0u32);
    let done: u32 = std::thread::scope(|scope| {
        let count = || (0..1000).filter(|_| value.acquire().is_ok_and(|mut value| bump(&mut value))).count();
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap() as u32).sum()
    });
    assert_eq!(*value.acquire().ok().unwrap(), done);
    assert!(done > 0);
}

fn bump(value: &mut u32) -> bool {
    *value += 1;
    true
}
