//! A naive matcher over the IR: for an expression and a start, the set of ends. Plainly right for grammars
//! without left recursion, which is what the JSON Schema front end makes; too slow for anything but tests.

use grammata::grammar::{ExprId, Expression, Grammar, Members, Order};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

type Ends = Rc<BTreeSet<usize>>;

/// Whether the grammar describes the text.
pub(crate) fn accepts(grammar: &Grammar, text: &str) -> bool {
    let mut matcher = Naive { grammar, text: text.as_bytes(), memo: HashMap::new() };
    let body = grammar.rule(grammar.root()).body;
    matcher.ends(body, 0).contains(&text.len())
}

struct Naive<'g> {
    grammar: &'g Grammar,
    text: &'g [u8],
    memo: HashMap<(ExprId, usize), Ends>,
}

impl<'g> Naive<'g> {
    fn ends(&mut self, id: ExprId, start: usize) -> Ends {
        if let Some(known) = self.memo.get(&(id, start)) {
            return known.clone();
        }
        let ends = Rc::new(self.compute(id, start));
        self.memo.insert((id, start), ends.clone());
        ends
    }

    fn after_all(&mut self, starts: &BTreeSet<usize>, id: ExprId) -> BTreeSet<usize> {
        let mut to = BTreeSet::new();
        for &start in starts {
            to.extend(self.ends(id, start).iter());
        }
        to
    }

    fn compute(&mut self, id: ExprId, start: usize) -> BTreeSet<usize> {
        let grammar: &'g Grammar = self.grammar;
        let rest = &self.text[start..];
        let one = |matched: bool, length: usize| -> BTreeSet<usize> {
            matched.then_some(start + length).into_iter().collect()
        };
        match grammar.expression(id) {
            Expression::Empty => one(true, 0),
            Expression::Never => BTreeSet::new(),
            Expression::Bytes(bytes) => one(rest.starts_with(bytes), bytes.len()),
            Expression::ByteSet(set) => one(rest.first().is_some_and(|&b| set.contains(b)), 1),
            Expression::Class(class) => {
                let c = rest.utf8_chunks().next().and_then(|chunk| chunk.valid().chars().next());
                one(c.is_some_and(|c| class.contains(c)), c.map_or(0, char::len_utf8))
            }
            Expression::Sequence(list) => {
                let mut at = BTreeSet::from([start]);
                for &part in list {
                    at = self.after_all(&at, part);
                }
                at
            }
            Expression::Choice(list) => {
                let mut all = BTreeSet::new();
                for &part in list {
                    all.extend(self.ends(part, start).iter());
                }
                all
            }
            Expression::Repeat { body, min, max } => self.repeat(*body, *min, *max, start),
            Expression::Rule(rule) => (*self.ends(grammar.rule(*rule).body, start)).clone(),
            Expression::Label(_, body) => (*self.ends(*body, start)).clone(),
            Expression::Intersection(list) => {
                let mut all: BTreeSet<usize> = (start..=self.text.len()).collect();
                for &part in list {
                    let ends = self.ends(part, start);
                    all.retain(|end| ends.contains(end));
                }
                all
            }
            Expression::Complement(body) => {
                let ends = self.ends(*body, start);
                (start..=self.text.len()).filter(|end| !ends.contains(end)).collect()
            }
            Expression::Members(members) => self.members(members, start),
        }
    }

    fn repeat(&mut self, body: ExprId, min: u32, max: Option<u32>, start: usize) -> BTreeSet<usize> {
        let mut at = BTreeSet::from([start]);
        for _ in 0..min {
            let next = self.after_all(&at, body);
            if next == at {
                break;
            }
            at = next;
        }
        // ends that were there before lead to nothing new
        let mut all = at.clone();
        let mut count = min;
        while max.is_none_or(|max| count < max) {
            at = self.after_all(&at, body);
            if at.is_subset(&all) {
                break;
            }
            all.extend(&at);
            count += 1;
        }
        all
    }

    fn members(&mut self, members: &Members, start: usize) -> BTreeSet<usize> {
        let list = &members.members;
        let mut ends = BTreeSet::new();
        let mut seen = HashSet::new();
        // position, which members were there, how far in the declared order, whether any member was there
        let mut work = vec![(start, vec![false; list.len()], 0, false)];
        while let Some(state) = work.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            let (at, had, next, any) = state;
            if list.iter().zip(&had).all(|(member, had)| *had || !member.required) {
                ends.insert(at);
            }
            let starts = if any { (*self.ends(members.separator, at)).clone() } else { BTreeSet::from([at]) };
            for &at in &starts {
                for (index, member) in list.iter().enumerate() {
                    let out_of_order = members.order == Order::Declared && index < next;
                    if had[index] || out_of_order || !self.text[at..].starts_with(&member.key) {
                        continue;
                    }
                    let mut had = had.clone();
                    had[index] = true;
                    for &end in self.ends(member.value, at + member.key.len()).iter() {
                        work.push((end, had.clone(), index + 1, true));
                    }
                }
                if let Some(rest) = members.rest {
                    let next = if members.order == Order::Declared { list.len() } else { next };
                    for &end in self.ends(rest, at).iter() {
                        work.push((end, had.clone(), next, true));
                    }
                }
            }
        }
        ends
    }
}
