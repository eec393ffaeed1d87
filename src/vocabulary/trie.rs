//! The token trie: the prefix tree of all tokens' bytes, flat in memory.
//!
//! Nodes are numbered in depth-first preorder; the root is node 0. So a subtree is the range `node..subtree_end(node)`:
//! a walk needs no recursion, and skips a subtree by jumping to its end. Tokens are stored in the same order, so the
//! tokens of a subtree are one slice. A third of all nodes are leaves at which one token ends. Among the children of a
//! node, up to 255 such leaves come first: they are contiguous, and a walk processes them together. Each node also has
//! a list of its children by byte, for lookups from an automaton's few allowed bytes.

mod flat;

use super::{TokenId, Vocabulary};
use crate::error::Result;
use crate::limits::{LimitKind, Limits};

/// Marks an absent node or token: a byte that no token begins with, or a node at which no token ends.
const NONE: u32 = u32::MAX;

/// The prefix tree of a vocabulary's tokens. Valid node ids are 0 to [`node_count`](TokenTrie::node_count) exclusive;
/// other ids make the methods panic.
#[derive(Clone)]
pub struct TokenTrie {
    nodes: Box<[Node]>,
    /// `token_starts[n]..token_starts[n + 1]` are the tokens that end at node `n`.
    token_starts: Box<[u32]>,
    tokens: Box<[TokenId]>,
    /// `steps[child_starts[n]..child_starts[n + 1]]` are the children of node `n`, sorted by byte.
    child_starts: Box<[u32]>,
    steps: Box<[ChildStep]>,
    /// The root's child by byte, or [`NONE`].
    first: Box<[u32; 256]>,
}

/// The bytes that the limit `trie_bytes` counts per node; a node, its entry among the children of its parent and one
/// token take at most 36.
const NODE_BYTES: usize = 39;

/// Fails if tries with this number of nodes would exceed `trie_bytes`. `prefixes` is the number of distinct prefixes of
/// tokens, for the message.
///
/// # Errors
/// The limit `trie_bytes`.
pub(crate) fn check_nodes(nodes: usize, prefixes: usize, limits: &Limits) -> Result<()> {
    match nodes.saturating_mul(NODE_BYTES) {
        bytes if bytes <= limits.trie_bytes => Ok(()),
        bytes => {
            let found = format!("{prefixes} different prefixes of tokens, some {bytes} bytes of tries");
            Err(Limits::exceeded(LimitKind::TrieBytes, limits.trie_bytes, found))
        }
    }
}

/// A node, in preorder: everything that a sequential walk reads.
#[derive(Clone, Copy)]
pub(crate) struct Node {
    pub(crate) token: u32,
    /// The first node after the subtree of the node, or the number of nodes.
    pub(crate) end: u32,
    /// The number of bytes from the root; [`Node::DEEP`] also represents larger depths.
    pub(crate) depth: u16,
    pub(crate) byte: u8,
    /// How many nodes directly after the node are children of it and leaves with one token each; at most 255 are
    /// counted.
    leaves: u8,
}

impl Node {
    /// The largest depth stored; deeper nodes have it as their depth, too.
    pub(crate) const DEEP: u16 = u16::MAX;

    /// Whether [leaves](TokenTrie::leaves) directly follow the node.
    #[inline]
    pub(crate) fn has_leaves(&self) -> bool {
        self.leaves > 0
    }
}

/// A child of a node, with everything that a walk by children reads.
#[derive(Clone, Copy)]
pub(crate) struct ChildStep {
    pub(crate) node: u32,
    token: u32,
    pub(crate) byte: u8,
    pub(crate) is_leaf: bool,
}

/// Replaces the token id of a node at which several tokens end.
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
    /// Builds the trie of a vocabulary's ordinary tokens. [`Vocabulary::trie`] already has it.
    pub fn new(vocabulary: &Vocabulary) -> TokenTrie {
        TokenTrie::from_arena(&vocabulary.arena, &vocabulary.offsets)
    }

    /// Builds the trie of the tokens with the bytes `arena[offsets[id]..offsets[id + 1]]`, without the tokens that have
    /// no bytes.
    pub(super) fn from_arena(arena: &[u8], offsets: &[u32]) -> TokenTrie {
        TokenTrie::from_order(arena, offsets, &order(arena, offsets))
    }

    /// Like [`from_arena`](TokenTrie::from_arena), given the ids of the tokens in the [order] of their bytes.
    pub(super) fn from_order(arena: &[u8], offsets: &[u32], order: &[u32]) -> TokenTrie {
        let mut building = Building::new(order.len());
        for &id in order {
            building.insert(bytes_of(arena, offsets, id), TokenId::new(id));
        }
        building.finish()
    }

    /// Builds the trie of sorted byte strings, each with its token.
    pub(crate) fn from_sorted(strings: &[(&[u8], TokenId)]) -> TokenTrie {
        let mut building = Building::new(strings.len());
        for &(bytes, token) in strings {
            building.insert(bytes, token);
        }
        building.finish()
    }

    /// The root, which is the node of the empty prefix.
    pub fn root(&self) -> u32 {
        0
    }

    /// The number of nodes, including the root: one more than the number of distinct non-empty prefixes of tokens.
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes, in preorder.
    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The leaves directly after a node, at most 255, which are its children and have one token each, and the id of the
    /// node after them.
    #[inline]
    pub(crate) fn leaves(&self, node: u32) -> (&[Node], u32) {
        let first = node + 1;
        let end = first + u32::from(self.nodes[node as usize].leaves);
        (&self.nodes[first as usize..end as usize], end)
    }

    /// The tokens that end at node `node`, given its entry in [`nodes`](TokenTrie::nodes).
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
    pub fn children(
        &self,
        node: u32,
    ) -> impl ExactSizeIterator<Item = u32> + DoubleEndedIterator + Clone + '_ {
        self.steps(node).iter().map(|step| step.node)
    }

    /// The children of `node` with the data that a walk reads, sorted by byte.
    #[inline]
    pub(crate) fn steps(&self, node: u32) -> &[ChildStep] {
        let node = node as usize;
        &self.steps[self.child_starts[node] as usize..self.child_starts[node + 1] as usize]
    }

    /// The child of `node` for `byte`, if there is one: a table lookup at the root, a binary search elsewhere.
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == 0 {
            let child = self.first[byte as usize];
            return (child != NONE).then_some(child);
        }
        let steps = self.steps(node);
        let at = steps.binary_search_by_key(&byte, |step| step.byte).ok()?;
        Some(steps[at].node)
    }

    /// The tokens whose bytes are exactly the path to `node`, by id; usually at most one.
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

    /// The longest token that is a prefix of `bytes`, and its length in bytes; the lowest id among equal tokens. `None`
    /// if no token is a prefix.
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

    /// Memory held, in bytes: 32 per node, 4 per token, a table of 1 KiB, and fewer than 200 more.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.nodes)
            + size_of_val(&*self.token_starts)
            + size_of_val(&*self.tokens)
            + size_of_val(&*self.child_starts)
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

fn bytes_of<'a>(arena: &'a [u8], offsets: &[u32], id: u32) -> &'a [u8] {
    &arena[offsets[id as usize] as usize..offsets[id as usize + 1] as usize]
}

/// The ids of the tokens with bytes, sorted by bytes and then by id.
pub(super) fn order(arena: &[u8], offsets: &[u32]) -> Vec<u32> {
    let bytes_of = |id: u32| bytes_of(arena, offsets, id);
    let mut sorted: Vec<(u64, u32)> = (0..offsets.len() as u32 - 1)
        .filter(|&id| !bytes_of(id).is_empty())
        .map(|id| (sort_key(bytes_of(id)), id))
        .collect();
    // the keys decide most comparisons without reading the arena
    sorted.sort_unstable_by(|a, b| {
        a.0.cmp(&b.0).then_with(|| bytes_of(a.1).cmp(bytes_of(b.1))).then(a.1.cmp(&b.1))
    });
    sorted.into_iter().map(|(_, id)| id).collect()
}

/// The number of nodes of the trie of tokens in the [order] of their bytes: the root, and one per distinct prefix.
pub(super) fn count_nodes(arena: &[u8], offsets: &[u32], order: &[u32]) -> usize {
    let (mut nodes, mut last): (usize, &[u8]) = (1, &[]);
    for &id in order {
        let bytes = bytes_of(arena, offsets, id);
        let common = last.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        nodes += bytes.len() - common;
        last = bytes;
    }
    nodes
}

/// The first eight bytes as a big-endian number, short strings padded with zeros. Different keys sort like their bytes;
/// different bytes may have equal keys.
pub(crate) fn sort_key(bytes: &[u8]) -> u64 {
    let mut key = [0; 8];
    for (to, &from) in key.iter_mut().zip(bytes) {
        *to = from;
    }
    u64::from_be_bytes(key)
}

/// A trie under construction, from sorted tokens: each new node gets the next id, which gives preorder.
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

    /// Inserts a token whose bytes are not less than the bytes of the last inserted token.
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

    /// Removes the nodes deeper than `depth` from the path and ends their subtrees.
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
        let (starts, sorted) = self.children();
        let Numbers { new, leaves } = self.numbers(&starts, &sorted);
        let mut old = vec![0u32; nodes];
        (0..).zip(&new).for_each(|(node, &number)| old[number as usize] = node);
        let mut trie = Arrays::with_capacity(nodes, self.tokens.len());
        for (&node, number) in old.iter().zip(0..) {
            let place = node as usize;
            let tokens =
                &self.tokens[self.token_starts[place] as usize..self.token_starts[place + 1] as usize];
            trie.nodes.push(Node {
                token: ending(tokens),
                end: number + self.subtree_ends[place] - node,
                depth: self.depths[place],
                byte: self.bytes[place],
                leaves: leaves[place],
            });
            trie.token_starts.push(trie.tokens.len() as u32);
            trie.tokens.extend_from_slice(tokens);
            trie.child_starts.push(trie.children.len() as u32);
            let children = &sorted[starts[place] as usize..starts[place + 1] as usize];
            trie.children.extend(children.iter().map(|&child| new[child as usize]));
        }
        trie.token_starts.push(trie.tokens.len() as u32);
        trie.child_starts.push(trie.children.len() as u32);
        trie.finish()
    }

    /// The `child_starts` and children of the trie: the children of each node in the order of their bytes.
    fn children(&self) -> (Vec<u32>, Vec<u32>) {
        // counting sort of the nodes by parent; children of one parent keep the order of insertion, which is the order
        // of their bytes
        let nodes = self.bytes.len();
        let mut starts = vec![0u32; nodes + 1];
        for &parent in &self.parents[1..] {
            starts[parent as usize + 1] += 1;
        }
        for node in 0..nodes {
            starts[node + 1] += starts[node];
        }
        let mut next = starts.clone();
        let mut children = vec![0u32; nodes - 1];
        for node in 1..nodes {
            let next = &mut next[self.parents[node] as usize];
            children[*next as usize] = node as u32;
            *next += 1;
        }
        (starts, children)
    }

    /// Renumbers the nodes so that up to 255 leaves with one token come before their siblings.
    fn numbers(&self, starts: &[u32], children: &[u32]) -> Numbers {
        let nodes = self.bytes.len();
        let (mut new, mut leaves) = (vec![0u32; nodes], vec![0u8; nodes]);
        let size = |node: u32| self.subtree_ends[node as usize] - node;
        let tokens = |node: usize| self.token_starts[node + 1] - self.token_starts[node];
        // parents come before their children
        for node in 0..nodes {
            let children = &children[starts[node] as usize..starts[node + 1] as usize];
            let is_leaf = |&&child: &&u32| size(child) == 1 && tokens(child as usize) == 1;
            let mut next = new[node] + 1;
            for &leaf in children.iter().filter(is_leaf).take(usize::from(u8::MAX)) {
                new[leaf as usize] = next;
                leaves[node] += 1;
                next += 1;
            }
            for &child in children {
                if new[child as usize] == 0 {
                    new[child as usize] = next;
                    next += size(child);
                }
            }
        }
        Numbers { new, leaves }
    }
}

/// The result of renumbering the nodes of a [`Building`].
struct Numbers {
    /// The new id of each node.
    new: Vec<u32>,
    /// For each node, how many of its children are among [`TokenTrie::leaves`].
    leaves: Vec<u8>,
}

/// Encodes the tokens of a node: the token, [`NONE`] or [`SEVERAL`].
fn ending(tokens: &[TokenId]) -> u32 {
    match tokens {
        [] => NONE,
        [token] => token.get(),
        _ => SEVERAL,
    }
}

/// The arrays of a trie under construction; the other arrays of a [`TokenTrie`] are derived from them.
struct Arrays {
    nodes: Vec<Node>,
    token_starts: Vec<u32>,
    tokens: Vec<TokenId>,
    child_starts: Vec<u32>,
    children: Vec<u32>,
}

impl Arrays {
    fn with_capacity(nodes: usize, tokens: usize) -> Arrays {
        Arrays {
            nodes: Vec::with_capacity(nodes),
            token_starts: Vec::with_capacity(nodes + 1),
            tokens: Vec::with_capacity(tokens),
            child_starts: Vec::with_capacity(nodes + 1),
            children: Vec::with_capacity(nodes),
        }
    }

    fn finish(self) -> TokenTrie {
        let nodes = &self.nodes;
        let step = |&node: &u32| {
            let Node { token, end, byte, .. } = nodes[node as usize];
            ChildStep { node, token, byte, is_leaf: end == node + 1 }
        };
        let steps: Box<[ChildStep]> = self.children.iter().map(step).collect();
        let mut first = Box::new([NONE; 256]);
        let of_root = &steps[..self.child_starts[1] as usize];
        of_root.iter().for_each(|step| first[usize::from(step.byte)] = step.node);
        TokenTrie {
            nodes: self.nodes.into(),
            token_starts: self.token_starts.into(),
            tokens: self.tokens.into(),
            child_starts: self.child_starts.into(),
            steps,
            first,
        }
    }
}
