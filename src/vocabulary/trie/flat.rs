//! A trie as words, for files. All other data of a trie are derived from the words, so any accepted words give a valid
//! trie.
//!
//! Each node is one word, in preorder: its byte, plus 256 if tokens end at it, plus 65,536 times its depth. Each token
//! is one word, in the same order; the last token of a node has the highest bit set.

use super::{Arrays, NONE, Node, SEVERAL, TokenTrie};
use crate::vocabulary::TokenId;

/// Flag of a node: tokens end at it.
const ENDS: u32 = 1 << 8;

/// Flag of a token: it is the last one of its node.
const LAST: u32 = 1 << 31;

impl TokenTrie {
    /// The words of the nodes and of the tokens; `None` if a node has a depth of 65,535 or more, or a token has an id
    /// of 2^31 or more.
    pub(crate) fn to_words(&self) -> Option<[Vec<u32>; 2]> {
        let (mut nodes, mut tokens) =
            (Vec::with_capacity(self.nodes.len()), Vec::with_capacity(self.tokens.len()));
        for (id, node) in self.nodes.iter().enumerate() {
            let ending = self.tokens(id as u32);
            let flag = if ending.is_empty() { 0 } else { ENDS };
            nodes.push(u32::from(node.byte) | flag | u32::from(node.depth) << 16);
            tokens.extend(ending.iter().map(|token| token.get()));
            if let (Some(last), false) = (tokens.last_mut(), ending.is_empty()) {
                *last |= LAST;
            }
        }
        let is_spelled = self.nodes.iter().all(|node| node.depth < Node::DEEP)
            && self.tokens.iter().all(|token| token.get() < LAST);
        is_spelled.then_some([nodes, tokens])
    }

    /// Decodes a trie whose tokens are below `width`; `None` if a token is not, or if the words are not the words of a
    /// trie.
    pub(crate) fn from_words(nodes: &[[u8; 4]], tokens: &[[u8; 4]], width: usize) -> Option<TokenTrie> {
        let count = nodes.len();
        let mut trie = Arrays::with_capacity(count, tokens.len());
        let mut parents: Vec<u32> = Vec::with_capacity(count);
        let mut child_counts: Vec<u32> = vec![0; count];
        // the nodes from the root to the current one
        let mut path: Vec<u32> = Vec::new();
        let mut tokens = tokens.iter().map(|&token| u32::from_le_bytes(token));
        for (id, &node) in nodes.iter().enumerate() {
            let word = u32::from_le_bytes(node);
            let (byte, depth) = (word as u8, (word >> 16) as u16);
            // the node must be a child of the last node, or a sibling of the last node or of an ancestor; only the root
            // has depth 0
            if usize::from(depth) > path.len() || (depth == 0) != (id == 0) || word & 0xfe00 != 0 {
                return None;
            }
            path.drain(usize::from(depth)..).for_each(|closed| trie.nodes[closed as usize].end = id as u32);
            let parent = path.last().copied().unwrap_or(NONE);
            parents.push(parent);
            if let Some(count) = child_counts.get_mut(parent as usize) {
                *count += 1;
            }
            path.push(id as u32);
            let first = trie.tokens.len();
            trie.token_starts.push(first as u32);
            if word & ENDS != 0 {
                loop {
                    let token = tokens.next()?;
                    let id = token & !LAST;
                    if id as usize >= width {
                        return None;
                    }
                    trie.tokens.push(TokenId::new(id));
                    if token & LAST != 0 {
                        break;
                    }
                }
            }
            let token = super::ending(&trie.tokens[first..]);
            trie.nodes.push(Node { token, end: 0, depth, byte, leaves: 0 });
        }
        path.iter().for_each(|&open| trie.nodes[open as usize].end = count as u32);
        if tokens.next().is_some() || count == 0 {
            return None;
        }
        trie.token_starts.push(trie.tokens.len() as u32);
        let mut start = 0;
        for &count in &child_counts {
            trie.child_starts.push(start);
            start += count;
        }
        trie.child_starts.push(start);
        let mut next = trie.child_starts.clone();
        trie.children = vec![0; start as usize];
        for (id, &parent) in (0..).zip(&parents).skip(1) {
            let place = &mut next[parent as usize];
            trie.children[*place as usize] = id;
            *place += 1;
        }
        trie.sort_children().then(|| trie.finish())
    }
}

impl Arrays {
    /// Sorts the children of each node, which are in the order of their ids, by byte, and counts the leaves directly
    /// after each node. False if two children have the same byte, or if a leaf other than the root has no token.
    fn sort_children(&mut self) -> bool {
        let is_leaf = |node: &Node, id: u32| node.end == id + 1;
        for id in 0..self.nodes.len() {
            let children = self.child_starts[id] as usize..self.child_starts[id + 1] as usize;
            let children = &mut self.children[children];
            if id > 0 && children.is_empty() && self.nodes[id].token == NONE {
                return false;
            }
            let leaves =
                children.iter().enumerate().take(usize::from(u8::MAX)).take_while(|&(at, &child)| {
                    let node = &self.nodes[child as usize];
                    // leaves with one token come first, contiguously
                    child as usize == id + 1 + at && is_leaf(node, child) && node.token < SEVERAL
                });
            self.nodes[id].leaves = leaves.count() as u8;
            let byte = |child: &u32| self.nodes[*child as usize].byte;
            if !children.is_sorted_by_key(byte) {
                children.sort_unstable_by_key(byte);
            }
            if children.windows(2).any(|two| byte(&two[0]) == byte(&two[1])) {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<[u8; 4]> {
        words.iter().map(|word| word.to_le_bytes()).collect()
    }

    /// Everything that a trie stores, as text.
    fn all(trie: &TokenTrie) -> String {
        let nodes = (0..trie.node_count() as u32).map(|id| {
            let Node { token, end, depth, byte, leaves } = trie.nodes[id as usize];
            let steps: Vec<_> =
                trie.steps(id).iter().map(|step| (step.node, step.token, step.byte, step.is_leaf)).collect();
            format!("{token} {end} {depth} {byte} {leaves} {:?} {steps:?}\n", trie.tokens(id))
        });
        nodes.chain([format!("{:?}", trie.first)]).collect()
    }

    #[test]
    fn tries_come_back_and_whatever_words_say_is_a_trie_or_nothing() {
        let mut seed = 7u64;
        let mut draw = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let (mut good, mut bad) = (0, 0);
        for letters in [1, 2, 3, 40, 256] {
            let mut strings: Vec<(Vec<u8>, TokenId)> = (0..300)
                .map(|id| ((0..1 + draw(5)).map(|_| draw(letters) as u8).collect(), TokenId::new(id)))
                .collect();
            strings.extend((0..=255).map(|byte| (vec![b'x', byte], TokenId::new(300 + u32::from(byte)))));
            strings.sort();
            let strings: Vec<(&[u8], TokenId)> = strings.iter().map(|(text, id)| (&text[..], *id)).collect();
            let trie = TokenTrie::from_sorted(&strings);
            let [nodes, tokens] = trie.to_words().unwrap();
            let [nodes, tokens] = [bytes(&nodes), bytes(&tokens)];
            assert_eq!(all(&TokenTrie::from_words(&nodes, &tokens, 556).unwrap()), all(&trie));
            assert!(TokenTrie::from_words(&nodes, &tokens, 555).is_none());
            for _ in 0..400 {
                let (mut nodes, mut tokens) = (nodes.clone(), tokens.clone());
                for _ in 0..1 + draw(3) {
                    let words = if draw(4) == 0 { &mut tokens } else { &mut nodes };
                    let at = draw(words.len());
                    words[at][draw(4)] ^= 1 << draw(8);
                }
                let Some(trie) = TokenTrie::from_words(&nodes, &tokens, 556) else {
                    bad += 1;
                    continue;
                };
                good += 1;
                for id in 0..trie.node_count() as u32 {
                    assert!(trie.subtree_end(id) > id);
                    for child in trie.children(id) {
                        assert!(child > id && trie.subtree_end(child) <= trie.subtree_end(id));
                        assert_eq!(trie.child(id, trie.byte(child)), Some(child));
                    }
                    assert!(trie.leaves(id).0.iter().all(|leaf| leaf.token < SEVERAL));
                }
            }
        }
        assert!(good > 100 && bad > 100, "{good} {bad}");
        for nothing in [&[][..], &[1 << 16], &[0, 0], &[0, 2 << 16], &[0, 1 << 16], &[0, 1 << 16 | 0x300]] {
            assert!(TokenTrie::from_words(&bytes(nothing), &[], 9).is_none(), "{nothing:?}");
        }
        assert!(TokenTrie::from_words(&bytes(&[0]), &[], 9).is_some());
    }
}
