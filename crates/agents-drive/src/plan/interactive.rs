//! A person at a terminal as a policy.

use crate::plan::errors;
use grammata::error::Result;
use grammata_agents::plan::Question;
use grammata_agents::plan::policy::{Answer, ArgumentRequest, Policy, answer_of, input_ended, no_arguments};
use serde_json::Value;
use std::io::{BufRead, Read, Write};

/// Asks a person: writes questions and reads lines. After an invalid answer, the valid ones are described and another
/// line is read; the answer `quit`, unless it is valid, ends the search with the error `plan/quit`.
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

    /// Reads the next line that `read` accepts; reports other lines as invalid.
    fn line<T>(
        &mut self,
        read: impl Fn(&str) -> std::result::Result<T, String>,
        ended: impl Fn() -> grammata::Error,
    ) -> Result<T> {
        let io = |cause| errors::terminal(&cause);
        loop {
            write!(self.output, "> ").and_then(|()| self.output.flush()).map_err(io)?;
            let mut line = String::new();
            // a line may be endless: read no more of it than the longest answer
            if (&mut self.input).take(LONGEST_ANSWER).read_line(&mut line).map_err(io)? == 0 {
                return Err(ended());
            }
            match read(line.trim()) {
                Ok(answer) => return Ok(answer),
                Err(_) if line.trim() == "quit" => return Err(errors::quit(self.asked)),
                Err(wrong) => writeln!(self.output, "{wrong}").map_err(io)?,
            }
        }
    }

    fn ask(&mut self, question: &Question) -> Result<Answer> {
        let io = |cause| errors::terminal(&cause);
        self.asked += 1;
        writeln!(self.output, "{}\n", question.text.trim()).map_err(io)?;
        let asked = self.asked;
        let read = |line: &str| answer_of(question, line).ok_or_else(|| allowed(question));
        self.line(read, || input_ended(asked, &question.choices))
    }
}

/// The maximum length of an answer in bytes.
const LONGEST_ANSWER: u64 = 1 << 16;

/// Describes the valid answers.
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

    fn arguments(&mut self, request: &ArgumentRequest<'_>) -> Result<Value> {
        self.asked += 1;
        let asked = self.asked;
        writeln!(self.output, "{}\n", request.text.trim()).map_err(|cause| errors::terminal(&cause))?;
        let read = |line: &str| match serde_json::from_str(line) {
            Ok(value) => match request.check(&value) {
                Ok(None) => Ok(value),
                Ok(Some(wrong)) => Err(format!(
                    "At #{}: the schema does not allow {}; `quit` ends.",
                    wrong.pointer, wrong.found
                )),
                Err(error) => Err(error.to_string()),
            },
            Err(cause) => Err(format!("That is not JSON: {cause}. `quit` ends.")),
        };
        self.line(read, || no_arguments(request.spec, request.action, asked))
    }
}
