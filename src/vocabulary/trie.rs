//! The token trie: the prefix tree of all tokens' bytes, flat in memory.
//!
//! Nodes are numbered in depth-first preorder, children in the order of their bytes; the root is node 0.
//! So a subtree is the range `node..subtree_end(node)`: a walk needs no recursion, and to skip a subtree
//! is to jump to its end. Tokens are stored in the same order, so that the tokens in a subtree are one
//! slice as well. For each node its children are also listed by id, for look-ups by byte: a walk may go
//! from an automaton's few allowed bytes to the children, not from all children to the automaton.

use super::{TokenId, Vocabulary};

/// No node: an entry of the root's table for a byte with which no token begins.
const NONE: u32 = u32::MAX;

/// The prefix tree of a vocabulary's tokens. Node ids are those that the methods hand out, from 0 to
/// [`node_count`](TokenTrie::node_count); other ids make the methods panic.
#[derive(Clone)]
pub struct TokenTrie {
    nodes: Box<[Node]>,
    /// `token_starts[n]..token_starts[n + 1]` are the tokens that end at node `n`.
    token_starts: Box<[u32]>,
    tokens: Box<[TokenId]>,
    /// `child_starts[n]..child_starts[n + 1]` are the children of node `n`.
    child_starts: Box<[u32]>,
    children: Box<[u32]>,
    /// The byte of each entry of `children`: siblings are tried without looking at their nodes.
    child_bytes: Box<[u8]>,
    /// What a walk asks of each entry of `children`, side by side.
    steps: Box<[ChildStep]>,
    /// The root's child by byte, or [`NONE`].
    first: Box<[u32; 256]>,
}

/// A node, in preorder: all that a walk straight through memory asks for.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    token: u32,
    /// The first node after its subtree.
    pub(crate) end: u32,
    /// How many bytes lead to it; [`Node::DEEP`] stands for more as well.
    pub(crate) depth: u16,
    pub(crate) byte: u8,
}

impl Node {
    /// Deeper nodes are not told apart by their depth.
    pub(crate) const DEEP: u16 = u16::MAX;
}

/// A child as a walk meets it.
#[derive(Clone, Copy)]
pub(crate) struct ChildStep {
    pub(crate) node: u32,
    token: u32,
    pub(crate) byte: u8,
    pub(crate) is_leaf: bool,
}

/// In place of a token: the node has several.
const SEVERAL: u32 = u32::MAX - 1;

impl ChildStep {
    /// The tokens that end at the child.
    #[inline]
    pub(crate) fn tokens<'t>(&self, trie: &'t TokenTrie) -> EndingTokens<'t> {
        trie.ending(self.node, self.token)
    }
}

/// The tokens that end at a node.
pub(crate) enum EndingTokens<'t> {
    None,
    One(u32),
    Several(&'t [TokenId]),
}

impl TokenTrie {
    /// The trie of a vocabulary's ordinary tokens. [`Vocabulary::trie`] has it already.
    pub fn new(vocabulary: &Vocabulary) -> TokenTrie {
        TokenTrie::from_arena(&vocabulary.arena, &vocabulary.offsets)
    }

    /// The trie of the tokens whose bytes are `arena[offsets[id]..offsets[id + 1]]`, empty ones left out.
    pub(super) fn from_arena(arena: &[u8], offsets: &[u32]) -> TokenTrie {
        let bytes_of = |id: u32| &arena[offsets[id as usize] as usize..offsets[id as usize + 1] as usize];
        let mut sorted: Vec<(u64, u32)> = (0..offsets.len() as u32 - 1)
            .filter(|&id| !bytes_of(id).is_empty())
            .map(|id| (sort_key(bytes_of(id)), id))
            .collect();
        // the keys decide most comparisons without looking at the arena
        sorted.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| bytes_of(a.1).cmp(bytes_of(b.1))).then(a.1.cmp(&b.1))
        });
        let mut building = Building::new(sorted.len());
        for &(_, id) in &sorted {
            building.insert(bytes_of(id), TokenId::new(id));
        }
        building.finish()
    }

    /// The trie of byte strings in order, each with its token.
    pub(crate) fn from_sorted(strings: &[(&[u8], TokenId)]) -> TokenTrie {
        let mut building = Building::new(strings.len());
        for &(bytes, token) in strings {
            building.insert(bytes, token);
        }
        building.finish()
    }

    /// The root: the empty prefix.
    pub fn root(&self) -> u32 {
        0
    }

    /// The number of nodes, the root among them.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, in preorder.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The tokens that end at a node, which is among all nodes.
    #[inline]
    pub(crate) fn tokens_at(&self, node: u32, known: &Node) -> EndingTokens<'_> {
        self.ending(node, known.token)
    }

    #[inline]
    fn ending(&self, node: u32, token: u32) -> EndingTokens<'_> {
        match token {
            NONE => EndingTokens::None,
            SEVERAL => EndingTokens::Several(self.tokens(node)),
            token => EndingTokens::One(token),
        }
    }

    /// The byte that leads to `node` from its parent; 0 for the root.
    pub fn byte(&self, node: u32) -> u8 {
        self.nodes[node as usize].byte
    }

    /// The first node after the subtree of `node` in preorder; the number of nodes if there is none.
    pub fn subtree_end(&self, node: u32) -> u32 {
        self.nodes[node as usize].end
    }

    /// The children of `node`, sorted by byte.
    pub fn children(&self, node: u32) -> &[u32] {
        let node = node as usize;
        &self.children[self.child_starts[node] as usize..self.child_starts[node + 1] as usize]
    }

    /// The children of `node` as a walk meets them, in the same order.
    #[inline]
    pub(crate) fn steps(&self, node: u32) -> &[ChildStep] {
        let node = node as usize;
        &self.steps[self.child_starts[node] as usize..self.child_starts[node + 1] as usize]
    }

    /// The bytes that lead to the children of `node`, in the same order.
    pub fn child_bytes(&self, node: u32) -> &[u8] {
        let node = node as usize;
        &self.child_bytes[self.child_starts[node] as usize..self.child_starts[node + 1] as usize]
    }

    /// The child of `node` for `byte`: a table look-up at the root, a binary search elsewhere.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 {
            let child = self.first[byte as usize];
            return (child != NONE).then_some(child);
        }
        let at = self.child_bytes(node).binary_search(&byte).ok()?;
        Some(self.children(node)[at])
    }

    /// The tokens whose bytes are exactly the path to `node`, by id; most often one or none.
    pub fn tokens(&self, node: u32) -> &[TokenId] {
        let node = node as usize;
        &self.tokens[self.token_starts[node] as usize..self.token_starts[node + 1] as usize]
    }

    /// The tokens of `node` and of all nodes below it, in preorder.
    pub fn subtree_tokens(&self, node: u32) -> &[TokenId] {
        let end = self.subtree_end(node) as usize;
        &self.tokens[self.token_starts[node as usize] as usize..self.token_starts[end] as usize]
    }

    /// The tokens of all nodes below `node`, in preorder.
    pub(crate) fn tokens_below(&self, node: u32) -> &[TokenId] {
        let end = self.subtree_end(node) as usize;
        &self.tokens[self.token_starts[node as usize + 1] as usize..self.token_starts[end] as usize]
    }

    /// The longest token that `bytes` begins with, and its length; the lowest id among equal ones.
    pub fn longest_prefix(&self, bytes: &[u8]) -> Option<(TokenId, usize)> {
        let mut node = self.root();
        let mut longest = None;
        for (depth, &byte) in bytes.iter().enumerate() {
            let Some(child) = self.child(node, byte) else { break };
            node = child;
            if let Some(&token) = self.tokens(node).first() {
                longest = Some((token, depth + 1));
            }
        }
        longest
    }

    /// Memory held, in bytes: some 40 a node and 4 a token.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.token_starts)
            + size_of_val(&*self.tokens)
            + size_of_val(&*self.child_starts)
            + size_of_val(&*self.children)
            + self.child_bytes.len()
            + size_of_val(&*self.steps)
            + size_of_val(&*self.first)
    }
}

impl std::fmt::Debug for TokenTrie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenTrie")
            .field("nodes", &self.node_count())
            .field("tokens", &self.tokens.len())
            .finish_non_exhaustive()
    }
}

/// The first eight bytes as a number that sorts as they do, short ones filled up with zeros.
fn sort_key(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    for (to, &from) in key.iter_mut().zip(bytes) {
        *to = from;
    }
    u64::from_be_bytes(key)
}

/// The trie while sorted tokens are inserted: each new node gets the next id, which makes preorder.
struct Building {
    bytes: Vec<u8>,
    parents: Vec<u32>,
    depths: Vec<u16>,
    subtree_ends: Vec<u32>,
    token_starts: Vec<u32>,
    tokens: Vec<TokenId>,
    /// The nodes from the root to the last token.
    path: Vec<u32>,
    /// The last token's bytes.
    last: Vec<u8>,
}

impl Building {
    fn new(tokens: usize) -> Building {
        let nodes = 2 * tokens + 1;
        let mut building = Building {
            bytes: Vec::with_capacity(nodes),
            parents: Vec::with_capacity(nodes),
            depths: Vec::with_capacity(nodes),
            subtree_ends: Vec::with_capacity(nodes),
            token_starts: Vec::with_capacity(nodes + 1),
            tokens: Vec::with_capacity(tokens),
            path: Vec::new(),
            last: Vec::new(),
        };
        building.push_node(0, 0);
        building
    }

    fn push_node(&mut self, byte: u8, parent: u32) -> u32 {
        let node = self.bytes.len() as u32;
        self.bytes.push(byte);
        self.parents.push(parent);
        self.depths.push(u16::try_from(self.path.len()).unwrap_or(Node::DEEP));
        self.subtree_ends.push(NONE);
        self.token_starts.push(self.tokens.len() as u32);
        self.path.push(node);
        node
    }

    /// Inserts a token that is not less than the last one.
    fn insert(&mut self, bytes: &[u8], token: TokenId) {
        let common = self.last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        self.close(common);
        let mut parent = self.path[common];
        for &byte in &bytes[common..] {
            parent = self.push_node(byte, parent);
        }
        self.tokens.push(token);
        self.last.truncate(common);
        self.last.extend_from_slice(&bytes[common..]);
    }

    /// Ends the subtrees of the path's nodes that are deeper than `depth`.
    fn close(&mut self, depth: usize) {
        let end = self.bytes.len() as u32;
        for node in self.path.drain(depth + 1..) {
            self.subtree_ends[node as usize] = end;
        }
    }

    fn finish(mut self) -> TokenTrie {
        self.close(0);
        let nodes = self.bytes.len();
        self.subtree_ends[0] = nodes as u32;
        self.token_starts.push(self.tokens.len() as u32);
        // counting sort of the nodes by parent; equal parents keep preorder, which is the order of bytes
        let mut child_starts = vec![0u32; nodes + 1];
        for &parent in &self.parents[1..] {
            child_starts[parent as usize + 1] += 1;
        }
        for node in 0..nodes {
            child_starts[node + 1] += child_starts[node];
        }
        let mut next = child_starts.clone();
        let mut children = vec![0u32; nodes - 1];
        let mut first = Box::new([NONE; 256]);
        for node in 1..nodes {
            let parent = self.parents[node] as usize;
            children[next[parent] as usize] = node as u32;
            next[parent] += 1;
            if parent == 0 {
                first[self.bytes[node] as usize] = node as u32;
            }
        }
        let child_bytes = children.iter().map(|&child| self.bytes[child as usize]).collect();
        let token_of = |place: usize| match self.token_starts[place + 1] - self.token_starts[place] {
            0 => NONE,
            1 => self.tokens[self.token_starts[place] as usize].get(),
            _ => SEVERAL,
        };
        let step = |&node: &u32| {
            let place = node as usize;
            let is_leaf = self.subtree_ends[place] == node + 1;
            ChildStep { node, token: token_of(place), byte: self.bytes[place], is_leaf }
        };
        let steps = children.iter().map(step).collect();
        let node = |place: usize| Node {
            token: token_of(place),
            end: self.subtree_ends[place],
            depth: self.depths[place],
            byte: self.bytes[place],
        };
        TokenTrie {
            nodes: (0..nodes).map(node).collect(),
            token_starts: self.token_starts.into(),
            tokens: self.tokens.into(),
            child_starts: child_starts.into(),
            children: children.into(),
            child_bytes,
            steps,
            first,
        }
    }
}
