//! A tree of token prefixes. Each node knows how much of the probability below it is known to be refused.

use super::errors;
use super::mask::{allowed_chunks, bits};
use super::scores::LogSoftmax;
use grammata::error::Result;

/// The tokens that may follow a prefix, with the model's logits.
#[derive(Clone, Debug)]
pub(super) struct Continuations {
    /// Ids that the mask allows and whose logits are above minus infinity, in ascending order.
    tokens: Box<[u32]>,
    logits: Box<[f32]>,
    temperature: f64,
    /// The greatest logit of all tokens, allowed or not.
    greatest: f32,
    /// Sum of exp((logit - greatest) / temperature) over all tokens.
    total: f64,
    /// Log-probabilities at temperature 1.
    scores: LogSoftmax,
    /// Probability of all `tokens` together among all tokens of the model, at the temperature.
    mass: f64,
    /// Probability of the tokens that the mask forbids, at temperature 1.
    refused_mass: f64,
    /// Whether the mask allows exactly one token.
    forced: bool,
}

impl Continuations {
    /// Reads the continuations from a row of logits under a mask, at a temperature above 0.
    ///
    /// # Errors
    /// `decode/no-candidate`: the model gives no token a probability, allowed or not.
    pub(super) fn new(row: &[f32], mask: &[u32], temperature: f32) -> Result<Continuations> {
        let finite = |logit: f32| (logit > f32::NEG_INFINITY).then(|| logit.clamp(f32::MIN, f32::MAX));
        let greatest = row.iter().filter_map(|&logit| finite(logit)).fold(f32::NEG_INFINITY, f32::max);
        if greatest == f32::NEG_INFINITY {
            return Err(errors::no_candidate());
        }
        let temperature = f64::from(temperature);
        let weight = |logit: f32| ((f64::from(logit) - f64::from(greatest)) / temperature).exp();
        let total = row.iter().filter_map(|&logit| finite(logit)).map(weight).sum();
        let (mut tokens, mut logits) = (Vec::new(), Vec::new());
        for (index, word, chunk) in allowed_chunks(row, Some(mask)) {
            for bit in bits(word) {
                if let Some(logit) = chunk.get(bit).copied().and_then(finite) {
                    tokens.push((index * 32 + bit) as u32);
                    logits.push(logit);
                }
            }
        }
        let scores = LogSoftmax::of(row);
        let mass = logits.iter().copied().map(weight).sum::<f64>() / total;
        let allowed: f64 = logits.iter().map(|&logit| scores.at(logit).exp()).sum();
        Ok(Continuations {
            tokens: tokens.into(),
            logits: logits.into(),
            temperature,
            greatest,
            total,
            scores,
            mass,
            refused_mass: (1.0 - allowed).max(0.0),
            forced: mask.iter().map(|word| word.count_ones()).sum::<u32>() == 1,
        })
    }

    /// Returns the continuations of a prefix that cannot become an output: none, with mass 0.
    fn none() -> Continuations {
        Continuations {
            tokens: Box::default(),
            logits: Box::default(),
            temperature: 1.0,
            greatest: 0.0,
            total: 1.0,
            scores: LogSoftmax::of(&[]),
            mass: 0.0,
            refused_mass: 1.0,
            forced: false,
        }
    }

    /// Returns the probability of the continuation of index `place` among all tokens of the model, at the temperature.
    fn probability(&self, place: usize) -> f64 {
        let logit = self.logits.get(place).copied().unwrap_or(f32::NEG_INFINITY);
        ((f64::from(logit) - f64::from(self.greatest)) / self.temperature).exp() / self.total
    }

    /// Returns the probability of all continuations together among all tokens of the model, at the temperature.
    pub(super) fn mass(&self) -> f64 {
        self.mass
    }

    fn step(&self, place: usize) -> Option<Step> {
        let (&token, &logit) = self.tokens.get(place).zip(self.logits.get(place))?;
        Some(Step {
            token,
            forced: self.forced,
            log_probability: self.scores.at(logit),
            refused_mass: self.refused_mass,
        })
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.tokens) + size_of_val(&*self.logits)
    }

    /// Returns the continuation at `point` of the cumulative probabilities by rising id. `point` is from 0 to
    /// [`mass`](Continuations::mass). Beyond the sum, the last continuation with a positive probability is returned;
    /// `None` if there is none.
    pub(super) fn draw(&self, point: f64) -> Option<Step> {
        self.step(self.place_at(point, &[], &[])?)
    }

    /// Returns the index of the continuation at `point` of the cumulative live probabilities, by rising id. `children`
    /// holds the indices of the continuations that have a node, in ascending order, with their nodes: such a
    /// continuation counts with its probability times the live probability of its node. Beyond the sum, the last
    /// continuation with a positive live probability is returned; `None` if no continuation has a positive live
    /// probability.
    fn place_at(&self, point: f64, children: &[(usize, usize)], nodes: &[Node]) -> Option<usize> {
        let (mut left, mut last) = (point, None);
        let mut children = children.iter().peekable();
        for place in 0..self.tokens.len() {
            let child =
                children.next_if(|(of_child, _)| *of_child == place).and_then(|(_, id)| nodes.get(*id));
            let weight = self.probability(place) * child.map_or(1.0, |child| child.live);
            if weight > 0.0 {
                last = Some(place);
                if left < weight {
                    break;
                }
                left -= weight;
            }
        }
        last
    }
}

/// A token of a try, with its scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) token: u32,
    /// Whether the mask allowed no other token.
    pub(super) forced: bool,
    /// Natural log-probability at temperature 1, among all tokens.
    pub(super) log_probability: f64,
    /// Probability of the tokens that the mask forbade, at temperature 1.
    pub(super) refused_mass: f64,
}

/// A token that was drawn, with its index among the continuations of its node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drawn {
    pub(super) step: Step,
    pub(super) place: usize,
    /// The node of the prefix that ends with this token, if the tree has one.
    pub(super) child: Option<usize>,
}

#[derive(Clone, Debug)]
struct Node {
    next: Continuations,
    /// The parent node, and the index of the token of this node among the continuations of the parent. `None` for the
    /// root.
    parent: Option<(usize, usize)>,
    /// Indices of the continuations that have a node, with these nodes, by ascending index.
    children: Vec<(usize, usize)>,
    /// Probability of the continuations without a node, given this prefix.
    rest: f64,
    /// Probability of the continuations that are not known to be refused, given this prefix.
    live: f64,
}

/// The prefixes that are remembered. Node 0 is the empty prefix.
#[derive(Clone, Debug)]
pub(super) struct PrefixTree {
    nodes: Vec<Node>,
    bytes: usize,
    most: usize,
}

impl PrefixTree {
    /// Creates an empty tree that takes at most `most` bytes.
    pub(super) fn new(most: usize) -> PrefixTree {
        PrefixTree { nodes: Vec::new(), bytes: 0, most }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the node of the empty prefix; `None` if the tree is empty.
    pub(super) fn root(&self) -> Option<usize> {
        (!self.nodes.is_empty()).then_some(0)
    }

    /// Returns the probability, given the prefix of a node, of the continuations that are not known to be refused; 1 if
    /// there is no such node.
    pub(super) fn live(&self, node: usize) -> f64 {
        self.nodes.get(node).map_or(1.0, |node| node.live)
    }

    /// Returns the continuation of a node at `point`, from 0 to [`live`](PrefixTree::live), of the cumulative live
    /// probabilities. `None` if there is no such node or nothing below it is live.
    pub(super) fn draw(&self, node: usize, point: f64) -> Option<Drawn> {
        let Node { next, children, .. } = self.nodes.get(node)?;
        let place = next.place_at(point, children, &self.nodes)?;
        let found = children.binary_search_by_key(&place, |(of_child, _)| *of_child);
        let child = found.ok().and_then(|at| children.get(at)).map(|(_, id)| *id);
        Some(Drawn { step: next.step(place)?, place, child })
    }

    /// Adds the prefix that extends a node by one of its continuations, given as (node, index), or the empty prefix if
    /// `parent` is `None`. `next` are the continuations of the added prefix. Returns its node, or `next` if the tree
    /// has no room.
    pub(super) fn insert(
        &mut self,
        parent: Option<(usize, usize)>,
        next: Continuations,
    ) -> std::result::Result<usize, Continuations> {
        let bytes = size_of::<Node>() + size_of::<(usize, usize)>() + next.bytes();
        if self.bytes.saturating_add(bytes) > self.most {
            return Err(next);
        }
        self.bytes += bytes;
        let (id, mass) = (self.nodes.len(), next.mass());
        self.nodes.push(Node { next, parent, children: Vec::new(), rest: mass, live: mass });
        if let Some((parent, place)) = parent
            && let Some(node) = self.nodes.get_mut(parent)
        {
            let at = node.children.partition_point(|(other, _)| *other < place);
            node.children.insert(at, (place, id));
            // recomputed, because a difference of nearly equal numbers would lose precision
            let mut children = node.children.iter().map(|(place, _)| *place).peekable();
            let places = 0..node.next.tokens.len();
            let without = places.filter(|place| children.next_if_eq(place).is_none());
            node.rest = without.map(|place| node.next.probability(place)).sum();
        }
        self.raise(parent);
        Ok(id)
    }

    /// Records that a prefix cannot become an output. `parent` gives the prefix as in [`insert`](PrefixTree::insert).
    pub(super) fn refuse(&mut self, parent: Option<(usize, usize)>) {
        // if there is no room, a later try will be refused at the same prefix again
        let _ = self.insert(parent, Continuations::none());
    }

    /// Recomputes the live probabilities from the node of `from` up to the empty prefix. Does nothing if `from` is
    /// `None`.
    fn raise(&mut self, from: Option<(usize, usize)>) {
        let mut at = from;
        while let Some((id, _)) = at
            && let Some(node) = self.nodes.get(id)
        {
            let of_child = |&(place, child): &(usize, usize)| node.next.probability(place) * self.live(child);
            let live = node.rest + node.children.iter().map(of_child).sum::<f64>();
            at = node.parent;
            if let Some(node) = self.nodes.get_mut(id) {
                node.live = live;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the continuations under `mask` of three tokens with probabilities 1/2, 1/4 and 1/4.
    fn next(mask: u32) -> Continuations {
        Continuations::new(&[2.0_f32.ln(), 0.0, 0.0], &[mask], 1.0).unwrap()
    }

    #[test]
    fn refused_masses_rise_to_the_empty_prefix() {
        let mut tree = PrefixTree::new(1 << 20);
        let root = tree.insert(None, next(0b011)).unwrap();
        assert!((tree.live(root) - 0.75).abs() < 1e-7);
        let child = tree.insert(Some((root, 1)), next(0b100)).unwrap();
        assert!((tree.live(root) - (0.5 + 0.25 * 0.25)).abs() < 1e-7);
        let drawn = tree.draw(root, 0.51).unwrap();
        assert_eq!((drawn.step.token, drawn.child), (1, Some(child)));
        tree.refuse(Some((child, 0)));
        assert!((tree.live(root) - 0.5).abs() < 1e-7);
        // refused tokens are not drawn, not even at the end of the range
        assert_eq!(tree.draw(root, 0.5).unwrap().step.token, 0);
        tree.refuse(Some((root, 0)));
        assert_eq!((tree.live(root), tree.len()), (0.0, 4));
        assert!(tree.draw(root, 0.0).is_none());
    }

    #[test]
    fn a_full_tree_gives_back() {
        let mut tree = PrefixTree::new(0);
        assert!(tree.insert(None, next(0b111)).is_err());
        assert_eq!((tree.len(), tree.root()), (0, None));
    }
}
