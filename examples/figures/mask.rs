//! Draws how a mask is put together: the tokens of each residual, and those that continue after the residual returns.

use super::example::{Example, TEXT};
use super::svg::{Area, BLUE, GREEN, GREY, ORANGE, Svg, WHITE, grouped, show};
use grammata::automaton::anatomy::RegisterView;
use grammata::automaton::{Cache, ConfigurationId, Lazy};
use grammata::vocabulary::TokenTrie;
use grammata::{Result, TokenId};
use std::collections::BTreeSet;

/// The tokens of a residual, found by trying every token.
struct Part {
    /// Tokens that end within the residual. They are allowed for all stacks below the residual.
    inside: BTreeSet<TokenId>,
    /// Tokens within which the residual returns, and whose rest is allowed after the return.
    continued: BTreeSet<TokenId>,
    /// Tokens within which the residual returns, and whose rest is not allowed after the return.
    refused: BTreeSet<TokenId>,
    /// The register of the residual, in words.
    register: String,
    /// The number of trie nodes at which the residual returns before a token has ended.
    places: usize,
}

pub(crate) fn draw(example: &Example) -> Result<String> {
    let trie = example.vocabulary.trie();
    let mut cache = Cache::new();
    let mut lazy = Lazy::new(example.compiled.automaton(), &mut cache);
    let mut at = lazy.start()?;
    for byte in TEXT.bytes() {
        at = lazy.step(at, byte)?;
    }
    let residuals = lazy.residuals(at, example.longest)?;
    let mut parts = Vec::new();
    for residual in &residuals {
        parts.push(part(&mut lazy, trie, residual.configuration, residual.returned)?);
    }
    let mut mask = BTreeSet::new();
    parts.iter().for_each(|part| mask.extend(part.inside.iter().chain(&part.continued)));
    let mut matcher = example.compiled.matcher();
    matcher.accept_bytes(TEXT.as_bytes())?;
    assert_eq!(mask, matcher.mask()?.iter().collect(), "the parts are the mask");
    Ok(drawing(example, trie, &parts, mask.len()))
}

/// Walks the trie and a residual in lockstep. `returned` is the configuration after the residual has returned, if it
/// can.
fn part(
    lazy: &mut Lazy<'_>,
    trie: &TokenTrie,
    residual: ConfigurationId,
    returned: Option<ConfigurationId>,
) -> Result<Part> {
    let none = BTreeSet::new;
    let registers = lazy.anatomy(residual).stacks;
    let register = match registers.iter().flat_map(|set| &set.frames).map(|frame| &frame.register).next() {
        Some(RegisterView::Rounds(spans)) if spans[..] == [(0, None)] => "rounds saturated: any number",
        Some(_) => "its register stays with it",
        None => "no register",
    };
    let register = register.to_owned();
    let mut part = Part { inside: none(), continued: none(), refused: none(), register, places: 0 };
    let mut open = vec![(trie.root(), residual)];
    while let Some((node, at)) = open.pop() {
        part.inside.extend(trie.tokens(node));
        if let Some(returned) = returned.filter(|_| lazy.is_accepting(at)) {
            // tokens of this node end together with the residual
            let below: Vec<TokenId> = trie
                .subtree_tokens(node)
                .iter()
                .filter(|token| !trie.tokens(node).contains(token))
                .copied()
                .collect();
            part.places += usize::from(!below.is_empty());
            let mut after = vec![(node, returned)];
            while let Some((node, at)) = after.pop() {
                for child in trie.children(node) {
                    let next = lazy.step(at, trie.byte(child))?;
                    if next != ConfigurationId::DEAD {
                        part.continued.extend(trie.tokens(child));
                        after.push((child, next));
                    }
                }
            }
            part.refused.extend(below);
        }
        for child in trie.children(node) {
            let next = lazy.step(at, trie.byte(child))?;
            if next != ConfigurationId::DEAD {
                open.push((child, next));
            }
        }
    }
    part.refused.retain(|token| !part.inside.contains(token) && !part.continued.contains(token));
    Ok(part)
}

fn drawing(example: &Example, trie: &TokenTrie, parts: &[Part], allowed: usize) -> String {
    let mut svg = Svg::new(900, 110 + 130 * parts.len() as i32);
    let tokens = example.vocabulary.width();
    let trie_lines = [
        "*token trie".to_owned(),
        format!("{} tokens", grouped(tokens)),
        format!("{} nodes", grouped(trie.node_count())),
    ];
    // up to seven tokens of a set with printable texts, evenly spread over the vocabulary
    let list = |set: &BTreeSet<TokenId>| {
        let texts: Vec<String> = set
            .iter()
            .filter_map(|&token| example.vocabulary.bytes(token))
            .filter(|bytes| bytes.len() < 8 && bytes.iter().all(|byte| (b' '..=b'~').contains(byte)))
            .map(show)
            .collect();
        let (mut line, shown) = ("`".to_owned(), texts.len().min(7));
        for place in 0..shown {
            let text = &texts[place * texts.len() / shown];
            if line.chars().count() + text.chars().count() < 32 {
                line.push_str(text);
                line.push_str("  ");
            }
        }
        line
    };
    let some =
        |count: usize, of: &str| format!("{} {of}{}", grouped(count), if count == 1 { "" } else { "s" });
    svg.text(16, 24, &format!("`after  {TEXT}"));
    let trie_area = Area { x: 16, y: 40, width: 130, height: 62 };
    svg.area(trie_area, GREY, &trie_lines);
    let whole = Area { x: 745, y: 40, width: 144, height: 62 };
    svg.area(
        whole,
        ORANGE,
        &["*mask".to_owned(), format!("{} tokens of", grouped(allowed)), grouped(tokens)],
    );
    for (number, part) in parts.iter().enumerate() {
        let y = 124 + 130 * number as i32;
        let record = Area { x: 180, y, width: 250, height: 96 };
        let lines = [
            format!("*record of residual {}", number + 1),
            some(part.inside.len(), "token") + " inside",
            list(&part.inside),
            part.register.clone(),
            "returns within tokens at ".to_owned() + &some(part.places, "node"),
        ];
        svg.area(record, BLUE, &lines);
        let after = Area { x: 452, y, width: 278, height: 96 };
        let lines = [
            "*continuations: the rest of a token".to_owned(),
            some(part.continued.len(), "token") + " allowed",
            list(&part.continued),
            some(part.refused.len(), "token") + " refused",
            list(&part.refused),
        ];
        svg.area(after, if part.continued.is_empty() { WHITE } else { GREEN }, &lines);
        svg.arrow(trie_area.bottom(), record.left(), true);
        svg.arrow(record.right(), after.left(), false);
        svg.arrow(after.right(), whole.bottom(), false);
    }
    svg.finish()
}
