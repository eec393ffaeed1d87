//! Cache of whether conjunctions are surely empty.

use super::schema_id::Part;
use crate::collections::interner::SliceInterner;
use std::cell::RefCell;

/// Greatest number of conjunctions whose answers are cached.
const MAX_ANSWERS: usize = 1 << 16;

/// Cache of answers to the question whether conjunctions are surely empty. Combinations of alternatives and the members of objects in
/// them ask the same questions many times. An answer from the cache uses as much fuel as the first one, so the cache
/// changes no verdict.
#[derive(Debug, Default)]
pub(in crate::syntax::json_schema) struct EmptyAnswers(RefCell<Answers>);

#[derive(Debug, Default)]
struct Answers {
    /// The parts in the order in which they were asked about, with the depth.
    asked: SliceInterner<Part, u32>,
    /// By id in `asked`; `None` for a question that the fuel did not suffice for.
    known: Vec<Option<Answer>>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::syntax::json_schema) struct Answer {
    pub(in crate::syntax::json_schema) is_empty: bool,
    /// The fuel that the question used, with some left.
    pub(in crate::syntax::json_schema) fuel: u32,
}

impl EmptyAnswers {
    /// Drops all answers, because the schemas of the table have changed.
    pub(in crate::syntax::json_schema) fn clear(&mut self) {
        let answers = self.0.get_mut();
        if !answers.known.is_empty() {
            *answers = Answers::default();
        }
    }

    pub(in crate::syntax::json_schema) fn get(
        &self,
        parts: &[Part],
        depth: u32,
        fuel: u32,
    ) -> (u32, Option<Answer>) {
        let mut answers = self.0.borrow_mut();
        if answers.known.len() >= MAX_ANSWERS {
            *answers = Answers::default();
        }
        let id = answers.asked.intern_with(depth, parts);
        if id as usize == answers.known.len() {
            answers.known.push(None);
        }
        (id, answers.known[id as usize].filter(|answer| answer.fuel < fuel))
    }

    pub(in crate::syntax::json_schema) fn insert(&self, id: u32, parts: &[Part], depth: u32, answer: Answer) {
        let mut answers = self.0.borrow_mut();
        // questions inside this one may have filled the table, which was then emptied
        let is_same = (id as usize) < answers.known.len()
            && answers.asked.get(id) == parts
            && answers.asked.head(id) == depth;
        if is_same {
            answers.known[id as usize] = Some(answer);
        }
    }
}
