//! Thoughts before an answer, and tool calls, on the tokenizers of Llama 3.1, Qwen 3 and o200k. At several places of a
//! text, each mask must equal what a reader of the text allows, token by token.
//!
//! `GRAMMATA_TOKENIZERS` is a folder with `llama3_1.json`, `qwen3.json` and `gpt4o.json`, which `cargo xtask full
//! tokenizers` fetches. If it is not set, these tests print a note and do nothing.

use grammata::syntax::gbnf;
use grammata::{CompiledGrammar, Compiler, TokenId, Vocabulary};
use std::path::PathBuf;
use std::sync::Arc;

const ANSWERS: [&str; 2] = ["{\"answer\": true}", "{\"answer\": false}"];
const CALLS: [&str; 2] = ["\n{\"name\": \"add\"}\n", "\n{\"name\": \"sub\"}\n"];
const RULES: &str = r#"answer ::= "{\"answer\": " ("true" | "false") "}"
call ::= "\n{\"name\": \"" ("add" | "sub") "\"}\n"
"#;

/// Loads the tokenizers with these names. Returns none, and prints a note, if `GRAMMATA_TOKENIZERS` is not set.
fn tokenizers(names: &[&'static str]) -> Vec<(&'static str, Arc<Vocabulary>)> {
    let Some(folder) = std::env::var_os("GRAMMATA_TOKENIZERS").map(PathBuf::from) else {
        eprintln!("not run: GRAMMATA_TOKENIZERS names no folder (cargo xtask full tokenizers)");
        return Vec::new();
    };
    let load = |name: &&'static str| {
        let path = folder.join(format!("{name}.json"));
        (*name, Arc::new(Vocabulary::from_file(&path, &Default::default()).unwrap()))
    };
    names.iter().map(load).collect()
}

fn compiled(vocabulary: &Arc<Vocabulary>, root: &str) -> CompiledGrammar {
    // one of the rules may be unused, which is only a warning
    let grammar = gbnf::compile(&format!("{root}\n{RULES}"), &gbnf::Options::default()).unwrap().grammar;
    Compiler::new(Arc::clone(vocabulary)).compile(&grammar).unwrap()
}

fn is_begin_of_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none())
}

fn find(text: &[u8], wanted: &str) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted.as_bytes())
}

/// Compares a mask with a function of the bytes of each token, and with a list of tokens that are allowed by id.
/// Returns the number of allowed tokens.
fn expect(
    vocabulary: &Vocabulary,
    at: &mut grammata::Matcher,
    place: &str,
    by_bytes: impl Fn(&[u8]) -> bool,
    by_id: &[TokenId],
) -> usize {
    let mask = at.mask().unwrap();
    let mut allowed = 0;
    for token in (0..vocabulary.width() as u32).map(TokenId::new) {
        let bytes = vocabulary.bytes(token).filter(|_| !vocabulary.is_eos(token));
        let expected = by_id.contains(&token) || bytes.is_some_and(&by_bytes);
        assert_eq!(mask.contains(token), expected, "{place}: {token:?} {bytes:?}");
        allowed += usize::from(expected);
    }
    assert_eq!(mask.len(), allowed);
    allowed
}

fn named(vocabulary: &Vocabulary, name: &str) -> TokenId {
    let ordinary =
        || vocabulary.tokens().find(|(_, bytes)| *bytes == name.as_bytes()).map(|(token, _)| token);
    vocabulary.special_id(name).or_else(ordinary).unwrap()
}

/// Returns whether a text may become a thought between tags, followed by one of the answers.
fn may_become_answer(text: &[u8]) -> bool {
    let Some(thought) = text.strip_prefix(b"<think>") else { return b"<think>".starts_with(text) };
    match find(thought, "</think>") {
        None => is_begin_of_text(thought),
        Some(end) => {
            let rest = &thought[end + "</think>".len()..];
            is_begin_of_text(&thought[..end])
                && ANSWERS.iter().any(|answer| answer.as_bytes().starts_with(rest))
        }
    }
}

/// Returns whether a text may become text with calls between tags, and whether it is such a text already.
fn calls(mut text: &[u8]) -> (bool, bool) {
    loop {
        let Some(begin) = find(text, "<tool_call>") else {
            return (is_begin_of_text(text), std::str::from_utf8(text).is_ok());
        };
        if std::str::from_utf8(&text[..begin]).is_err() {
            return (false, false);
        }
        let rest = &text[begin + "<tool_call>".len()..];
        let whole = CALLS.map(|call| format!("{call}</tool_call>"));
        match whole.iter().find(|call| rest.starts_with(call.as_bytes())) {
            Some(call) => text = &rest[call.len()..],
            None => return (whole.iter().any(|call| call.as_bytes().starts_with(rest)), false),
        }
    }
}

#[test]
fn thoughts_between_tags_that_are_text() {
    for (name, vocabulary) in tokenizers(&["llama3_1", "gpt4o", "qwen3"]) {
        let compiled = compiled(&vocabulary, "root ::= \"<think>\" @text(\"</think>\" answer)");
        let places = [
            "",
            "<think>",
            "<think>Is 2 < 3? </thin",
            "<think>\n</think>{\"ans",
            "<think></think>{\"answer\": false}",
        ];
        for text in places {
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(text.as_bytes()).unwrap();
            let ends = if text.ends_with('}') { vocabulary.eos() } else { &[] };
            let may = |bytes: &[u8]| may_become_answer(&[text.as_bytes(), bytes].concat());
            let allowed = expect(&vocabulary, &mut matcher, &format!("{name} {text:?}"), may, ends);
            assert_eq!(
                allowed > 100_000,
                text == "<think>" || text.ends_with("</thin"),
                "{name} {text:?}: {allowed}"
            );
        }
    }
}

#[test]
fn calls_between_tags_that_are_text() {
    for (name, vocabulary) in tokenizers(&["llama3_1", "gpt4o", "qwen3"]) {
        let root = "root ::= @text($, \"<tool_call>\" call \"</tool_call>\" root)";
        let compiled = compiled(&vocabulary, root);
        let call = format!("<tool_call>{}</tool_call>", CALLS[0]);
        let places =
            ["", "Let me <tool_", "<tool_call>", "<tool_call>\n{\"name\": \"s", &format!("é{call}<")];
        for text in places {
            let mut matcher = compiled.matcher();
            matcher.accept_bytes(text.as_bytes()).unwrap();
            let ends = if calls(text.as_bytes()).1 { vocabulary.eos() } else { &[] };
            let may = |bytes: &[u8]| calls(&[text.as_bytes(), bytes].concat()).0;
            expect(&vocabulary, &mut matcher, &format!("{name} {text:?}"), may, ends);
        }
    }
}

#[test]
fn thoughts_and_calls_between_tokens_of_qwen() {
    for (_, vocabulary) in tokenizers(&["qwen3"]) {
        let [think, after, call, called] =
            ["<think>", "</think>", "<tool_call>", "</tool_call>"].map(|name| named(&vocabulary, name));
        assert_eq!([think, after, call, called].map(TokenId::get), [151_667, 151_668, 151_657, 151_658]);
        let rests =
            |words: [&str; 2], read: &str| words.map(|word| word.strip_prefix(read).unwrap_or("").to_owned());
        let begins =
            |rests: &[String; 2], bytes: &[u8]| rests.iter().any(|rest| rest.as_bytes().starts_with(bytes));

        let root = "root ::= <think> @text($ </think> answer, ! \"</think>\")";
        let mut matcher = compiled(&vocabulary, root).matcher();
        expect(&vocabulary, &mut matcher, "start", |_| false, &[think]);
        matcher.accept_token(think).unwrap();
        let thought = |bytes: &[u8]| is_begin_of_text(bytes) && find(bytes, "</think>").is_none();
        expect(&vocabulary, &mut matcher, "thought", thought, &[after]);
        matcher.accept_bytes(b"Hm</").unwrap();
        expect(&vocabulary, &mut matcher, "in a tag", |bytes| thought(&[b"</", bytes].concat()), &[after]);
        matcher.accept_token(after).unwrap();
        expect(&vocabulary, &mut matcher, "answer", |bytes| begins(&rests(ANSWERS, ""), bytes), &[]);
        matcher.accept_bytes(b"{\"answer\": true}").unwrap();
        expect(&vocabulary, &mut matcher, "end", |_| false, vocabulary.eos());

        let root = "root ::= @text($, <tool_call> call </tool_call> root, ! \"<tool_call>\")";
        let mut matcher = compiled(&vocabulary, root).matcher();
        let ends: Vec<TokenId> = vocabulary.eos().iter().copied().chain([call]).collect();
        let text = |bytes: &[u8]| is_begin_of_text(bytes) && find(bytes, "<tool_call>").is_none();
        expect(&vocabulary, &mut matcher, "text", text, &ends);
        matcher.accept_bytes(b"Say <tool").unwrap();
        expect(&vocabulary, &mut matcher, "in a tag", |bytes| text(&[b"<tool", bytes].concat()), &ends);
        matcher.accept_token(call).unwrap();
        expect(&vocabulary, &mut matcher, "call", |bytes| begins(&rests(CALLS, ""), bytes), &[]);
        matcher.accept_bytes(b"\n{\"name\": \"s").unwrap();
        let rest = [String::new(), CALLS[1]["\n{\"name\": \"s".len()..].to_owned()];
        expect(&vocabulary, &mut matcher, "name", |bytes| !bytes.is_empty() && begins(&rest, bytes), &[]);
        matcher.accept_bytes(b"ub\"}\n").unwrap();
        expect(&vocabulary, &mut matcher, "after the call", |_| false, &[called]);
        matcher.accept_token(called).unwrap();
        expect(&vocabulary, &mut matcher, "text again", text, &ends);
    }
}
