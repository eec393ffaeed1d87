//! The vocabulary: what each token is, the builder's checks, the fingerprint, the token trie. Reading files
//! is in `vocabulary_load.rs`.

use crate::texts::{broken, texts};
use grammata::vocabulary::{LoadOptions, TokenTrie, VocabularyBuilder};
use grammata::{ErrorKind, Limits, TokenId, Vocabulary};
use rand::prelude::*;
use rand::rngs::StdRng;
use std::collections::BTreeMap;

fn id(id: u32) -> TokenId {
    TokenId::new(id)
}

fn smollm2() -> Vocabulary {
    Vocabulary::from_file("tests/data/smollm2/tokenizer.json", &LoadOptions::default()).unwrap()
}

/// Returns a builder with `a`, `b`, `ab`, the two bytes FF FE, two special tokens, and two ids of padding.
fn small() -> VocabularyBuilder {
    VocabularyBuilder::from_tokens([&b"a"[..], b"b", b"ab", b"\xFF\xFE", b"", b"</s>"])
        .special(id(4), "<s>")
        .special(id(5), "</s>")
        .eos([id(5)])
        .width(8)
}

#[test]
fn each_id_is_one_of_three_things() {
    let vocabulary = small().build().unwrap();
    let bytes: Vec<_> = (0..10).map(|i| vocabulary.bytes(id(i))).collect();
    let ordinary = [Some(&b"a"[..]), Some(b"b"), Some(b"ab"), Some(b"\xFF\xFE")];
    assert_eq!(bytes[..4], ordinary);
    assert_eq!(bytes[4..], [None; 6], "special tokens, padding and ids past the width have no bytes");
    let special: Vec<_> = (0..10).filter_map(|i| Some((i, vocabulary.special(id(i))?))).collect();
    assert_eq!(special, [(4, "<s>"), (5, "</s>")]);
    assert_eq!(vocabulary.special_id("</s>"), Some(id(5)));
    assert_eq!(vocabulary.special_id("a"), None);
    assert_eq!((vocabulary.width(), vocabulary.len(), vocabulary.mask_words()), (8, 6, 1));
    assert_eq!(vocabulary.tokens().count(), 4);
    // no path of the trie spells a special token
    assert_eq!(vocabulary.trie().child(vocabulary.trie().root(), b'<'), None);
}

#[test]
fn masks_are_as_wide_as_the_logits() {
    for (width, words) in [(6, 1), (32, 1), (33, 2), (64, 2), (65, 3)] {
        assert_eq!(small().width(width).build().unwrap().mask_words(), words, "width {width}");
    }
    // without a width, special tokens beyond the ordinary ones count
    let vocabulary = VocabularyBuilder::from_tokens(["a"]).special(id(40), "<x>").build().unwrap();
    assert_eq!((vocabulary.width(), vocabulary.len()), (41, 1));
    assert_eq!(vocabulary.special(id(40)), Some("<x>"));
    assert_eq!(vocabulary.bytes(id(39)), None);
}

#[test]
fn several_ids_end_a_sequence() {
    let vocabulary = small().eos([id(4), id(5), id(1), id(6)]).build().unwrap();
    assert_eq!(vocabulary.eos(), [id(1), id(4), id(5), id(6)]);
    assert!(vocabulary.is_eos(id(6)) && !vocabulary.is_eos(id(0)));
    // an ordinary token or padding that ends a sequence is special from then on
    assert_eq!((vocabulary.bytes(id(1)), vocabulary.special(id(1))), (None, Some("b")));
    assert_eq!((vocabulary.bytes(id(6)), vocabulary.special(id(6))), (None, Some("<|6|>")));
    assert_eq!(vocabulary.encode_greedy(b"b"), None);
}

#[test]
fn missing_bytes_are_those_without_a_token_of_their_own() {
    let missing = small().build().unwrap().missing_bytes();
    let present: Vec<u8> = (0..=255u8).filter(|&b| !missing[b as usize]).collect();
    assert_eq!(present, b"ab", "FF and FE are only in a longer token");
    // SmolLM2 lacks rare control characters, and bytes that UTF-8 never or rarely has
    let missing = smollm2().missing_bytes();
    let missing: Vec<u8> = (0..=255u8).filter(|&b| missing[b as usize]).collect();
    let controls = [4u8, 6, 19, 20, 22, 29].into_iter();
    let unused = [0xC0, 0xC1, 0xF1, 0xF2].into_iter().chain(0xF5..=0xFF);
    assert_eq!(missing, controls.chain(unused).collect::<Vec<u8>>());
}

#[test]
fn equal_bytes_may_have_several_ids() {
    let vocabulary = VocabularyBuilder::from_tokens(["ab", "a", "ab", "b", "ab"]).build().unwrap();
    let trie = vocabulary.trie();
    let a = trie.child(trie.root(), b'a').unwrap();
    let ab = trie.child(a, b'b').unwrap();
    assert_eq!(trie.tokens(ab), [id(0), id(2), id(4)]);
    assert_eq!(vocabulary.encode_greedy(b"ab"), Some(vec![id(0)]));
    assert_eq!(trie.subtree_tokens(a), [id(1), id(0), id(2), id(4)]);
}

#[test]
fn the_builder_refuses_what_cannot_be() {
    let codes = [
        (VocabularyBuilder::default(), "vocabulary/empty"),
        (VocabularyBuilder::from_tokens(["", ""]), "vocabulary/empty"),
        (small().width(5), "vocabulary/width"),
        (small().eos([id(8)]), "vocabulary/eos-range"),
        (small().special(id(8), "<x>"), "vocabulary/special-range"),
        (small().special(id(6), "<s>"), "vocabulary/special-twice"),
        (small().special(id(4), "<x>"), "vocabulary/special-twice"),
        (small().special(id(6), ""), "vocabulary/special-name"),
        (small().width(usize::MAX), "limit/exceeded"),
    ];
    for (builder, code) in codes {
        assert_eq!(builder.build().unwrap_err().code(), code);
    }
    assert!(
        small().special(id(4), "<s>").build().is_ok(),
        "the same special token twice is no contradiction"
    );
}

#[test]
fn the_builder_keeps_to_the_limits() {
    let with = |limits: Limits, tokens: &[&str]| {
        let mut builder = VocabularyBuilder::new(&limits);
        tokens.iter().for_each(|token| builder.push(token.as_bytes()));
        builder.build()
    };
    let limits = |tokens, bytes, total| {
        Limits::default().vocabulary_tokens(tokens).token_bytes(bytes).tokenizer_bytes(total)
    };
    assert!(with(limits(3, 2, 5), &["ab", "cd", "e"]).is_ok());
    for (limits, name) in [
        (limits(2, 2, 5), "vocabulary_tokens"),
        (limits(3, 1, 5), "token_bytes"),
        (limits(3, 2, 4), "tokenizer_bytes"),
    ] {
        let error = with(limits, &["ab", "cd", "e"]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn fingerprint_is_stable() {
    // Computed without this crate, from the serialisation that its documentation describes. The fingerprint must never
    // change: mask files name their vocabulary by it.
    let hex: String = small().build().unwrap().fingerprint().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(hex, "5a1acd2c0a1a5f1a4dc180548c0bc3444ce4b6d666508af14b9040a648d4dacb");
}

#[test]
fn fingerprint_changes_with_each_ingredient() {
    let token = |tokens: [&[u8]; 4]| {
        VocabularyBuilder::from_tokens(tokens)
            .special(id(4), "<s>")
            .special(id(5), "</s>")
            .eos([id(5)])
            .width(8)
    };
    let builders = [
        small(),
        small().width(9),
        small().eos([id(4)]),
        small().special(id(6), "<x>"),
        small().special(id(6), "<y>"),
        small().special(id(7), "<x>"),
        token([b"a", b"b", b"abc", b"\xFF\xFE"]),
        token([b"b", b"a", b"ab", b"\xFF\xFE"]),
        token([b"a", b"", b"ab", b"\xFF\xFE"]),
        token([b"a", b"ba", b"b", b"\xFF\xFE"]),
    ];
    let prints: Vec<_> = builders.map(|builder| builder.build().unwrap().fingerprint()).into();
    for (i, print) in prints.iter().enumerate() {
        assert!(!prints[..i].contains(print), "vocabulary {i} has the fingerprint of an earlier one");
    }
    // the fingerprint depends on nothing else, such as where padding begins or the order of calls of the builder
    let same = token([b"a", b"b", b"ab", b"\xFF\xFE"]).eos([id(5), id(5)]).build().unwrap();
    assert_eq!(same.fingerprint(), prints[0]);
    assert_eq!(same, small().build().unwrap());
}

#[test]
fn greedy_tokens_spell_the_bytes() {
    let vocabulary = smollm2();
    let missing = vocabulary.missing_bytes();
    let encodable = |bytes: &[u8]| bytes.iter().all(|&b| !missing[b as usize]);
    let mut encoded = 0;
    let all = texts(1, 500).into_iter().map(String::into_bytes).chain(broken(2, 1000));
    for bytes in all {
        let Some(tokens) = vocabulary.encode_greedy(&bytes) else {
            assert!(!encodable(&bytes), "every byte has a token, but {bytes:?} has none");
            continue;
        };
        encoded += 1;
        let spelt: Vec<u8> =
            tokens.iter().flat_map(|&token| vocabulary.bytes(token).unwrap()).copied().collect();
        assert_eq!(spelt, bytes);
    }
    assert!((500..1400).contains(&encoded), "{encoded} of 1500: both outcomes should be common");
    assert_eq!(vocabulary.encode_greedy(b""), Some(vec![]));
    let hello = vocabulary.encode_greedy(b" Hello").unwrap();
    assert_eq!(hello.len(), 1, "the longest token wins");
}

/// Returns all prefixes of all tokens, in order, with the tokens that end there: the trie by definition.
fn naive_trie(vocabulary: &Vocabulary) -> BTreeMap<&[u8], Vec<TokenId>> {
    let mut prefixes: BTreeMap<&[u8], Vec<TokenId>> = BTreeMap::from([(&b""[..], Vec::new())]);
    for (token, bytes) in vocabulary.tokens() {
        for end in 1..bytes.len() {
            prefixes.entry(&bytes[..end]).or_default();
        }
        prefixes.entry(bytes).or_default().push(token);
    }
    prefixes
}

fn assert_trie(vocabulary: &Vocabulary) {
    let trie = vocabulary.trie();
    let naive = naive_trie(vocabulary);
    assert_eq!(trie.node_count(), naive.len());
    let node = |prefix: &[u8]| prefix.iter().try_fold(trie.root(), |node, &byte| trie.child(node, byte));
    let mut seen = vec![false; trie.node_count()];
    for (&prefix, tokens) in &naive {
        let at = node(prefix).unwrap_or_else(|| panic!("no node for {prefix:?}"));
        assert!(!std::mem::replace(&mut seen[at as usize], true), "two prefixes have one node");
        assert_eq!(trie.tokens(at), tokens, "tokens at {prefix:?}");
        assert_eq!(trie.byte(at), prefix.last().copied().unwrap_or(0));
        // a subtree is a range that begins with its root
        let below = naive.range(prefix..).take_while(|other| other.0.starts_with(prefix)).count() as u32;
        let end = at + below;
        assert_eq!(trie.subtree_end(at), end, "subtree of {prefix:?}");
        let in_subtree: Vec<_> = (at..end).flat_map(|n| trie.tokens(n)).copied().collect();
        assert_eq!(trie.subtree_tokens(at), in_subtree);
        let longer = |byte: u8| [prefix, &[byte]].concat();
        let bytes: Vec<u8> = (0..=255).filter(|&b| naive.contains_key(longer(b).as_slice())).collect();
        let children: Vec<u32> = bytes.iter().filter_map(|&byte| node(&longer(byte))).collect();
        assert!(trie.children(at).eq(children.iter().copied()), "children of {prefix:?}");
        assert!(children.iter().all(|&child| at < child && trie.subtree_end(child) <= end));
        for byte in 0..=255 {
            assert_eq!(trie.child(at, byte).is_some(), bytes.contains(&byte), "child {byte} of {prefix:?}");
        }
    }
}

#[test]
fn trie_equals_the_naive_one() {
    let mut rng = StdRng::seed_from_u64(3);
    for size in [1, 2, 5, 30, 300] {
        for letters in [1u8, 2, 4, 255] {
            let tokens: Vec<Vec<u8>> = (0..size)
                .map(|_| (0..rng.random_range(0..8)).map(|_| rng.random_range(0..=letters)).collect())
                .chain([vec![7]])
                .collect();
            assert_trie(&VocabularyBuilder::from_tokens(tokens).build().unwrap());
        }
    }
    assert_trie(&VocabularyBuilder::from_tokens(smollm2().tokens().step_by(9).map(|t| t.1)).build().unwrap());
}

#[test]
fn trie_of_a_real_tokenizer() {
    let vocabulary = smollm2();
    let again = TokenTrie::new(&vocabulary);
    let trie = vocabulary.trie();
    assert_eq!(again.node_count(), trie.node_count());
    assert_eq!(trie.node_count(), naive_trie(&vocabulary).len());
    assert_eq!(trie.subtree_tokens(trie.root()).len(), vocabulary.tokens().count());
    assert!(trie.memory_usage() >= 17 * trie.node_count() && trie.memory_usage() < vocabulary.memory_usage());
}
