//! Lazy rules of Lark among text and other parts, compared with their definition on all short texts.
//!
//! A word is a series of lexemes along a path through the grammar. At the beginning of a lexeme, those lazy rules may
//! begin that are allowed next on that path.
//!
//! - A lazy rule consumes one of its words. No shorter prefix of the word may be a word of a lazy rule that may begin
//!   there.
//! - Another lexeme contains no word of such a rule: no such word begins with the lexeme and ends in it or later. If
//!   the rule is any text up to a string, the string does not begin in the lexeme.
//! - Any text that competes with a lazy rule is as long as possible: neither any text nor a lazy rule that begins with
//!   any text follows it.

use crate::language::Language;
use crate::random::each;
use grammata::syntax::lark::{Options, compile};
use grammata_testing::generate::Choices;

/// A leaf of a grammar, which determines a set of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaf {
    AnyText,
    /// A lazy rule of any text up to a string.
    Until(&'static str),
    /// A lazy pattern `x+y`: its name, and the letters x and y.
    Lazy(&'static str, char, char),
    Literal(&'static str),
    /// The allowed letters, and the least number of letters.
    Letters(&'static str, usize),
}

impl Leaf {
    fn is_lazy(self) -> bool {
        matches!(self, Leaf::Until(_) | Leaf::Lazy(..))
    }

    /// Returns whether a text is a word of the leaf. A word of a lazy rule has no shorter prefix that is a word.
    fn is_word(self, text: &str) -> bool {
        match self {
            Leaf::AnyText => true,
            Leaf::Until(end) => text.find(end).is_some_and(|at| at + end.len() == text.len()),
            Leaf::Lazy(_, again, last) => text
                .strip_suffix(last)
                .is_some_and(|text| !text.is_empty() && text.chars().all(|c| c == again)),
            Leaf::Literal(literal) => text == literal,
            Leaf::Letters(letters, min) => text.len() >= min && text.chars().all(|c| letters.contains(c)),
        }
    }

    fn source(self) -> String {
        match self {
            Leaf::AnyText => "TEXT".to_owned(),
            Leaf::Until(end) => format!("until_{end}"),
            Leaf::Lazy(name, ..) => name.to_owned(),
            Leaf::Literal(text) => format!("\"{text}\""),
            Leaf::Letters(letters, min) => format!("/[{letters}]{{{min},}}/"),
        }
    }
}

#[derive(Clone, Debug)]
enum Tree {
    Leaf(Leaf),
    Sequence(Vec<Tree>),
    Choice(Vec<Tree>),
    Repeat(Box<Tree>, &'static str),
}

/// The leaves that may be first and last in a tree, and whether it may be empty.
#[derive(Default)]
struct Ends {
    first: Vec<usize>,
    last: Vec<usize>,
    is_empty: bool,
}

/// The leaves of a tree, and which leaf may follow which: the position automaton (Glushkov, 1961). The last list of
/// `follow` is that of the beginning.
struct Positions {
    leaves: Vec<Leaf>,
    follow: Vec<Vec<usize>>,
    accepts: Vec<bool>,
}

impl Positions {
    fn new(tree: &Tree) -> Positions {
        let mut positions = Positions { leaves: vec![], follow: vec![], accepts: vec![] };
        let ends = positions.walk(tree);
        positions.accepts = vec![false; positions.leaves.len() + 1];
        ends.last.iter().for_each(|&last| positions.accepts[last] = true);
        *positions.accepts.last_mut().unwrap() = ends.is_empty;
        positions.follow.push(ends.first);
        positions
    }

    fn walk(&mut self, tree: &Tree) -> Ends {
        match tree {
            Tree::Leaf(leaf) => {
                self.leaves.push(*leaf);
                self.follow.push(Vec::new());
                let one = vec![self.leaves.len() - 1];
                let is_empty = matches!(leaf, Leaf::AnyText | Leaf::Letters(_, 0));
                Ends { first: one.clone(), last: one, is_empty }
            }
            Tree::Sequence(parts) => {
                let mut all = Ends { is_empty: true, ..Ends::default() };
                for part in parts {
                    let ends = self.walk(part);
                    all.last.iter().for_each(|&last| self.follow[last].extend(&ends.first));
                    if all.is_empty {
                        all.first.extend(&ends.first);
                    }
                    if !ends.is_empty {
                        all.last.clear();
                    }
                    all.last.extend(&ends.last);
                    all.is_empty &= ends.is_empty;
                }
                all
            }
            Tree::Choice(ways) => ways.iter().fold(Ends::default(), |mut all, way| {
                let ends = self.walk(way);
                all.first.extend(ends.first);
                all.last.extend(ends.last);
                all.is_empty |= ends.is_empty;
                all
            }),
            Tree::Repeat(body, mark) => {
                let mut ends = self.walk(body);
                if *mark != "?" {
                    ends.last.iter().for_each(|&last| self.follow[last].extend(&ends.first));
                }
                ends.is_empty |= *mark != "+";
                ends
            }
        }
    }

    /// Returns whether a leaf may consume `text[from..to]` if the lazy leaves `beside` compete with it.
    fn takes(&self, leaf: Leaf, beside: &[Leaf], text: &str, from: usize, to: usize) -> bool {
        if from == to || !leaf.is_word(&text[from..to]) {
            return false;
        }
        beside.iter().all(|&other| match other {
            _ if leaf.is_lazy() => (from..to).all(|end| !other.is_word(&text[from..end])),
            Leaf::Until(string) => (from..to).all(|at| !text[at..].starts_with(string)),
            _ => (from..=text.len()).all(|end| !other.is_word(&text[from..end])),
        })
    }

    /// Returns whether a text is a word by definition: all ways to split it are tried.
    fn accepts(&self, text: &str) -> bool {
        let start = self.leaves.len();
        let is_text = |leaf: Leaf| matches!(leaf, Leaf::AnyText | Leaf::Until(_));
        // by offset: the leaves that end there, and whether each is text that competes with a lazy rule
        let mut ends = vec![Vec::new(); text.len() + 1];
        ends[0].push((start, false));
        for from in 0..text.len() {
            ends[from].sort_unstable();
            ends[from].dedup();
            for (before, in_text) in ends[from].clone() {
                let follow = || self.follow[before].iter().map(|&next| (next, self.leaves[next]));
                let beside: Vec<Leaf> =
                    follow().map(|(_, leaf)| leaf).filter(|leaf| leaf.is_lazy()).collect();
                for (next, leaf) in follow().filter(|&(_, leaf)| !(in_text && is_text(leaf))) {
                    let is_long = leaf == Leaf::AnyText && !beside.is_empty();
                    for to in (from + 1..=text.len()).filter(|&to| self.takes(leaf, &beside, text, from, to))
                    {
                        ends[to].push((next, is_long));
                    }
                }
            }
        }
        ends[text.len()].iter().any(|&(last, _)| self.accepts[last])
    }
}

/// The Lark rules for parts of a tree; some parts are written as rules with names.
struct Source {
    rules: String,
    count: usize,
}

impl Source {
    fn expression(&mut self, tree: &Tree, choices: &mut Choices<'_>) -> String {
        let list = |source: &mut Source, trees: &[Tree], with: &str, choices: &mut Choices<'_>| {
            let parts: Vec<String> = trees.iter().map(|tree| source.expression(tree, choices)).collect();
            format!("({})", parts.join(with))
        };
        let text = match tree {
            Tree::Leaf(leaf) => return leaf.source(),
            Tree::Sequence(parts) => list(self, parts, " ", choices),
            Tree::Choice(ways) => list(self, ways, " | ", choices),
            Tree::Repeat(body, mark) => format!("({}){mark}", self.expression(body, choices)),
        };
        if !choices.chance(20) {
            return text;
        }
        self.count += 1;
        self.rules += &format!("r{}: {text}\n", self.count);
        format!("r{}", self.count)
    }
}

fn source(tree: &Tree, choices: &mut Choices<'_>) -> String {
    let mut source = Source { rules: String::new(), count: 0 };
    let start = source.expression(tree, choices);
    let mut lazies: Vec<Leaf> = Positions::new(tree).leaves;
    lazies.retain(|leaf| leaf.is_lazy());
    lazies.sort_unstable_by_key(|leaf| leaf.source());
    lazies.dedup();
    for lazy in lazies {
        source.rules += &match lazy {
            Leaf::Until(end) => format!("until_{end}[lazy]: TEXT \"{end}\"\n"),
            Leaf::Lazy(name, again, last) => format!("{name}[lazy]: /{again}+{last}/\n"),
            _ => continue,
        };
    }
    format!("start: {start}\n{}TEXT: /(.|\\n)*/\n", source.rules)
}

const LEAVES: [Leaf; 10] = [
    Leaf::AnyText,
    Leaf::AnyText,
    Leaf::Literal("a"),
    Leaf::Literal("c"),
    Leaf::Literal("bc"),
    Leaf::Letters("ab", 1),
    Leaf::Letters("abc", 1),
    Leaf::Letters("abc", 0),
    Leaf::Letters("c", 0),
    Leaf::Letters("c", 1),
];

const LAZIES: [Leaf; 6] = [
    Leaf::Until("ab"),
    Leaf::Until("aab"),
    Leaf::Until("ba"),
    Leaf::Until("bca"),
    Leaf::Lazy("as", 'a', 'b'),
    Leaf::Lazy("bs", 'b', 'c'),
];

/// Returns a call: a lazy rule, followed by a letter.
fn call(lazy: Leaf, choices: &mut Choices<'_>) -> Tree {
    let letter = *choices.pick(&["a", "c"]);
    Tree::Sequence(vec![Tree::Leaf(lazy), Tree::Leaf(Leaf::Literal(letter))])
}

fn tree(choices: &mut Choices<'_>, lazies: &[Leaf], depth: usize) -> Tree {
    let list = |choices: &mut Choices<'_>| {
        let count = 2 + choices.below(2);
        (0..count).map(|_| tree(choices, lazies, depth - 1)).collect()
    };
    match choices.below(if depth == 0 { 5 } else { 10 }) {
        0 | 1 => {
            let lazy = *choices.pick(lazies);
            call(lazy, choices)
        }
        2 => Tree::Leaf(Leaf::AnyText),
        3 | 4 => Tree::Leaf(*choices.pick(&LEAVES)),
        5 | 6 => Tree::Sequence(list(choices)),
        7 => Tree::Choice(list(choices)),
        8 => {
            let mark = *choices.pick(&["*", "+", "?"]);
            Tree::Repeat(Box::new(tree(choices, lazies, depth - 1)), mark)
        }
        _ => Tree::Repeat(Box::new(Tree::Choice(list(choices))), "*"),
    }
}

/// Returns all texts of the letters a, b and c that have at most `most` letters.
fn texts(most: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while let Some(text) = all.get(at).filter(|text| text.len() < most).cloned() {
        all.extend(["a", "b", "c"].map(|letter| text.clone() + letter));
        at += 1;
    }
    all
}

#[test]
fn random_grammars_with_lazy_rules_have_the_words_of_the_definition() {
    let texts = texts(6);
    let (mut read, mut refused) = (0, 0);
    each(300, 96, |choices| {
        let lazies: Vec<Leaf> = (0..1 + choices.below(2)).map(|_| *choices.pick(&LAZIES)).collect();
        let tree = tree(choices, &lazies, 3);
        let source = source(&tree, choices);
        let grammar = match compile(&source, &Options::default()) {
            Ok(compiled) => compiled.grammar,
            Err(error) => {
                let code = error.code();
                assert!(
                    matches!(
                        code,
                        "lark/lazy-crossed" | "lark/lazy-ambiguous" | "grammar/trigger-never-comes"
                    ),
                    "{error}\n{source}"
                );
                refused += 1;
                return;
            }
        };
        read += 1;
        let (language, positions) = (Language::new(&grammar), Positions::new(&tree));
        for text in &texts {
            let (found, expected) = (language.accepts(text.as_bytes()), positions.accepts(text));
            assert_eq!(found, expected, "{text:?}\n{source}\n{grammar}");
        }
    });
    assert!(read * 3 > refused, "{read} read, {refused} refused");
}

fn text() -> Tree {
    Tree::Leaf(Leaf::AnyText)
}

fn literal(text: &'static str) -> Tree {
    Tree::Leaf(Leaf::Literal(text))
}

fn repeat(body: Tree, mark: &'static str) -> Tree {
    Tree::Repeat(Box::new(body), mark)
}

/// Returns a call: any text up to a string, followed by a letter.
fn until(string: &'static str, letter: &'static str) -> Tree {
    Tree::Sequence(vec![Tree::Leaf(Leaf::Until(string)), literal(letter)])
}

/// Texts that are next to texts and to calls can be read, unless they are in rules of their own.
#[test]
fn texts_next_to_texts_and_calls_are_one() {
    use Tree::{Choice, Sequence};
    let call = || until("ab", "c");
    let other = || until("bca", "a");
    let trees = [
        repeat(Choice(vec![call(), text()]), "*"),
        repeat(Choice(vec![text(), call(), other()]), "+"),
        repeat(Choice(vec![call(), text(), literal("c")]), "*"),
        Sequence(vec![repeat(Choice(vec![call(), text()]), "*"), text()]),
        Sequence(vec![repeat(Choice(vec![call(), text()]), "*"), literal("cc")]),
        Sequence(vec![repeat(Choice(vec![Choice(vec![call(), other()]), text()]), "*"), repeat(call(), "?")]),
        Sequence(vec![text(), call()]),
        Sequence(vec![text(), call(), text(), other(), text()]),
        Sequence(vec![text(), repeat(call(), "?")]),
        Sequence(vec![text(), repeat(call(), "*"), text()]),
        Sequence(vec![text(), text(), repeat(call(), "?")]),
        Sequence(vec![repeat(call(), "*"), repeat(text(), "?"), repeat(other(), "?")]),
        repeat(Choice(vec![call(), Sequence(vec![text(), literal("cc")])]), "*"),
        Sequence(vec![text(), text(), repeat(call(), "+")]),
        Sequence(vec![text(), repeat(Sequence(vec![call(), text()]), "*")]),
        repeat(Sequence(vec![text(), call()]), "*"),
        Sequence(vec![repeat(Sequence(vec![call(), text()]), "+"), literal("c")]),
        repeat(Choice(vec![Sequence(vec![call(), text()]), text()]), "*"),
    ];
    let texts = texts(7);
    for tree in trees {
        let positions = Positions::new(&tree);
        for named in [[99; 64], [0; 64], std::array::from_fn(|place| if place % 3 == 1 { 99 } else { 0 })] {
            let source = source(&tree, &mut Choices::new(&named));
            let grammar = match compile(&source, &Options::default()) {
                Ok(compiled) => compiled.grammar,
                // a grammar is refused if texts in rules of their own follow each other
                Err(error) if error.code().starts_with("lark/lazy-") && source.contains("\nr1: ") => continue,
                Err(error) => panic!("{error}\n{source}"),
            };
            let language = Language::new(&grammar);
            for text in &texts {
                let expected = positions.accepts(text);
                assert_eq!(language.accepts(text.as_bytes()), expected, "{text:?}\n{source}");
            }
        }
    }
}

/// If a word of a lazy rule may begin in one lexeme and end in the next one, the grammar is refused, unless the bytes
/// of the two lexemes exclude this.
#[test]
fn words_of_lazy_rules_across_lexemes_are_errors() {
    let crossed = Err("lark/lazy-crossed");
    let read = |start: &str, head: &str, ignored: &str| {
        let source = format!(
            "start: {start}\nhead[lazy]: {head}\ncall: head \"1\"\nWORD: /[a-z<>]+/\nLETTERS: /[a-z]+/\n\
             TEXT: /(.|\\n)*/\n{ignored}"
        );
        compile(&source, &Options::default()).map(|_| ()).map_err(|error| error.code())
    };
    let head = "TEXT \"<call>\"";
    for (start, head, ignored, expected) in [
        ("call* TEXT?", head, "", Ok(())),
        ("call* TEXT?", head, "%ignore \" \"", Ok(())),
        ("call* TEXT?", head, "%ignore /[ac<>l]/", Err("lark/lazy-ignored")),
        ("(call | WORD | \" \")*", head, "", crossed),
        ("(call | LETTERS | \" \")*", head, "", Ok(())),
        ("(call | \"<\" | LETTERS)*", head, "", crossed),
        ("(call | \"<\" | \" \")*", head, "", crossed),
        ("(call | \"-\" | \" \")*", head, "", Ok(())),
        ("(call | TEXT \"\\n\")*", head, "", Ok(())),
        ("(call | TEXT \"a\")*", head, "", crossed),
        ("call | TEXT \"\\n\"", "TEXT \"<call>\\n\"", "", crossed),
        ("(call | WORD)*", "\"<call>\"", "", crossed),
        ("(call | LETTERS)*", "\"<call>\"", "", Ok(())),
        ("(call | LETTERS)*", "/[a-z]+1/", "", crossed),
        ("(call | LETTERS \";\")*", "/[a-z]+1/", "", Ok(())),
        ("(call | TEXT){2,5}", head, "", crossed),
    ] {
        assert_eq!(read(start, head, ignored), expected, "{start} {head} {ignored}");
    }
}

/// Joining texts and comparing adjacent lexemes takes time that is linear in the size of the grammar.
#[test]
fn many_parts_beside_a_lazy_rule_take_little_time() {
    let count = 3_000;
    let names: Vec<String> = (0..count).map(|rule| format!("r{rule}")).collect();
    let rules: String =
        (0..count).map(|rule| format!("r{rule}: \"{rule}\" [r{}]\n", (rule + 1) % count)).collect();
    let repeats: String =
        (0..count).map(|rule| format!("s{rule}: \"{rule}\" all* s{}*\n", (rule + 1) % count)).collect();
    let source = format!(
        "start: (call | all | TEXT)* \".\" s0\nall: {}\n{rules}{repeats}call[lazy]: TEXT \"<call>\"\nTEXT: /(.|\\n)*/\n",
        names.join(" | ")
    );
    let grammar = compile(&source, &Options::default()).unwrap().grammar;
    assert!(grammar.rules().len() < 8 * count, "{}", grammar.rules().len());
}
