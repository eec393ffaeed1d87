//! The functions as C calls them, and the places of `unsafe`.

use crate::abi::{LlgConstraintInit, LlgParserLimits, LlgTokenizerInit};
use crate::matcher::*;
use crate::tokenizer::*;
use std::ffi::{CStr, CString, c_char};
use std::mem::{offset_of, size_of};
use std::ptr::{null, null_mut};

/// The files with functions for C.
const FILES: [(&str, &str); 2] =
    [("tokenizer", include_str!("tokenizer.rs")), ("matcher", include_str!("matcher.rs"))];

const HEADER: &str = include_str!("../include/llguidance.h");

#[test]
fn only_the_border_has_unsafe_code() {
    for (name, text) in FILES {
        for line in text.lines().filter(|line| line.contains("unsafe")) {
            let line = line.trim();
            let is_contract = line == "#[unsafe(no_mangle)]"
                || line.starts_with("pub unsafe extern \"C\" fn llg_")
                || line == "let call = unsafe { Call::new() };"
                || line.starts_with("unsafe { Call::new() }.free(");
            assert!(is_contract, "{name}.rs: {line}");
        }
    }
}

#[test]
fn the_header_declares_each_function() {
    let names = |text: &str| -> Vec<String> {
        let names = text.split("extern \"C\" fn ").skip(1);
        names.map(|rest| rest.split('(').next().unwrap_or_default().to_owned()).collect()
    };
    let all: Vec<String> = FILES.iter().flat_map(|(_, text)| names(text)).collect();
    assert_eq!(all.len(), 13);
    for name in all {
        assert_eq!(HEADER.matches(&format!("{name}(")).count(), 1, "{name}");
    }
}

/// The layouts that programs were compiled with.
#[test]
#[cfg(target_pointer_width = "64")]
fn structs_are_laid_out_as_llguidance_has_them() {
    assert_eq!((size_of::<LlgParserLimits>(), offset_of!(LlgParserLimits, verbose_errors)), (56, 49));
    assert_eq!((size_of::<LlgConstraintInit>(), offset_of!(LlgConstraintInit, limits)), (80, 24));
    assert_eq!(offset_of!(LlgConstraintInit, backtrack_ok), 17);
    assert_eq!((size_of::<LlgTokenizerInit>(), offset_of!(LlgTokenizerInit, tokenize_fn)), (72, 40));
    assert_eq!(offset_of!(LlgTokenizerInit, slices), 64);
}

/// A tokenizer with these tokens, whose last one ends texts.
fn init(lengths: &[u32], bytes: &[u8]) -> LlgTokenizerInit {
    LlgTokenizerInit {
        vocab_size: lengths.len() as u32,
        tok_eos: lengths.len() as u32 - 1,
        token_lens: lengths.as_ptr(),
        token_bytes: bytes.as_ptr(),
        tokenizer_json: null(),
        tokenize_assumes_string: true,
        tokenize_fn: None,
        use_approximate_greedy_tokenize_fn: false,
        tokenize_user_data: null(),
        slices: null(),
    }
}

const END: u32 = 257;
const TOOL: u32 = 256;

/// A tokenizer with all bytes, and the special tokens `<tool>` and `<end>`.
#[allow(unsafe_code)]
fn tokenizer() -> *mut LlgTokenizer {
    let mut lengths = vec![1; 256];
    lengths.extend([7, 6]);
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend(b"\xFF<tool>\xFF<end>");
    let init = init(&lengths, &bytes);
    // SAFETY: the pointers lead to the vectors, whose lengths are those in the struct
    let tokenizer = unsafe { llg_new_tokenizer(&init, null_mut(), 0) };
    assert!(!tokenizer.is_null());
    tokenizer
}

/// A matcher that frees itself.
struct Held(*mut LlgMatcher);

#[allow(unsafe_code)]
impl Held {
    fn new(kind: &str, data: &str) -> Held {
        let (kind, data) = (CString::new(kind).unwrap(), CString::new(data).unwrap());
        let tokenizer = tokenizer();
        // SAFETY: the pointers are those of this function's variables; the tokenizer is freed once
        unsafe {
            let mut init = std::mem::MaybeUninit::<LlgConstraintInit>::zeroed().assume_init();
            llg_constraint_init_set_defaults(&mut init, tokenizer);
            assert_eq!(init.log_stderr_level, 1);
            init.log_stderr_level = 0;
            let held = Held(llg_new_matcher(&init, kind.as_ptr(), data.as_ptr()));
            llg_free_tokenizer(tokenizer);
            held
        }
    }

    fn error(&self) -> Option<String> {
        // SAFETY: the handle is not freed; the text lives as long as it
        unsafe {
            let error = llg_matcher_get_error(self.0);
            (!error.is_null()).then(|| CStr::from_ptr(error).to_str().unwrap().to_owned())
        }
    }

    fn take(&self, token: u32) -> bool {
        // SAFETY: the handle is not freed
        unsafe { llg_matcher_consume_token(self.0, token) == 0 }
    }

    fn text(&self, text: &str) -> bool {
        text.bytes().all(|byte| self.allows(byte.into()) && self.take(byte.into()))
    }

    fn allowed(&self) -> Vec<u32> {
        // SAFETY: the handle is not freed, and its mask has as many bytes as it says
        unsafe {
            if llg_matcher_get_mask(self.0).is_null() && llg_matcher_compute_mask(self.0) != 0 {
                return Vec::new();
            }
            let words = llg_matcher_get_mask_byte_size(self.0) / 4;
            assert_eq!(words, 9);
            let mask = std::slice::from_raw_parts(llg_matcher_get_mask(self.0), words);
            (0..=END).filter(|&id| mask[id as usize / 32] >> (id % 32) & 1 == 1).collect()
        }
    }

    fn allows(&self, token: u32) -> bool {
        self.allowed().contains(&token)
    }

    fn reset(&self) -> bool {
        // SAFETY: the handle is not freed
        unsafe { llg_matcher_reset(self.0) == 0 }
    }
}

impl Drop for Held {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: this is the one place that frees it
        unsafe { llg_free_matcher(self.0) };
    }
}

#[test]
fn each_kind_has_its_words() {
    for (kind, data, word, other) in [
        ("lark", "start: \"a\" /[bc]/", "ab", "ad"),
        ("lark", "%llguidance {}\nstart: %json {\"type\": \"integer\", \"minimum\": 5}", "7", "4"),
        ("json_schema", r#"{"enum": ["a"]}"#, "\"a\"", "\"b\""),
        ("json", r#"{"type": "boolean"}"#, "true", "yes"),
        ("json_object", "", "{}", "[]"),
        ("regex", "a+b", "aab", "ba"),
    ] {
        let matcher = Held::new(kind, data);
        assert_eq!(matcher.error(), None, "{kind}");
        assert!(matcher.text(word) && matcher.allows(END), "{kind}");
        assert!(matcher.reset(), "{kind}");
        assert!(!(matcher.text(other) && matcher.allows(END)), "{kind}");
    }
}

#[test]
fn special_tokens_come_by_name_and_end_tokens_at_the_end() {
    let matcher = Held::new("lark", "start: \"a\" <tool> \"b\"?");
    assert_eq!(matcher.allowed(), [97]);
    assert!(matcher.take(97));
    assert_eq!(matcher.allowed(), [TOOL]);
    assert!(matcher.take(TOOL));
    assert_eq!(matcher.allowed(), [98, END]);
    assert!(matcher.take(END));
    // after the end only the end token is allowed, and it changes nothing
    assert_eq!(matcher.allowed(), [END]);
    assert!(matcher.take(END));
    assert!(!matcher.take(97));
    assert!(matcher.error().unwrap().starts_with("error[llg/ended]"));
}

#[test]
fn errors_stay() {
    let matcher = Held::new("regex", "ab");
    assert!(!matcher.take(98));
    let error = matcher.error().unwrap();
    assert!(error.starts_with("error[matcher/"), "{error}");
    assert!(!matcher.take(97) && !matcher.reset() && matcher.allowed().is_empty());
    assert_eq!(matcher.error(), Some(error));
    let matcher = Held::new("regex", "ab");
    assert!(!matcher.take(1_000_000));
    assert!(matcher.error().unwrap().starts_with("error[llg/token-range]"));
}

#[test]
fn what_cannot_be_read_is_a_message() {
    for (kind, data, code) in [
        ("lark", "start: undefined", "lark/"),
        ("json", "{", "json-schema/"),
        ("regex", "(", "regex/"),
        ("llguidance", "{}", "llg/kind"),
        ("json", r#"{"$ref": "https://example.org/a"}"#, "json-schema/"),
    ] {
        let matcher = Held::new(kind, data);
        let error = matcher.error().unwrap_or_default();
        assert!(error.starts_with(&format!("error[{code}")), "{kind}: {error}");
        assert!(matcher.allowed().is_empty());
    }
}

#[test]
#[allow(unsafe_code)]
fn clones_go_their_own_way() {
    let matcher = Held::new("regex", "a[bc]d");
    assert!(matcher.text("a"));
    // SAFETY: the handle is not freed
    let copy = Held(unsafe { llg_clone_matcher(matcher.0) });
    assert!(matcher.text("bd") && copy.text("cd"));
    assert!(!copy.take(97));
    assert_eq!(matcher.error(), None);
    // SAFETY: the handle is not freed
    let failed = Held(unsafe { llg_clone_matcher(copy.0) });
    assert_eq!(failed.error(), copy.error());
}

/// The error message for a tokenizer that cannot be made, written to a buffer of `capacity` bytes.
#[allow(unsafe_code)]
fn refused(init: *const LlgTokenizerInit, capacity: usize) -> String {
    let mut buffer: Vec<c_char> = vec![1; capacity + 1];
    // SAFETY: the buffer has `capacity` bytes; lists shorter than declared are rejected before they are read
    unsafe {
        assert!(llg_new_tokenizer(init, buffer.as_mut_ptr(), capacity).is_null());
        assert_eq!(buffer[capacity], 1, "written behind the buffer");
        CStr::from_ptr(buffer.as_ptr()).to_str().unwrap().to_owned()
    }
}

#[test]
fn tokenizers_that_lie_are_refused() {
    let good = init(&[1, 1], b"ab");
    assert!(refused(null(), 200).starts_with("error[llg/null] `tok_init`"));
    assert!(refused(&LlgTokenizerInit { token_lens: null(), ..good }, 200).contains("`token_lens`"));
    assert!(refused(&LlgTokenizerInit { token_bytes: null(), ..good }, 200).contains("`token_bytes`"));
    assert!(refused(&LlgTokenizerInit { tok_eos: 2, ..good }, 200).starts_with("error[llg/token-range]"));
    assert!(
        refused(&LlgTokenizerInit { vocab_size: 0, tok_eos: u32::MAX, ..good }, 200).starts_with("error[")
    );
    let crooked = good.token_lens.cast::<u8>().wrapping_add(1).cast();
    assert!(refused(&LlgTokenizerInit { token_lens: crooked, ..good }, 200).contains("misaligned"));
    let broken = CString::new("{").unwrap();
    assert!(
        refused(&LlgTokenizerInit { tokenizer_json: broken.as_ptr(), ..good }, 200).starts_with("error[")
    );
    // a message is truncated to its buffer
    assert_eq!(refused(null(), 10), "error[llg");
    assert_eq!(refused(null(), 1), "");
}

#[test]
fn special_tokens_may_share_a_name_or_have_none() {
    let (lengths, bytes) = ([1, 2, 2, 1, 0, 2], b"a\xFFx\xFFx\xFF\xFF.");
    let init = init(&lengths, bytes);
    #[allow(unsafe_code)]
    // SAFETY: the lists are as long as the struct says
    unsafe {
        let tokenizer = llg_new_tokenizer(&init, null_mut(), 0);
        assert!(!tokenizer.is_null());
        llg_free_tokenizer(tokenizer);
    }
}

#[test]
#[allow(unsafe_code)]
fn null_is_an_error_like_any_other() {
    // SAFETY: NULL is checked
    unsafe {
        llg_constraint_init_set_defaults(null_mut(), null());
        assert!(llg_clone_tokenizer(null()).is_null());
        llg_free_tokenizer(null_mut());
        assert!(llg_clone_matcher(null()).is_null());
        llg_free_matcher(null_mut());
        assert_eq!(llg_matcher_consume_token(null_mut(), 0), -1);
        assert_eq!(llg_matcher_compute_mask(null_mut()), -1);
        assert_eq!(llg_matcher_reset(null_mut()), -1);
        assert!(llg_matcher_get_mask(null_mut()).is_null());
        assert_eq!(llg_matcher_get_mask_byte_size(null()), 0);
        assert!(CStr::from_ptr(llg_matcher_get_error(null_mut())).to_str().unwrap().contains("NULL"));
        let matcher = Held(llg_new_matcher(null(), c"lark".as_ptr(), c"start: \"a\"".as_ptr()));
        assert!(matcher.error().unwrap().starts_with("error[llg/null] `init`"));
        let mut init = std::mem::MaybeUninit::<LlgConstraintInit>::zeroed().assume_init();
        llg_constraint_init_set_defaults(&mut init, null());
        let matcher = Held(llg_new_matcher(&init, c"lark".as_ptr(), c"start: \"a\"".as_ptr()));
        assert!(matcher.error().unwrap().starts_with("error[llg/null] `tokenizer`"));
        let tokenizer = tokenizer();
        llg_constraint_init_set_defaults(&mut init, tokenizer);
        for (kind, data) in
            [(null(), c"a".as_ptr()), (c"regex".as_ptr(), null()), (c"regex".as_ptr(), c"\xFF".as_ptr())]
        {
            let matcher = Held(llg_new_matcher(&init, kind, data));
            assert!(matcher.error().unwrap().starts_with("error[llg/"));
        }
        llg_free_tokenizer(tokenizer);
    }
}

/// Threads that share a matcher take turns; each token is accepted once.
#[test]
#[allow(unsafe_code)]
fn calls_of_several_threads_wait_for_each_other() {
    let matcher = Held::new("regex", "a{400}");
    let address = matcher.0 as usize;
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(move || {
                for _ in 0..100 {
                    // SAFETY: the handle is not freed before the scope ends
                    unsafe {
                        let handle = address as *mut LlgMatcher;
                        assert_eq!(llg_matcher_compute_mask(handle), 0);
                        assert_eq!(llg_matcher_consume_token(handle, 97), 0);
                    }
                }
            });
        }
    });
    assert_eq!(matcher.allowed(), [END]);
}
