//! A person at a terminal as a chooser.

use super::chooser::{Chooser, place_of, places_of};
use super::errors;
use super::question::Question;
use crate::error::Result;
use std::io::{BufRead, Read, Write};

/// Asks a person: writes questions, reads lines. What is none of the answers is asked again; `quit` ends it.
#[derive(Debug)]
pub struct InteractiveChooser<R, W> {
    input: R,
    output: W,
    asked: usize,
}

impl<R: BufRead, W: Write> InteractiveChooser<R, W> {
    /// Reads answers from `input` and writes questions to `output`.
    pub fn new(input: R, output: W) -> InteractiveChooser<R, W> {
        InteractiveChooser { input, output, asked: 0 }
    }

    fn ask<T>(&mut self, question: &Question, read: impl Fn(&str) -> Option<T>) -> Result<T> {
        let io = |cause| errors::terminal(&cause);
        self.asked += 1;
        writeln!(self.output, "{}\n", question.text.trim()).map_err(io)?;
        loop {
            write!(self.output, "> ").and_then(|()| self.output.flush()).map_err(io)?;
            let mut line = String::new();
            // a line of any length is read no further than an answer is long
            let most = LONGEST_ANSWER;
            if (&mut self.input).take(most).read_line(&mut line).map_err(io)? == 0 {
                return Err(errors::input_ended(self.asked, &question.choices));
            }
            match read(line.trim()) {
                Some(answer) => return Ok(answer),
                None if line.trim() == "quit" => return Err(errors::quit(self.asked)),
                None => writeln!(self.output, "{}", allowed(question)).map_err(io)?,
            }
        }
    }
}

/// Bytes of an answer, at most.
const LONGEST_ANSWER: u64 = 1 << 16;

/// Which answers there are.
fn allowed(question: &Question) -> String {
    let most = question.choices.len();
    let numbers = if most == 1 { "1".to_owned() } else { format!("from 1 to {most}") };
    let wanted = match question.set {
        None => format!("Answer with a number {numbers}, or with the text of an option"),
        Some((min, max)) if min == max => {
            format!("Answer with {min} numbers {numbers}, with commas between them")
        }
        Some((min, max)) => {
            let none = if min == 0 { ", 0 for none" } else { "" };
            format!("Answer with {min} to {max} numbers {numbers}, with commas between them{none}")
        }
    };
    format!("That is none of the answers. {wanted}; `quit` ends.")
}

impl<R: BufRead, W: Write> Chooser for InteractiveChooser<R, W> {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        self.ask(question, |answer| place_of(&question.choices, answer))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        self.ask(question, |answer| places_of(question, answer))
    }
}
