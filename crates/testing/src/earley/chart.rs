//! Charts: columns of items, their closure, and how a byte is read.

use super::{Recogniser, text};
use grammata::grammar::{ExprId, Expression, Members, Order, RuleId, WordTarget};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The construct that an item reads as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Head {
    /// The start symbol of the chart.
    Root,
    /// A rule.
    Rule(RuleId),
    /// An intersection or complement.
    Lock(ExprId),
}

/// A part of the remainder of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Piece {
    /// A whole expression.
    Expr(ExprId),
    /// A head, which is read by its own items.
    Call(Head),
    /// The bytes from `at` on of a byte string, or of the key of a member.
    Bytes { of: ExprId, member: Option<usize>, at: usize },
    /// One byte of a set.
    Set(ExprId),
    /// One token of a token terminal.
    Token(ExprId),
    /// A character of a class, of which some bytes may have been read.
    Char { class: ExprId, read: Vec<u8> },
    /// The rest of a word graph from a node on.
    Node { of: ExprId, node: usize },
    /// A repeat with its remaining bounds.
    Repeat { body: ExprId, min: u32, max: Option<u32> },
    /// The rest of a list of members.
    Members { of: ExprId, so_far: SoFar },
}

/// The progress within a list of members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SoFar {
    /// The entries present so far, sorted: members first, then those of `ones`.
    pub(super) came: Vec<usize>,
    /// The number of members so far.
    pub(super) count: u32,
    /// Whether a member without a key has been read.
    pub(super) keyless: bool,
}

impl SoFar {
    /// The entries that may come next according to their order and keys.
    pub(super) fn open(&self, list: &Members) -> Vec<usize> {
        let declared = list.order == Order::Declared;
        let may_come = |&entry: &usize| match list.members.get(entry) {
            None => !self.came.contains(&entry),
            Some(member) => self.came.iter().all(|&other| match list.members.get(other) {
                Some(before) => before.key != member.key && (!declared || other < entry),
                None => true,
            }),
        };
        let first = if declared && self.keyless { list.members.len() } else { 0 };
        (first..list.members.len() + list.ones.len()).filter(may_come).collect()
    }

    /// Whether the list may end here.
    pub(super) fn is_complete(&self, list: &Members) -> bool {
        let came =
            |key: &[u8]| self.came.iter().any(|&e| list.members.get(e).is_some_and(|m| *m.key == *key));
        let any = |set: &[u32]| set.iter().any(|&entry| self.came.contains(&(entry as usize)));
        self.count >= list.min
            && list.max.is_none_or(|max| self.count <= max)
            && list.members.iter().all(|member| !member.required || came(&member.key))
            && list.conditions.iter().all(|condition| {
                condition.0.iter().any(|way| way.some.iter().all(|set| any(set)) && !any(&way.none))
            })
    }

    /// The progress after one more member: an entry, or one of the rest.
    pub(super) fn with(&self, list: &Members, entry: Option<usize>) -> SoFar {
        let mut came: Vec<usize> = self.came.iter().copied().chain(entry).collect();
        came.sort_unstable();
        let keyless = entry.is_none_or(|entry| entry >= list.members.len());
        SoFar { came, count: self.count + 1, keyless: self.keyless || keyless }
    }
}

/// An item: `head` began at column `origin` and has `rest` left to read, next piece last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Item {
    pub(super) head: Head,
    pub(super) rest: Vec<Piece>,
    pub(super) origin: usize,
}

/// The items after some prefix.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Items that read a byte next.
    pub(super) readers: Vec<Item>,
    /// Items that read a head next.
    pub(super) waiting: FxHashMap<Head, Vec<Item>>,
    /// Intersections and complements in progress, with the columns where they began.
    pub(super) locks: Vec<(ExprId, usize, Lock)>,
    accepting: bool,
}

/// The columns after each prefix of the text read.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    pub(super) columns: Vec<Rc<Column>>,
}

/// An intersection or complement in progress: the charts of its operands.
#[derive(Clone, Debug)]
pub(super) enum Lock {
    All(Vec<Chart>),
    Not(Chart),
}

impl Chart {
    pub(super) fn last(&self) -> &Column {
        &self.columns[self.columns.len() - 1]
    }

    pub(super) fn is_accepting(&self) -> bool {
        self.last().accepting
    }

    /// Whether the text is not accepted and obviously cannot be continued. May be false although no completion exists.
    pub(super) fn is_dead(&self) -> bool {
        let column = self.last();
        !column.accepting && column.readers.is_empty() && column.locks.is_empty()
    }
}

impl Lock {
    pub(super) fn is_accepting(&self) -> bool {
        match self {
            Lock::All(charts) => charts.iter().all(Chart::is_accepting),
            Lock::Not(chart) => !chart.is_accepting(),
        }
    }

    pub(super) fn is_dead(&self) -> bool {
        match self {
            Lock::All(charts) => charts.iter().any(Chart::is_dead),
            Lock::Not(_) => false,
        }
    }

    pub(super) fn charts(&self) -> &[Chart] {
        match self {
            Lock::All(charts) => charts,
            Lock::Not(chart) => std::slice::from_ref(chart),
        }
    }
}

/// The closure of a column under construction.
struct Closure<'r, 'g, 'c> {
    recogniser: &'r Recogniser<'g>,
    /// The columns before this one.
    before: &'c [Rc<Column>],
    column: Column,
    seen: FxHashSet<Item>,
    work: Vec<Item>,
    completed: FxHashSet<(Head, usize)>,
}

impl<'g> Recogniser<'g> {
    pub(super) fn start_chart(&self, piece: Piece) -> Chart {
        let mut closure = self.closure(&[]);
        closure.add(Item { head: Head::Root, rest: vec![piece], origin: 0 });
        Chart { columns: vec![Rc::new(closure.finish())] }
    }

    pub(super) fn start_lock(&self, id: ExprId) -> Lock {
        match self.grammar.expression(id) {
            Expression::Complement(operand) => Lock::Not(self.start_chart(Piece::Expr(*operand))),
            other => Lock::All(other.children().map(|id| self.start_chart(Piece::Expr(id))).collect()),
        }
    }

    /// Reads a token: along its bytes, if it has any, and as each of the terminals that contain it according to `has`.
    pub(super) fn advance_chart_token(&self, chart: &mut Chart, bytes: &[u8], has: impl Fn(ExprId) -> bool) {
        let by_id: Vec<Item> =
            chart.last().readers.iter().filter_map(|item| item.after_token(&has)).collect();
        let Some((&last, before)) = bytes.split_last() else {
            let mut closure = self.closure(&chart.columns);
            closure.extend(by_id);
            let column = closure.finish();
            return chart.columns.push(Rc::new(column));
        };
        before.iter().for_each(|&byte| self.advance_chart(chart, byte));
        self.advance_chart_with(chart, last, by_id);
    }

    pub(super) fn advance_chart(&self, chart: &mut Chart, byte: u8) {
        self.advance_chart_with(chart, byte, Vec::new());
    }

    /// Reads a byte, and adds the items `others` to the new column.
    fn advance_chart_with(&self, chart: &mut Chart, byte: u8, others: Vec<Item>) {
        let mut closure = self.closure(&chart.columns);
        closure.extend(others);
        let old = chart.last();
        for item in &old.readers {
            closure.extend(item.after_byte(self, byte));
        }
        for (id, start, lock) in &old.locks {
            let next = self.advance_lock(lock, byte);
            if next.is_accepting() {
                closure.complete(Head::Lock(*id), *start);
            }
            if !next.is_dead() {
                closure.column.locks.push((*id, *start, next));
            }
        }
        let column = closure.finish();
        chart.columns.push(Rc::new(column));
    }

    pub(super) fn advance_lock(&self, lock: &Lock, byte: u8) -> Lock {
        let mut lock = lock.clone();
        let copied: usize = lock.charts().iter().map(|chart| chart.columns.len()).sum();
        self.work.set(self.work.get() + copied);
        match &mut lock {
            Lock::All(charts) => charts.iter_mut().for_each(|chart| self.advance_chart(chart, byte)),
            Lock::Not(chart) => self.advance_chart(chart, byte),
        }
        lock
    }

    fn closure<'r, 'c>(&'r self, before: &'c [Rc<Column>]) -> Closure<'r, 'g, 'c> {
        Closure {
            recogniser: self,
            before,
            column: Column::default(),
            seen: FxHashSet::default(),
            work: Vec::new(),
            completed: FxHashSet::default(),
        }
    }
}

impl Closure<'_, '_, '_> {
    fn extend(&mut self, items: impl IntoIterator<Item = Item>) {
        items.into_iter().for_each(|item| self.add(item));
    }

    fn add(&mut self, item: Item) {
        let productive = item.rest.iter().all(|p| self.recogniser.least_piece(p).is_some());
        let work = &self.recogniser.work;
        work.set(work.get() + 1);
        if productive && self.seen.insert(item.clone()) {
            self.work.push(item);
        }
    }

    fn complete(&mut self, head: Head, origin: usize) {
        if head == Head::Root {
            self.column.accepting = true;
        } else if self.completed.insert((head, origin)) {
            let column = self.before.get(origin).map_or(&self.column, |column| &**column);
            let waiting = column.waiting.get(&head).cloned().unwrap_or_default();
            self.extend(waiting.into_iter().map(Item::after_piece));
        }
    }

    fn finish(mut self) -> Column {
        while let Some(item) = self.work.pop() {
            match item.rest.last() {
                None => self.complete(item.head, item.origin),
                Some(&Piece::Call(head)) => self.call(head, item),
                Some(
                    Piece::Bytes { .. }
                    | Piece::Set(_)
                    | Piece::Token(_)
                    | Piece::Char { .. }
                    | Piece::Node { .. },
                ) => self.column.readers.push(item),
                Some(_) => {
                    let alternatives = self.recogniser.expand(&item);
                    self.extend(alternatives);
                }
            }
        }
        self.column
    }

    /// Records that `item` reads `head` next: the item waits here, and the head begins here.
    fn call(&mut self, head: Head, item: Item) {
        let here = self.before.len();
        if self.completed.contains(&(head, here)) {
            // the head was already found to be empty and will not complete here again
            self.add(item.clone().after_piece());
        }
        let waiting = self.column.waiting.entry(head).or_default();
        waiting.push(item);
        if waiting.len() > 1 {
            return;
        }
        match head {
            Head::Root => unreachable!("nothing calls the root"),
            Head::Rule(rule) => {
                let body = self.recogniser.grammar.rule(rule).body;
                self.add(Item { head, rest: vec![Piece::Expr(body)], origin: here });
            }
            Head::Lock(id) => {
                let lock = self.recogniser.start_lock(id);
                let accepting = lock.is_accepting();
                self.column.locks.push((id, here, lock));
                if accepting {
                    self.complete(head, here);
                }
            }
        }
    }
}

impl Item {
    fn after_piece(mut self) -> Item {
        self.rest.pop();
        self
    }

    /// Replaces the next piece of the item with `pieces`, in reading order.
    fn with(&self, pieces: impl IntoIterator<Item = Piece>) -> Item {
        let mut item = self.clone().after_piece();
        let mut pieces: Vec<Piece> = pieces.into_iter().collect();
        pieces.reverse();
        item.rest.append(&mut pieces);
        item
    }

    fn after_token(&self, has: impl Fn(ExprId) -> bool) -> Option<Item> {
        match self.rest.last()? {
            Piece::Token(id) if has(*id) => Some(self.with([])),
            _ => None,
        }
    }

    fn after_byte(&self, recogniser: &Recogniser<'_>, byte: u8) -> Option<Item> {
        let grammar = recogniser.grammar;
        match self.rest.last()? {
            Piece::Bytes { of, member, at } => {
                let bytes: &[u8] = match (grammar.expression(*of), member) {
                    (Expression::Bytes(bytes), None) => bytes,
                    (Expression::Members(members), Some(i)) => &members.members[*i].key,
                    other => unreachable!("no bytes in {other:?}"),
                };
                let left = Piece::Bytes { of: *of, member: *member, at: at + 1 };
                (bytes[*at] == byte).then(|| self.with((at + 1 < bytes.len()).then_some(left)))
            }
            Piece::Set(id) => match grammar.expression(*id) {
                Expression::ByteSet(set) if set.contains(byte) => Some(self.with([])),
                _ => None,
            },
            Piece::Char { class, read } => {
                let Expression::Class(chars) = grammar.expression(*class) else { return None };
                let mut read = read.clone();
                read.push(byte);
                let wanted = text::length(read[0])?;
                if !text::begins_a_char(&read, chars) {
                    return None;
                }
                let left = (read.len() < wanted).then_some(Piece::Char { class: *class, read });
                Some(self.with(left))
            }
            &Piece::Node { of, node } => {
                let Expression::WordGraph(graph) = grammar.expression(of) else { return None };
                let edge =
                    graph.edges(node).iter().copied().find(|edge| (edge.low..=edge.high).contains(&byte))?;
                Some(self.with([match edge.to {
                    WordTarget::Node(node) => Piece::Node { of, node: node as usize },
                    WordTarget::Exit(exit) => Piece::Expr(graph.exits()[exit as usize]),
                }]))
            }
            _ => None,
        }
    }
}

impl Recogniser<'_> {
    /// The items that the next piece of an item expands to.
    fn expand(&self, item: &Item) -> Vec<Item> {
        match item.rest.last() {
            Some(&Piece::Expr(id)) => self.expand_expression(item, id),
            Some(&Piece::Repeat { body, min, max }) => {
                let mut alternatives = Vec::new();
                if min == 0 {
                    alternatives.push(item.with([]));
                }
                if max != Some(0) {
                    let left =
                        Piece::Repeat { body, min: min.saturating_sub(1), max: max.map(|max| max - 1) };
                    alternatives.push(item.with([Piece::Expr(body), left]));
                }
                alternatives
            }
            Some(Piece::Members { of, so_far }) => {
                let members = self.members(*of);
                let after = |entry| Piece::Members { of: *of, so_far: so_far.with(members, entry) };
                let separator = (so_far.count > 0).then_some(Piece::Expr(members.separator));
                let mut alternatives: Vec<Item> = Vec::new();
                for entry in so_far.open(members) {
                    let parts = match members.members.get(entry) {
                        Some(member) => {
                            let key = Piece::Bytes { of: *of, member: Some(entry), at: 0 };
                            vec![key, Piece::Expr(member.value)]
                        }
                        None => vec![Piece::Expr(members.ones[entry - members.members.len()])],
                    };
                    let parts = separator.clone().into_iter().chain(parts).chain([after(Some(entry))]);
                    alternatives.push(item.with(parts));
                }
                if let Some(rest) = members.rest {
                    let parts = separator.into_iter().chain([Piece::Expr(rest), after(None)]);
                    alternatives.push(item.with(parts));
                }
                alternatives.extend(so_far.is_complete(members).then(|| item.with([])));
                alternatives
            }
            _ => Vec::new(),
        }
    }

    fn expand_expression(&self, item: &Item, id: ExprId) -> Vec<Item> {
        match self.grammar.expression(id) {
            Expression::Never => Vec::new(),
            Expression::Empty => vec![item.with([])],
            Expression::Bytes(_) => vec![item.with([Piece::Bytes { of: id, member: None, at: 0 }])],
            Expression::ByteSet(_) => vec![item.with([Piece::Set(id)])],
            Expression::Token(_) => vec![item.with([Piece::Token(id)])],
            Expression::Class(_) => vec![item.with([Piece::Char { class: id, read: Vec::new() }])],
            Expression::WordGraph(_) => vec![item.with([Piece::Node { of: id, node: 0 }])],
            Expression::Sequence(list) => vec![item.with(list.iter().copied().map(Piece::Expr))],
            Expression::Choice(list) => list.iter().map(|&id| item.with([Piece::Expr(id)])).collect(),
            &Expression::Repeat { body, min, max } => vec![item.with([Piece::Repeat { body, min, max }])],
            Expression::Rule(rule) => vec![item.with([Piece::Call(Head::Rule(*rule))])],
            Expression::Intersection(_) | Expression::Complement(_) => {
                vec![item.with([Piece::Call(Head::Lock(id))])]
            }
            Expression::Label(_, body) | Expression::Name(body, _) | Expression::MaxTokens { body, .. } => {
                vec![item.with([Piece::Expr(*body)])]
            }
            Expression::Distinct(_) => unreachable!("different items are tested against JSON Schema"),
            Expression::Members(_) => vec![item.with([Piece::Members { of: id, so_far: SoFar::default() }])],
        }
    }

    fn members(&self, of: ExprId) -> &Members {
        match self.grammar.expression(of) {
            Expression::Members(members) => members,
            other => unreachable!("no members in {other:?}"),
        }
    }
}
