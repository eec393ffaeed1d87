//! The naive recogniser, compared with an even simpler oracle: the sets of all words up to some length.

use grammata::grammar::{
    ExprId, Expression, Grammar, GrammarBuilder, Member, Members, Order, RuleId, WordTarget,
};
use grammata_testing::earley::{Recogniser, Refusal, Symbol};
use grammata_testing::generate::{Choices, GrammarShape, random_grammar, random_word};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Words = BTreeSet<Vec<u8>>;

/// Enumerates the words of at most `length` bytes of `alphabet`, for the expressions of a grammar.
struct Enumeration<'g> {
    grammar: &'g Grammar,
    alphabet: &'g [u8],
    length: usize,
}

impl Enumeration<'_> {
    fn all(&self) -> Words {
        let mut words = Words::from([Vec::new()]);
        let mut last = words.clone();
        for _ in 0..self.length {
            last = last
                .iter()
                .flat_map(|word| self.alphabet.iter().map(|&b| [&word[..], &[b]].concat()))
                .collect();
            words.extend(last.iter().cloned());
        }
        words
    }

    /// Returns the language of `root`: the least fixed point over the rules that it reaches. Intersections and
    /// complements within it are computed first, each as a language of its own.
    fn language(&self, root: ExprId) -> Words {
        let mut rules: BTreeMap<RuleId, Words> = BTreeMap::new();
        let mut locks: BTreeMap<ExprId, Words> = BTreeMap::new();
        let (mut seen, mut work) = (BTreeSet::new(), vec![root]);
        while let Some(id) = work.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.grammar.expression(id) {
                Expression::Intersection(list) => {
                    let mut words = self.all();
                    for &operand in list {
                        let language = self.language(operand);
                        words.retain(|word| language.contains(word));
                    }
                    locks.insert(id, words);
                }
                Expression::Complement(operand) => {
                    let language = self.language(*operand);
                    locks.insert(id, &self.all() - &language);
                }
                Expression::Rule(rule) => {
                    rules.insert(*rule, Words::new());
                    work.push(self.grammar.rule(*rule).body);
                }
                other => work.extend(other.children()),
            }
        }
        loop {
            let next: BTreeMap<RuleId, Words> = rules
                .keys()
                .map(|&rule| (rule, self.words(self.grammar.rule(rule).body, &rules, &locks)))
                .collect();
            if next == rules {
                return self.words(root, &rules, &locks);
            }
            rules = next;
        }
    }

    fn words(&self, id: ExprId, rules: &BTreeMap<RuleId, Words>, locks: &BTreeMap<ExprId, Words>) -> Words {
        let sub = |id: ExprId| self.words(id, rules, locks);
        let epsilon = Words::from([Vec::new()]);
        match self.grammar.expression(id) {
            Expression::Empty => epsilon,
            Expression::Never => Words::new(),
            Expression::Bytes(bytes) => self.cat(&epsilon, &Words::from([bytes.to_vec()])),
            Expression::ByteSet(set) => {
                self.alphabet.iter().filter(|b| set.contains(**b)).map(|&b| vec![b]).collect()
            }
            Expression::Class(class) => self
                .all()
                .into_iter()
                .filter(|word| {
                    let mut chars = std::str::from_utf8(word).unwrap_or("").chars();
                    matches!((chars.next(), chars.next()), (Some(c), None) if class.contains(c))
                })
                .collect(),
            Expression::Sequence(list) => list.iter().fold(epsilon, |words, &id| self.cat(&words, &sub(id))),
            Expression::Choice(list) => list.iter().flat_map(|&id| sub(id)).collect(),
            Expression::Repeat { body, min, max } => {
                let body = sub(*body);
                let mut power = (0..*min).fold(epsilon, |words, _| self.cat(&words, &body));
                let mut words = power.clone();
                // the empty word adds nothing after `min`; without it the words get longer each round until `cat` drops
                // all of them as too long, so the loop ends
                let longer: Words = body.into_iter().filter(|word| !word.is_empty()).collect();
                for _ in *min..max.unwrap_or(u32::MAX) {
                    power = self.cat(&power, &longer);
                    if power.is_empty() {
                        break;
                    }
                    words.extend(power.iter().cloned());
                }
                words
            }
            Expression::Rule(rule) => rules[rule].clone(),
            Expression::Intersection(_) | Expression::Complement(_) => locks[&id].clone(),
            Expression::Label(_, body) | Expression::Name(body, _) | Expression::MaxTokens { body, .. } => {
                sub(*body)
            }
            Expression::Distinct(_) => unreachable!("not generated"),
            Expression::Token(_) => unreachable!("these shapes have no token terminals"),
            Expression::WordGraph(graph) => {
                let exits: Vec<Words> = graph.exits().iter().map(|&exit| sub(exit)).collect();
                let mut from: Vec<Words> = vec![Words::new(); graph.len()];
                for node in (0..graph.len()).rev() {
                    for edge in graph.edges(node).iter() {
                        let bytes = self.alphabet.iter().filter(|b| (edge.low..=edge.high).contains(b));
                        let first = bytes.map(|&byte| vec![byte]).collect();
                        let after = match edge.to {
                            WordTarget::Node(to) => &from[to as usize],
                            WordTarget::Exit(exit) => &exits[exit as usize],
                        };
                        let words = self.cat(&first, after);
                        from[node].extend(words);
                    }
                }
                from.swap_remove(0)
            }
            Expression::Members(members) => {
                let values: Vec<Words> = members.members.iter().map(|m| sub(m.value)).collect();
                let set = MemberWords {
                    members,
                    values,
                    rest: members.rest.map(sub).unwrap_or_default(),
                    ones: members.ones.iter().copied().map(sub).collect(),
                    separator: sub(members.separator),
                };
                let mut words = Words::new();
                set.lists(self, &mut Vec::new(), &epsilon, &mut words);
                words
            }
        }
    }

    /// Returns the concatenations of a word of each set that have at most `length` bytes.
    fn cat(&self, first: &Words, second: &Words) -> Words {
        first
            .iter()
            .flat_map(|a| {
                let fits = |b: &&Vec<u8>| a.len() + b.len() <= self.length;
                second.iter().filter(fits).map(move |b| [&a[..], &b[..]].concat())
            })
            .collect()
    }
}

/// The languages of the parts of [`Members`], up to the length of the enumeration.
struct MemberWords<'m> {
    members: &'m Members,
    values: Vec<Words>,
    rest: Words,
    ones: Vec<Words>,
    separator: Words,
}

/// An entry in a list of [`Members`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Key(usize),
    Rest,
    One(usize),
}

impl MemberWords<'_> {
    /// Adds the words of all lists that begin with `list`, whose words are `so_far`. The order and the conditions are
    /// checked only for complete lists.
    fn lists(&self, all: &Enumeration<'_>, list: &mut Vec<Place>, so_far: &Words, out: &mut Words) {
        let list_of = self.members;
        let named: Vec<usize> =
            list.iter().filter_map(|place| if let Place::Key(i) = place { Some(*i) } else { None }).collect();
        let key = |i: usize| &list_of.members[i].key;
        let once = (0..named.len()).all(|i| named[..i].iter().all(|&j| key(j) != key(named[i])));
        let ones =
            (0..self.ones.len()).all(|i| list.iter().filter(|&&place| place == Place::One(i)).count() <= 1);
        if !once || !ones || so_far.is_empty() {
            return;
        }
        let came = |entry: u32| {
            let entry = entry as usize;
            let place = if entry < self.values.len() {
                Place::Key(entry)
            } else {
                Place::One(entry - self.values.len())
            };
            list.contains(&place)
        };
        let complete = (0..self.values.len())
            .all(|i| !list_of.members[i].required || named.iter().any(|&other| key(other) == key(i)))
            && list_of.conditions.iter().all(|condition| {
                condition.0.iter().any(|alternative| {
                    let some = |set: &[u32]| set.iter().any(|&entry| came(entry));
                    alternative.some.iter().all(|set| some(set)) && !some(&alternative.none)
                })
            })
            && list.len() >= list_of.min as usize
            && list_of.max.is_none_or(|max| list.len() <= max as usize);
        let ordered = self.members.order == Order::Any
            || (named.is_sorted() && list.is_sorted_by_key(|place| !matches!(place, Place::Key(_))));
        if complete && ordered {
            out.extend(so_far.iter().cloned());
        }
        let ones = (0..self.ones.len()).map(Place::One);
        for next in (0..self.values.len()).map(Place::Key).chain([Place::Rest]).chain(ones) {
            let member = match next {
                Place::Key(i) => {
                    all.cat(&Words::from([self.members.members[i].key.to_vec()]), &self.values[i])
                }
                Place::Rest => self.rest.clone(),
                Place::One(i) => self.ones[i].clone(),
            };
            let before = if list.is_empty() { so_far.clone() } else { all.cat(so_far, &self.separator) };
            list.push(next);
            self.lists(all, list, &all.cat(&before, &member), out);
            list.pop();
        }
    }
}

fn strings(alphabet: &[u8], length: usize) -> Vec<Vec<u8>> {
    let mut out = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..length {
        let to = out.len();
        for i in from..to {
            for &b in alphabet {
                let longer = [&out[i][..], &[b]].concat();
                out.push(longer);
            }
        }
        from = to;
    }
    out
}

/// Compares recogniser and enumeration on all strings up to `length`. Returns false if the recogniser cannot decide the
/// grammar.
fn compare(grammar: &Grammar, alphabet: &[u8], length: usize) -> Result<bool, TestCaseError> {
    let recogniser = match Recogniser::new(grammar) {
        Ok(recogniser) => recogniser,
        Err(Refusal::Undecided) => return Ok(false),
        Err(refusal) => return Err(TestCaseError::fail(format!("{refusal:?}"))),
    };
    let words = Enumeration { grammar, alphabet, length }.language(grammar.rule(grammar.root()).body);
    let prefixes: Words = words.iter().flat_map(|w| (0..=w.len()).map(|n| w[..n].to_vec())).collect();
    for string in strings(alphabet, length) {
        let state = recogniser.after(&string);
        prop_assert_eq!(recogniser.is_accepting(&state), words.contains(&string), "{:?}", string);
        let viable = recogniser.is_viable(&state);
        let is_prefix = prefixes.contains(&string);
        prop_assert!(!is_prefix || viable != Some(false), "a prefix of a word: {:?}", string);
        if viable != Some(true) {
            continue;
        }
        let Some(completion) = recogniser.completion(&state) else { continue };
        let completion = completion.ok_or_else(|| TestCaseError::fail("viable, but no completion"))?;
        let completion: Vec<u8> = completion.into_iter().filter_map(Symbol::byte).collect();
        let word = [&string[..], &completion].concat();
        prop_assert!(recogniser.accepts(&word));
        let shortest = words.iter().filter(|other| other.starts_with(&string)).map(Vec::len).min();
        prop_assert!(shortest.is_none_or(|shortest| word.len() <= shortest), "{:?} is not a shortest", word);
        // the completed word is not listed if it is longer than `length` or has bytes outside the alphabet
        let listed = word.len() <= length && word.iter().all(|byte| alphabet.contains(byte));
        prop_assert_eq!(words.contains(&word), listed, "{:?}", word);
    }
    Ok(true)
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..400)
}

proptest! {
    #![proptest_config(crate::properties::config(256))]

    #[test]
    fn agrees_with_enumeration_without_locks(bytes in bytes()) {
        let shape = GrammarShape { letters: vec!["a", "b"], literal: 2, bytes: false, count: 3, ..GrammarShape::default() };
        let grammar = random_grammar(&mut Choices::new(&bytes), &shape);
        prop_assert!(compare(&grammar, b"ab", 5)?, "without locks all is decided");
    }

    #[test]
    fn agrees_with_enumeration_in_utf8(bytes in bytes()) {
        let letters = vec!["a", "é", "ê"];
        let shape = GrammarShape { letters, literal: 1, count: 3, ..GrammarShape::default() };
        let grammar = random_grammar(&mut Choices::new(&bytes), &shape);
        prop_assert!(compare(&grammar, &[b'a', 0xC3, 0xA9, 0xAA], 4)?, "without locks all is decided");
    }

    #[test]
    fn words_of_random_walks_are_accepted(bytes in bytes()) {
        let mut choices = Choices::new(&bytes);
        let grammar = random_grammar(&mut choices, &GrammarShape::default());
        let recogniser = Recogniser::new(&grammar).map_err(|r| TestCaseError::fail(format!("{r:?}")))?;
        if let Some(word) = random_word(&mut choices, &recogniser, 8) {
            prop_assert!(recogniser.accepts(&word));
        }
    }
}

/// With intersections and complements a few cases cannot be decided. They must be at most one in 20 of the others.
#[test]
fn agrees_with_enumeration_with_locks() {
    let mut runner = proptest::test_runner::TestRunner::new(crate::properties::config(256));
    let (compared, skipped) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let outcome = runner.run(&bytes(), |bytes| {
        let letters = vec!["a", "b"];
        let shape = GrammarShape {
            letters,
            locks: true,
            bytes: false,
            count: 3,
            depth: 3,
            ..GrammarShape::default()
        };
        let grammar = random_grammar(&mut Choices::new(&bytes), &shape);
        let counter = if compare(&grammar, b"ab", 5)? { &compared } else { &skipped };
        counter.set(counter.get() + 1);
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
    assert!(skipped.get() * 20 <= compared.get(), "{} skipped", skipped.get());
}

fn text_grammar(build: impl FnOnce(&mut GrammarBuilder) -> RuleId) -> Grammar {
    let mut builder = GrammarBuilder::new();
    let root = build(&mut builder);
    builder.build(root).unwrap()
}

#[test]
fn hidden_left_recursion_and_nullable_loops() {
    let grammar = text_grammar(|g| {
        // s ::= n s "b" | s s | "a" ;  n ::= "" | n n | "c"?
        let (s, n) = (g.declare("s"), g.declare("n"));
        let (rs, rn, a, b, c) = (g.rule(s), g.rule(n), g.text("a"), g.text("b"), g.text("c"));
        let hidden = g.sequence([rn, rs, b]);
        let twice = g.sequence([rs, rs]);
        let body = g.choice([hidden, twice, a]);
        g.define(s, body);
        let (empty, pair, maybe) = (g.empty(), g.sequence([rn, rn]), g.optional(c));
        let body = g.choice([empty, pair, maybe]);
        g.define(n, body);
        s
    });
    let recogniser = Recogniser::new(&grammar).unwrap();
    for (word, expected) in
        [("a", true), ("ab", true), ("ccab", true), ("aab", true), ("abcab", true), ("", false), ("b", false)]
    {
        assert_eq!(recogniser.accepts(word.as_bytes()), expected, "{word}");
    }
    assert_eq!(recogniser.viable_prefix(b"ccc"), Some(true));
    assert_eq!(recogniser.viable_prefix(b"bc"), Some(false));
}

#[test]
fn unproductive_parts_are_not_viable() {
    let grammar = text_grammar(|g| {
        // s ::= "a" loop | "b" ;  loop ::= "x" loop
        let (s, endless) = (g.declare("s"), g.declare("loop"));
        let (again, a, b, x) = (g.rule(endless), g.text("a"), g.text("b"), g.text("x"));
        let dead = g.sequence([a, again]);
        let body = g.choice([dead, b]);
        g.define(s, body);
        let body = g.sequence([x, again]);
        g.define(endless, body);
        s
    });
    let recogniser = Recogniser::new(&grammar).unwrap();
    assert_eq!(recogniser.viable_prefix(b"a"), Some(false));
    assert_eq!(recogniser.viable_prefix(b"b"), Some(true));
}

#[test]
fn an_intersection_of_stack_languages_is_followed_exactly() {
    let grammar = text_grammar(|g| {
        // a^n b^n and a* b b have only the word aabb in common
        let (root, nest) = (g.declare("root"), g.declare("nest"));
        let (a, b, inner) = (g.text("a"), g.text("b"), g.rule(nest));
        let (deeper, empty) = (g.sequence([a, inner, b]), g.empty());
        let body = g.choice([deeper, empty]);
        g.define(nest, body);
        let some = g.star(a);
        let other = g.sequence([some, b, b]);
        let both = g.intersection([inner, other]);
        g.define(root, both);
        root
    });
    let recogniser = Recogniser::new(&grammar).unwrap();
    assert!(recogniser.accepts(b"aabb"));
    assert!(!recogniser.accepts(b"ab"));
    assert_eq!(recogniser.viable_prefix(b"aab"), Some(true));
    assert_eq!(recogniser.viable_prefix(b"ab"), Some(false));
    // a third `a` cannot be matched by only two `b`, but finding this out takes an infinite search: undecided, not
    // wrong
    assert_eq!(recogniser.viable_prefix(b"aaab"), Some(false));
    assert_ne!(recogniser.viable_prefix(b"aaa"), Some(true));
}

#[test]
fn an_intersection_that_contains_itself_is_refused() {
    let grammar = text_grammar(|g| {
        let root = g.declare("root");
        let (again, a) = (g.rule(root), g.text("a"));
        let longer = g.sequence([a, again]);
        let not = g.complement(longer);
        g.define(root, not);
        root
    });
    assert_eq!(Recogniser::new(&grammar).err(), Some(Refusal::Cyclic));
}

#[test]
fn all_of_unicode_is_quick_and_exact() {
    let grammar = text_grammar(|g| {
        let root = g.declare("root");
        let any = g.class([('\0', char::MAX)]);
        let text = g.star(any);
        g.define(root, text);
        root
    });
    let recogniser = Recogniser::new(&grammar).unwrap();
    for lead in 0u8..=255 {
        for second in 0u8..=255 {
            for tail in [&[][..], &[0x80], &[0xBF, 0x80], &[0xBF, 0xBF]] {
                let bytes = [&[lead, second][..], tail].concat();
                let expected = match std::str::from_utf8(&bytes) {
                    Ok(_) => true,
                    Err(e) => e.error_len().is_none(),
                };
                assert_eq!(recogniser.viable_prefix(&bytes), Some(expected), "{bytes:X?}");
            }
        }
    }
    assert!(recogniser.accepts("aé\u{D7FF}\u{E000}😀".as_bytes()));
}

#[test]
fn members_in_any_order_with_keys_that_are_prefixes() {
    let grammar = text_grammar(|g| {
        let root = g.declare("root");
        let (comma, b, empty) = (g.text(","), g.text("b"), g.empty());
        let member = |key: &str, value, required| Member { key: key.as_bytes().into(), value, required };
        let list = g.members(
            Order::Any,
            [member("a", empty, true), member("ab", empty, false), member("aa", b, false)],
            None,
            comma,
        );
        g.define(root, list);
        root
    });
    let recogniser = Recogniser::new(&grammar).unwrap();
    for (word, expected) in [
        ("a", true),
        ("ab", false),
        ("ab,a", true),
        ("aab,ab,a", true),
        ("a,a", false),
        ("a,ab,ab", false),
        ("", false),
    ] {
        assert_eq!(recogniser.accepts(word.as_bytes()), expected, "{word}");
    }
    assert_eq!(recogniser.viable_prefix(b"a,ab,aa"), Some(true));
    assert_eq!(recogniser.viable_prefix(b"a,ab,ab"), Some(false));
    assert_eq!(recogniser.viable_prefix(b"a,ab,aab,"), Some(false));
}

/// `tuvwxy` follows both `b` and `ccc`. The longer completion is examined first, because the length of the intersection
/// after `cccz` is not known. Still the shortest completion is returned.
#[test]
fn a_completion_is_a_shortest_where_a_longer_way_is_examined_first() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let after = g.declare("after");
    let [b, ccc, cccz, z, q, t] =
        ["b", "ccc", "cccz", "zzzzzzzzzzzz", "q", "tuvwxy"].map(|text| g.text(text));
    g.define(after, t);
    let tail = g.rule(after);
    let not = g.complement(q);
    let long = g.intersection([z, not]);
    let ways = [g.sequence([b, tail]), g.sequence([ccc, tail]), g.sequence([cccz, long])];
    let any = g.choice(ways);
    g.define(root, any);
    let grammar = g.build(root).unwrap();
    let recogniser = Recogniser::new(&grammar).unwrap();
    let completion = recogniser.completion(&recogniser.start()).unwrap().unwrap();
    assert_eq!(completion, b"btuvwxy".map(Symbol::Byte));
}
