//! A trie over the keys of a list of members.

/// A trie of keys; node 0 is its root. Members are identified by their indices.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyTrie {
    /// In breadth-first order; the children of a node are adjacent.
    nodes: Vec<Node>,
    members: Vec<u32>,
}

/// A node. Nodes on the path of the same members share a range of `KeyTrie::members`.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The byte that leads to the node.
    byte: u8,
    /// The number of children, and the first child.
    children: u16,
    child: u32,
    /// The node's range in `KeyTrie::members` starts at `first`: `ends` members whose keys end at the node, then
    /// `going_on` members whose keys continue.
    first: u32,
    ends: u32,
    going_on: u32,
}

impl KeyTrie {
    /// The trie of some non-empty keys; the member with the key `keys[i]` has the index `i`. Keys may be equal.
    pub(in crate::automaton) fn new(keys: &[&[u8]]) -> KeyTrie {
        let going_on = keys.len() as u32;
        let bytes: usize = keys.iter().map(|key| key.len()).sum();
        let root = Node { byte: 0, children: 0, child: 0, first: 0, ends: 0, going_on };
        let mut nodes = Vec::with_capacity(bytes.min(1 << 12) + 1);
        nodes.push(root);
        let mut trie = KeyTrie { nodes, members: (0..going_on).collect() };
        let (mut level, mut depth) = (0..1, 0);
        while !level.is_empty() {
            level.clone().for_each(|node| trie.expand(node as u32, depth, keys));
            level = level.end..trie.nodes.len();
            depth += 1;
        }
        trie
    }

    /// Adds the children of a node, whose members have the first `depth` bytes of their keys in common.
    fn expand(&mut self, node: u32, depth: usize, keys: &[&[u8]]) {
        // the next byte, and whether the key continues after it
        let next = |member: u32| (keys[member as usize][depth], keys[member as usize].len() > depth + 1);
        let Some((&one, others)) = self.members(node).split_first() else { return };
        let Node { first, ends, going_on, .. } = *self.node(node);
        let mut first = (first + ends) as usize;
        if others.is_empty() {
            // most nodes are on the path of a single member
            let (byte, goes_on) = next(one);
            let (child, first) = (self.nodes.len() as u32, first as u32);
            let (ends, going_on) = (u32::from(!goes_on), u32::from(goes_on));
            self.nodes.push(Node { byte, children: 0, child: 0, first, ends, going_on });
            let node = &mut self.nodes[node as usize];
            (node.child, node.children) = (child, 1);
            return;
        }
        if others.iter().any(|&other| next(other) != next(one)) {
            let mut sorted = self.members(node).to_vec();
            sorted.sort_by_key(|&member| next(member));
            first = self.members.len();
            self.members.extend(sorted);
        }
        let end = first + going_on as usize;
        self.nodes[node as usize].child = self.nodes.len() as u32;
        while first < end {
            let left = &self.members[first..end];
            let (byte, _) = next(left[0]);
            let alike = &left[..left.partition_point(|&member| next(member).0 == byte)];
            let ends = alike.partition_point(|&member| !next(member).1);
            let going_on = (alike.len() - ends) as u32;
            let child =
                Node { byte, children: 0, child: 0, first: first as u32, ends: ends as u32, going_on };
            first += alike.len();
            self.nodes.push(child);
            self.nodes[node as usize].children += 1;
        }
    }

    pub(in crate::automaton) fn len(&self) -> usize {
        self.nodes.len()
    }

    fn node(&self, node: u32) -> &Node {
        &self.nodes[node as usize]
    }

    /// The bytes that continue from a node, sorted, each with its child.
    pub(in crate::automaton) fn edges(&self, node: u32) -> impl Iterator<Item = (u8, u32)> + '_ {
        let &Node { child, children, .. } = self.node(node);
        self.nodes[child as usize..][..usize::from(children)].iter().zip(child..).map(|(n, id)| (n.byte, id))
    }

    /// The byte and the child of a node with exactly one child; `None` for other nodes.
    pub(in crate::automaton) fn only_edge(&self, node: u32) -> Option<(u8, u32)> {
        let &Node { child, children, .. } = self.node(node);
        (children == 1).then(|| (self.node(child).byte, child))
    }

    /// The child of a node that a byte leads to; `None` if no key continues with the byte.
    pub(in crate::automaton) fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let &Node { child, children, .. } = self.node(node);
        let all = &self.nodes[child as usize..][..usize::from(children)];
        let place = all.binary_search_by_key(&byte, |node| node.byte).ok()?;
        Some(child + place as u32)
    }

    /// The members whose keys end at a node.
    pub(in crate::automaton) fn ends(&self, node: u32) -> &[u32] {
        let &Node { first, ends, .. } = self.node(node);
        &self.members[first as usize..][..ends as usize]
    }

    /// The members whose keys continue after a node, sorted by index.
    pub(in crate::automaton) fn members(&self, node: u32) -> &[u32] {
        let &Node { first, ends, going_on, .. } = self.node(node);
        &self.members[(first + ends) as usize..][..going_on as usize]
    }

    /// Bytes on the heap.
    pub(in crate::automaton) fn memory_usage(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.members.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::KeyTrie;

    #[test]
    fn nodes_have_the_members_whose_keys_begin_so() {
        let keys: [&[u8]; 8] = [b"ab", b"a", b"abc", b"b", b"ab", b"cde", b"abd", b"cdf"];
        let trie = KeyTrie::new(&keys);
        let mut open = vec![(0, Vec::new())];
        let mut nodes = 0;
        while let Some((node, path)) = open.pop() {
            nodes += 1;
            let with = |is: fn(&[u8], &[u8]) -> bool| -> Vec<u32> {
                (0..keys.len() as u32).filter(|&at| is(keys[at as usize], &path)).collect()
            };
            assert_eq!(trie.ends(node), with(|key, path| key == path), "{path:?}");
            assert_eq!(
                trie.members(node),
                with(|key, path| key.starts_with(path) && key != path),
                "{path:?}"
            );
            let bytes: Vec<u8> = trie.edges(node).map(|(byte, _)| byte).collect();
            assert!(bytes.is_sorted());
            for byte in 0..=255 {
                let child = trie.edges(node).find(|edge| edge.0 == byte).map(|edge| edge.1);
                assert_eq!(trie.child(node, byte), child);
                open.extend(child.map(|child| (child, [&path[..], &[byte]].concat())));
            }
            assert_eq!(trie.only_edge(node).is_some(), bytes.len() == 1);
        }
        // "", a, ab, abc, abd, b, c, cd, cde, cdf
        assert_eq!((nodes, trie.len()), (10, 10));
    }
}
