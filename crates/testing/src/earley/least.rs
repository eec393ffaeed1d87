//! Least lengths of the words of expressions, rules and pieces.

use super::chart::{Head, Piece, SoFar};
use super::text;
use grammata::grammar::{ExprId, Expression, Grammar, Members, WordEdge, WordGraph, WordTarget};
use rustc_hash::{FxHashMap, FxHashSet};

/// Least lengths in bytes, a token counting as one; `None` where there is no word. For an intersection or complement
/// only the existence of a word is known; its length counts as 0, so that least lengths are never too great.
#[derive(Debug)]
pub(super) struct Least {
    expressions: Vec<Option<u64>>,
    rules: Vec<Option<u64>>,
    /// Whether each intersection or complement decided so far has a word; the others count as having none.
    locks: FxHashMap<ExprId, bool>,
}

impl Least {
    pub(super) fn of(grammar: &Grammar, locks: FxHashMap<ExprId, bool>) -> Least {
        let mut least = Least {
            expressions: vec![None; grammar.expressions().len()],
            rules: vec![None; grammar.rules().len()],
            locks,
        };
        loop {
            for (i, expression) in grammar.expressions().iter().enumerate() {
                least.expressions[i] = least.judge(ExprId::new(i), expression);
            }
            let rules: Vec<Option<u64>> =
                grammar.rules().iter().map(|rule| least.expression(rule.body)).collect();
            if rules == least.rules {
                return least;
            }
            least.rules = rules;
        }
    }

    fn judge(&self, id: Option<ExprId>, expression: &Expression) -> Option<u64> {
        match expression {
            Expression::Never => None,
            Expression::Empty => Some(0),
            Expression::Bytes(bytes) => Some(bytes.len() as u64),
            Expression::ByteSet(_) | Expression::Token(_) => Some(1),
            Expression::Class(class) => class.ranges().first().map(|(low, _)| low.len_utf8() as u64),
            Expression::Sequence(list) => self.sum(list.iter().copied()),
            Expression::Choice(list) => list.iter().filter_map(|&id| self.expression(id)).min(),
            Expression::Repeat { body, min, .. } => self.times(*body, u64::from(*min)),
            Expression::Rule(rule) => self.rules[rule.index()],
            Expression::Label(_, body) | Expression::Name(body, _) | Expression::MaxTokens { body, .. } => {
                self.expression(*body)
            }
            Expression::Intersection(_) | Expression::Complement(_) => self.lock(id?),
            Expression::Distinct(_) => unreachable!("different items are tested against JSON Schema"),
            Expression::WordGraph(graph) => self.graph(graph, 0),
            Expression::Members(members) => self.members(members, &SoFar::default()),
        }
    }

    pub(super) fn expression(&self, id: ExprId) -> Option<u64> {
        self.expressions[id.index()]
    }

    fn lock(&self, id: ExprId) -> Option<u64> {
        self.locks.get(&id).copied().unwrap_or(false).then_some(0)
    }

    fn sum(&self, list: impl IntoIterator<Item = ExprId>) -> Option<u64> {
        list.into_iter().try_fold(0u64, |sum, id| Some(sum.saturating_add(self.expression(id)?)))
    }

    fn times(&self, body: ExprId, count: u64) -> Option<u64> {
        if count == 0 { Some(0) } else { Some(self.expression(body)?.saturating_mul(count)) }
    }

    /// The least length from a node of a word graph to the end of a word.
    fn graph(&self, graph: &WordGraph, from: usize) -> Option<u64> {
        let mut least: Vec<Option<u64>> = vec![None; graph.len()];
        for node in (from..graph.len()).rev() {
            let after = |edge: &WordEdge| match edge.to {
                WordTarget::Node(node) => least[node as usize],
                WordTarget::Exit(exit) => self.expression(graph.exits()[exit as usize]),
            };
            least[node] = graph.edges(node).iter().filter_map(after).min().map(|rest| rest.saturating_add(1));
        }
        least[from]
    }

    /// The least length that finishes a list of members.
    fn members(&self, list: &Members, so_far: &SoFar) -> Option<u64> {
        let open = so_far.open(list);
        if !list.is_conditional() {
            let came = |place: usize| so_far.came.contains(&place) || open.contains(&place);
            let missing = |place: usize| list.members[place].required && !came(place);
            if (0..list.members.len()).any(missing) {
                return None;
            }
            let (required, optional): (Vec<_>, Vec<_>) =
                open.into_iter().partition(|&place| list.members[place].required);
            let optional = optional.into_iter().filter_map(|place| self.entry(list, place)).collect();
            return self.with_more(list, so_far, &required, optional);
        }
        // try every set of entries
        let mut least: Option<u64> = None;
        let mut sets = vec![(so_far.clone(), Vec::new())];
        while let Some((at, chosen)) = sets.pop() {
            let whole = SoFar { count: list.min.max(at.count), ..at.clone() };
            if whole.is_complete(list) {
                let length = self.with_more(list, so_far, &chosen, Vec::new());
                least = [least, length].into_iter().flatten().min();
            }
            let last = chosen.last().copied();
            for entry in at.open(list).into_iter().filter(|&entry| last.is_none_or(|last| entry > last)) {
                let chosen = chosen.iter().copied().chain([entry]).collect();
                sets.push((at.with(list, Some(entry)), chosen));
            }
        }
        least
    }

    fn entry(&self, list: &Members, entry: usize) -> Option<u64> {
        match list.members.get(entry) {
            Some(member) => Some(self.expression(member.value)?.saturating_add(member.key.len() as u64)),
            None => self.expression(list.ones[entry - list.members.len()]),
        }
    }

    /// The least length of the chosen entries, of as many of the shortest `others` and rest members as the minimum
    /// count still needs, and of the separators. `None` if the maximum is exceeded, a chosen entry has no word, or too
    /// few members are left.
    fn with_more(&self, list: &Members, so_far: &SoFar, come: &[usize], mut others: Vec<u64>) -> Option<u64> {
        let mut lengths = come.iter().map(|&entry| self.entry(list, entry)).collect::<Option<Vec<u64>>>()?;
        if list.max.is_some_and(|max| u64::from(max) < u64::from(so_far.count) + lengths.len() as u64) {
            return None;
        }
        let wanted = (list.min as usize).saturating_sub(so_far.count as usize + lengths.len());
        if let Some(rest) = list.rest.and_then(|rest| self.expression(rest)) {
            others.extend(std::iter::repeat_n(rest, wanted));
        }
        others.sort_unstable();
        if others.len() < wanted {
            return None;
        }
        lengths.extend(&others[..wanted]);
        let separators = (lengths.len() + usize::from(so_far.count > 0)).saturating_sub(1) as u64;
        let sum = lengths.iter().fold(0u64, |sum, length| sum.saturating_add(*length));
        Some(sum.saturating_add(self.times(list.separator, separators)?))
    }

    pub(super) fn piece(&self, grammar: &Grammar, piece: &Piece) -> Option<u64> {
        let members = |id: ExprId| match grammar.expression(id) {
            Expression::Members(members) => members,
            other => unreachable!("no members in {other:?}"),
        };
        match piece {
            Piece::Expr(id) => self.expression(*id),
            Piece::Call(Head::Root) => Some(0),
            Piece::Call(Head::Rule(rule)) => self.rules[rule.index()],
            Piece::Call(Head::Lock(id)) => self.lock(*id),
            Piece::Bytes { of, member, at } => {
                let bytes = match (grammar.expression(*of), member) {
                    (Expression::Bytes(bytes), None) => bytes.len(),
                    (Expression::Members(members), Some(member)) => members.members[*member].key.len(),
                    other => unreachable!("no bytes in {other:?}"),
                };
                Some((bytes - at) as u64)
            }
            Piece::Char { class, read } => match read.first() {
                None => self.expression(*class),
                Some(&first) => Some(text::length(first)?.saturating_sub(read.len()) as u64),
            },
            Piece::Set(_) | Piece::Token(_) => Some(1),
            Piece::Node { of, node } => match grammar.expression(*of) {
                Expression::WordGraph(graph) => self.graph(graph, *node),
                other => unreachable!("no graph in {other:?}"),
            },
            Piece::Repeat { body, min, .. } => self.times(*body, u64::from(*min)),
            Piece::Members { of, so_far } => self.members(members(*of), so_far),
        }
    }
}

/// The intersections and complements reachable from `roots`, including `roots` themselves.
pub(super) fn locks_within(grammar: &Grammar, roots: impl IntoIterator<Item = ExprId>) -> FxHashSet<ExprId> {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut work: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        let expression = grammar.expression(id);
        work.extend(expression.children());
        if let Expression::Rule(rule) = expression {
            work.push(grammar.rule(*rule).body);
        }
    }
    seen.retain(|&id| {
        matches!(grammar.expression(id), Expression::Intersection(_) | Expression::Complement(_))
    });
    seen
}
