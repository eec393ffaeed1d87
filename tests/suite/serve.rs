//! Serving: the cache of grammars, batches, and threads that share a grammar.

use grammata::serve::{GrammarCache, RowRequest, accept_tokens, fill_masks, fill_rows};
use grammata::syntax::json_schema::{self, PropertyOrder};
use grammata::syntax::{Notation, Source, parse};
use grammata::vocabulary::{LoadOptions, TokenId, VocabularyBuilder};
use grammata::{Compiler, Limits, Matcher, Vocabulary};
use std::sync::{Arc, Barrier};

fn letters() -> Compiler {
    let tokens = (b'a'..=b'z').map(|letter| vec![letter]);
    let vocabulary = VocabularyBuilder::from_tokens(tokens).special(TokenId::new(26), "<end>");
    Compiler::new(Arc::new(vocabulary.eos([TokenId::new(26)]).build().unwrap()))
}

fn real() -> Arc<Vocabulary> {
    Arc::new(Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default()).unwrap())
}

#[test]
fn equal_sources_share_a_grammar_and_others_do_not() {
    let cache = GrammarCache::new(letters(), 1 << 30);
    let schema = r#"{"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}"#;
    let any = json_schema::Options::default().property_order(PropertyOrder::Any);
    let sources = [
        Source::json_schema(schema),
        Source::JsonSchema(schema.to_owned(), any),
        Source::regex("root"),
        Source::gbnf("root ::= \"a\""),
        Source::spec("kind = \"cfg\"\nsymbols = [\"a\"]\nstart = \"s\"\n[rules]\ns = [\"a\"]\n"),
    ];
    let first: Vec<_> = sources.iter().map(|source| cache.get(source).unwrap()).collect();
    for (n, source) in sources.iter().enumerate() {
        for (m, grammar) in first.iter().enumerate() {
            assert_eq!(Arc::ptr_eq(grammar, &cache.get(source).unwrap()), n == m, "{source:?}");
        }
    }
    assert_eq!(cache.len(), sources.len());
    let (count, counts) = (sources.len(), cache.statistics());
    assert_eq!((counts.misses, counts.hits), (count as u64, (count * count) as u64));
    assert_eq!((counts.grammars, counts.evictions), (count, 0));
    assert_eq!(counts.bytes, cache.memory_usage());
    cache.clear();
    assert!(cache.is_empty() && cache.memory_usage() == 0);
    // counts stay, sizes do not
    assert_eq!((cache.statistics().misses, cache.statistics().bytes), (counts.misses, 0));
}

#[test]
fn errors_are_given_and_not_kept() {
    let cache = GrammarCache::new(letters(), 1 << 30);
    let error = cache.get(&Source::regex("a{")).unwrap_err();
    assert!(error.diagnostic().code().starts_with("regex/"), "{error}");
    assert!(cache.is_empty());
}

#[test]
fn the_least_recently_used_go_first_and_their_sequences_go_on() {
    let cache = GrammarCache::new(letters(), 1 << 30);
    let one = cache.get(&Source::regex("[a-m]{1,9}")).unwrap();
    let mut matcher = one.compiled.matcher();
    let size = cache.memory_usage();
    assert!(size > 0);

    let cache = GrammarCache::new(letters(), size * 4);
    let grammar = |n: usize| Source::regex(format!("[a-m]{{1,9}}x{{{n}}}"));
    for n in 1..40 {
        cache.get(&grammar(0)).unwrap();
        cache.get(&grammar(n)).unwrap();
        assert!(cache.memory_usage() <= size * 4);
    }
    assert!((1..=4).contains(&cache.len()), "{}", cache.len());
    let counts = cache.statistics();
    assert_eq!(counts.misses - counts.evictions, counts.grammars as u64);
    assert_eq!((counts.misses, counts.hits), (40, 38));
    let kept = cache.get(&grammar(0)).unwrap();
    // tables that grow after a grammar was cached count, too
    let before = cache.memory_usage();
    let mut growing = kept.compiled.matcher();
    for _ in 0..9 {
        growing.mask().unwrap();
        growing.accept_bytes(b"a").unwrap();
    }
    assert!(cache.memory_usage() > before);
    cache.clear();
    assert!(growing.is_finished());
    matcher.accept_bytes(b"abc").unwrap();

    let tiny = GrammarCache::new(letters(), 1);
    tiny.get(&grammar(3)).unwrap().compiled.matcher().accept_bytes(b"axxx").unwrap();
    assert!(tiny.is_empty());
}

#[test]
fn threads_that_ask_at_once_get_one_compilation() {
    let cache = GrammarCache::new(letters(), 1 << 30);
    let barrier = Barrier::new(8);
    let ask = || {
        barrier.wait();
        (0..50).map(|n| cache.get(&Source::regex(format!("a{{{}}}", n % 5 + 1))).unwrap()).collect::<Vec<_>>()
    };
    let all: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for thread in &all {
        assert!(thread.iter().zip(&all[0]).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
    assert_eq!(cache.len(), 5);
}

const SCHEMA: &str = r#"{"type": "object", "properties": {
    "name": {"type": "string", "maxLength": 12}, "tags": {"type": "array", "items": {"enum": ["x", "yy"]}},
    "size": {"type": "number"}}, "required": ["name", "tags"], "additionalProperties": false}"#;

/// Returns an end token if one is allowed, otherwise the first allowed token at or after `from`, continuing at 0.
fn pick(row: &[u32], vocabulary: &Vocabulary, from: usize) -> TokenId {
    let allowed = |id: usize| row[id / 32] >> (id % 32) & 1 == 1;
    let eos = vocabulary.eos().iter().map(|token| token.index()).find(|&id| allowed(id));
    let width = vocabulary.width();
    let id = eos.or_else(|| (0..width).map(|n| (n + from) % width).find(|&id| allowed(id)));
    TokenId::new(id.expect("there is no dead end") as u32)
}

#[test]
fn a_batch_gives_what_single_matchers_give() {
    let vocabulary = real();
    let cache = GrammarCache::new(Compiler::new(Arc::clone(&vocabulary)), 1 << 30);
    let grammars = [Source::json_schema(SCHEMA), Source::regex("[a-z]{2,30}(, [a-z]{2,30}){3}")];
    let compiled = grammars.map(|source| cache.get(&source).unwrap().compiled.clone());
    let mut batch: Vec<Matcher> = (0..64).map(|n| compiled[n % 2].matcher()).collect();
    let alone = grammars_alone(&vocabulary);
    let mut single: Vec<Matcher> = (0..64).map(|n| alone[n % 2].matcher()).collect();
    let width = vocabulary.mask_words() + 3;
    let mut rows = vec![u32::MAX; width * batch.len()];
    let mut row = vec![0; width];
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for step in 0..25 {
        let filled = pool.install(|| fill_masks(&mut batch, &mut rows, width));
        assert!(filled.iter().all(Result::is_ok) && filled.len() == 64);
        let mut tokens = Vec::new();
        for (n, matcher) in single.iter_mut().enumerate() {
            matcher.with_mask(|mask| mask.write_to(&mut row)).unwrap().unwrap();
            assert_eq!(row, rows[n * width..(n + 1) * width], "matcher {n}, step {step}");
            tokens.push(match matcher.is_finished() {
                true => vocabulary.eos()[0],
                false => pick(&row, &vocabulary, n * 701 + step * 37),
            });
        }
        let together = pool.install(|| accept_tokens(&mut batch, &tokens));
        for ((matcher, token), result) in single.iter_mut().zip(&tokens).zip(together) {
            assert_eq!(matcher.accept_token(*token), result);
        }
    }
}

#[test]
fn notations_are_told_by_files() {
    let told = |file: &str, text: &str| Notation::of_file(std::path::Path::new(file), text);
    for notation in Notation::ALL {
        for file in notation.folder_files() {
            let extension = file.rsplit('.').next().unwrap();
            assert!(notation.extensions().contains(&extension), "{file}");
            let text = match notation {
                Notation::Spec => r#"{"kind": "cfg"}"#,
                Notation::StructuralTag => r#"{"type": "structural_tag"}"#,
                _ => "{}",
            };
            assert_eq!(told(file, text), Some(notation), "{file}");
        }
        assert_eq!(Source::new(notation, "x").notation(), notation);
    }
    assert_eq!(told("a.json", r#"{"kind": "x", "$schema": "y"}"#), Some(Notation::JsonSchema));
    assert_eq!(told("a.json", r#"{"structures": [], "triggers": []}"#), Some(Notation::StructuralTag));
    assert_eq!(told("a.json", r#"{"title": "structural_tag"}"#), Some(Notation::JsonSchema));
    assert_eq!(told("a.json", r#"[{"kind": "cfg"}]"#), Some(Notation::JsonSchema));
    assert_eq!(told("a.json", "[parameters]\n"), Some(Notation::Spec));
    assert_eq!(told("a.txt", ""), None);
    assert_eq!(told("json", ""), None);
    assert_eq!(Notation::Regex.in_file("a\r\n\r\n"), "a\r\n");
    assert_eq!(Notation::Gbnf.in_file("a\n"), "a\n");
}

#[test]
fn notations_are_told_by_texts() {
    let cases = [
        (r#"{"type": "string"}"#, Some(Notation::JsonSchema)),
        (" {\"type\": \"string\"", Some(Notation::JsonSchema)),
        (r#"{"type": "structural_tag"}"#, Some(Notation::StructuralTag)),
        (r#"{"kind": "cfg"}"#, Some(Notation::Spec)),
        ("# a comment\nroot ::= [a-z]\n", Some(Notation::Gbnf)),
        ("root::=\"a\"", Some(Notation::Gbnf)),
        ("// a comment\n?start: \"a\"\n", Some(Notation::Lark)),
        ("# a comment\nkind = \"dfa\"\n", Some(Notation::Spec)),
        ("(ab|c){1,3}", Some(Notation::Regex)),
        ("a::=b", Some(Notation::Gbnf)),
        ("\"yes\"\n", Some(Notation::Regex)),
        ("starting: .*", Some(Notation::Regex)),
        ("kinds = .", Some(Notation::Regex)),
        ("a\nb", None),
        ("rule: \"a\"\nother: \"b\"\n", None),
        ("true", None),
        (" false\n", None),
        ("\n", None),
        ("", None),
    ];
    for (text, notation) in cases {
        assert_eq!(Notation::of_text(text), notation, "{text:?}");
    }
    // and the grammars that come with the project, each as its file is told
    let mut files = 0;
    for folder in std::fs::read_dir("grammars").unwrap().map(|entry| entry.unwrap().path()) {
        for notation in Notation::ALL {
            for file in notation.folder_files().iter().map(|name| folder.join(name)) {
                let Ok(text) = std::fs::read_to_string(&file) else { continue };
                assert_eq!(Notation::of_text(&text), Notation::of_file(&file, &text), "{file:?}");
                files += 1;
            }
        }
    }
    assert!(files >= 12, "{files}");
}

fn grammars_alone(vocabulary: &Arc<Vocabulary>) -> [grammata::CompiledGrammar; 2] {
    [Source::json_schema(SCHEMA), Source::regex("[a-z]{2,30}(, [a-z]{2,30}){3}")].map(|source| {
        Compiler::new(Arc::clone(vocabulary)).compile(&parse(&source).unwrap().grammar).unwrap()
    })
}

/// The row of a failed mask allows nothing. With an earlier mask in it, a server would continue decoding as if nothing
/// had happened.
#[test]
fn the_row_of_a_failure_allows_nothing() {
    let compiler = letters().limits(Limits::default().mask_work(0));
    let grammar = compiler.compile(&parse(&Source::regex("(a|b)*a(a|b){8}")).unwrap().grammar).unwrap();
    let mut batch: Vec<Matcher> = (0..9).map(|_| grammar.matcher()).collect();
    let mut rows = [u32::MAX; 19];
    let filled = fill_masks(&mut batch, &mut rows, 2);
    assert!(filled.iter().all(|result| result.as_ref().is_err_and(|error| error.code() == "limit/exceeded")));
    assert_eq!((&rows[..18], rows[18]), (&[0; 18][..], u32::MAX));
    assert!(batch[0].fill_mask(&mut rows[17..]).is_err());
    assert_eq!(rows[18], 0);
}

#[test]
fn one_failure_does_not_stop_the_batch() {
    let compiler = letters();
    let grammar = compiler.compile(&parse(&Source::regex("ab")).unwrap().grammar).unwrap();
    let (mut one, mut two, mut three) = (grammar.matcher(), grammar.matcher(), grammar.matcher());
    let mut batch = [&mut one, &mut two, &mut three];
    let mut rows = [0u32; 2];
    let filled = fill_masks(&mut batch, &mut rows, 1);
    assert_eq!(rows, [1, 1]);
    assert!(filled[0].is_ok() && filled[1].is_ok());
    assert_eq!(filled[2].as_ref().unwrap_err().diagnostic().code(), "mask/buffer-too-short");
    let taken = accept_tokens(&mut batch, &[TokenId::new(0), TokenId::new(1), TokenId::new(0)]);
    assert_eq!(taken.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    let without_words = fill_masks(&mut batch, &mut rows, 0);
    assert!(without_words.iter().all(|row| row.as_ref().is_err_and(|e| e.code() == "mask/buffer-too-short")));
    assert_eq!(two.bytes(), b"");
    assert!(fill_masks(&mut [] as &mut [Matcher], &mut rows, 0).is_empty());
}

#[test]
fn what_was_made_is_read_while_something_else_is_being_made() {
    // one thread drops the tables again and again, while others continue with the same masks
    let vocabulary = real();
    let grammar = parse(&Source::json_schema(SCHEMA)).unwrap().grammar;
    let roomy = Compiler::new(Arc::clone(&vocabulary)).compile(&grammar).unwrap();
    let tight = Limits::default().cache_bytes(100_000);
    let tight = Compiler::new(vocabulary).limits(tight).compile(&grammar).unwrap();
    let text = br#"{"name": "abc\u00e9", "tags": ["x", "yy", "x"], "size": -12.5e3}"#;
    let mut matcher = roomy.matcher();
    let mut masks = vec![matcher.mask().unwrap()];
    for byte in text {
        matcher.accept_bytes(&[*byte]).unwrap();
        masks.push(matcher.mask().unwrap());
    }
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let mut matcher = tight.matcher();
                    for (n, mask) in masks.iter().enumerate() {
                        assert_eq!(*matcher.mask().unwrap(), **mask, "after {n} bytes");
                        if let Some(byte) = text.get(n) {
                            matcher.accept_bytes(&[*byte]).unwrap();
                        }
                    }
                }
            });
        }
    });
    assert!(tight.statistics().resets > 2, "{:?}", tight.statistics());
}

#[test]
fn rows_of_a_batch_are_those_of_its_matchers() {
    let compiler = letters();
    let grammar = compiler.compile(&parse(&Source::regex("(ab){1,4}c?")).unwrap().grammar).unwrap();
    let id = |letter: u8| TokenId::new(u32::from(letter - b'a'));
    let draft = [id(b'a'), id(b'b'), id(b'd')];
    let request = |first, draft, budget| RowRequest { first, draft, budget };
    let requests = [
        request(5, &draft[..], None),
        request(1, &draft[..1], Some(2)),
        request(0, &[][..], Some(3)),
        // rows of another request, rows beyond the end, and a budget within which no text can end
        request(6, &draft[..1], None),
        request(9, &[][..], None),
        request(usize::MAX, &draft[..], None),
        request(4, &[][..], Some(1)),
    ];
    let mut matchers: Vec<Matcher> = requests.iter().map(|_| grammar.matcher()).collect();
    let mut words = vec![u32::MAX; 9];
    let results = fill_rows(&mut matchers, &requests, &mut words, 1);
    let codes: Vec<_> = results
        .iter()
        .map(|result| result.as_ref().map(|&count| count).map_err(|error| error.diagnostic().code()))
        .collect();
    assert_eq!(
        codes,
        [Ok(2), Ok(1), Ok(0), Err("serve/rows"), Err("serve/rows"), Err("serve/rows"), Err("matcher/budget")]
    );
    let row = |letters: &str, ends: bool| {
        letters.bytes().map(|letter| 1 << (letter - b'a')).sum::<u32>() + (u32::from(ends) << 26)
    };
    // row 3 was not requested; the budget of two tokens has room for one round
    assert_eq!(words[..5], [row("a", false), row("a", false), row("b", false), u32::MAX, 0]);
    assert_eq!(words[5..], [row("a", false), row("b", false), row("ac", true), 0]);
    assert!(matchers.iter().all(|matcher| matcher.steps() == 0));
}

#[test]
fn a_draft_within_a_budget_ends_within_it() {
    let compiler = letters();
    let grammar = compiler.compile(&parse(&Source::regex("(ab){1,4}c?")).unwrap().grammar).unwrap();
    let id = |letter: u8| TokenId::new(u32::from(letter - b'a'));
    let draft = [id(b'a'), id(b'b'), id(b'a'), id(b'b')];
    let mut matcher = grammar.matcher();
    let mut words = vec![u32::MAX; 5];
    assert_eq!(matcher.fill_draft_masks_within(&draft, 3, &mut words, 1).unwrap(), 2);
    // after two of three tokens there is room for `c`, and not for another round
    assert_eq!(words, [1, 2, 4 | 1 << 26, 0, 0]);
    assert_eq!(matcher.fill_draft_masks_within(&draft, 4, &mut words, 1).unwrap(), 4);
    assert_eq!(words, [1, 2, 5 | 1 << 26, 2, 1 << 26]);
    let error = matcher.fill_draft_masks_within(&draft, 1, &mut words, 1).unwrap_err();
    assert_eq!((error.diagnostic().code(), words), ("matcher/budget", vec![0; 5]));
}
