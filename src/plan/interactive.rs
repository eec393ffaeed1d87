//! A person at a terminal as a chooser.

use super::chooser::{Chooser, place_of, places_of};
use super::errors;
use super::question::Question;
use crate::error::Result;
use std::io::{BufRead, Write};

/// Asks a person: writes questions, reads lines. What is none of the answers is asked again.
#[derive(Debug)]
pub struct InteractiveChooser<R, W> {
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> InteractiveChooser<R, W> {
    /// Reads answers from `input` and writes questions to `output`.
    pub fn new(input: R, output: W) -> InteractiveChooser<R, W> {
        InteractiveChooser { input, output }
    }

    fn ask<T>(&mut self, question: &Question, read: impl Fn(&str) -> Option<T>) -> Result<T> {
        let io = |cause| errors::terminal(&cause);
        writeln!(self.output, "{}\n", question.text.trim()).map_err(io)?;
        loop {
            write!(self.output, "> ").and_then(|()| self.output.flush()).map_err(io)?;
            let mut line = String::new();
            if self.input.read_line(&mut line).map_err(io)? == 0 {
                return Err(errors::script_ended(1, &question.choices));
            }
            match read(line.trim()) {
                Some(answer) => return Ok(answer),
                None => writeln!(self.output, "That is none of the answers.").map_err(io)?,
            }
        }
    }
}

impl<R: BufRead, W: Write> Chooser for InteractiveChooser<R, W> {
    fn choose(&mut self, question: &Question) -> Result<usize> {
        self.ask(question, |answer| place_of(&question.choices, answer))
    }

    fn choose_set(&mut self, question: &Question) -> Result<Vec<usize>> {
        self.ask(question, |answer| places_of(question, answer))
    }
}
