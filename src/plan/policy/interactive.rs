//! A person at a terminal as a policy.

use crate::error::Result;
use crate::plan::errors;
use crate::plan::policy::{Answer, Policy, answer_of};
use crate::plan::question::Question;
use std::io::{BufRead, Read, Write};

/// Asks a person: writes questions, reads lines. What is none of the answers is asked again; `quit` ends it.
#[derive(Debug)]
pub struct InteractivePolicy<R, W> {
    input: R,
    output: W,
    asked: usize,
}

impl<R: BufRead, W: Write> InteractivePolicy<R, W> {
    /// Reads answers from `input` and writes questions to `output`.
    pub fn new(input: R, output: W) -> InteractivePolicy<R, W> {
        InteractivePolicy { input, output, asked: 0 }
    }

    fn ask(&mut self, question: &Question) -> Result<Answer> {
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
            match answer_of(question, line.trim()) {
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

impl<R: BufRead, W: Write> Policy for InteractivePolicy<R, W> {
    fn choose(&mut self, question: &Question) -> Result<Answer> {
        self.ask(question)
    }
}
