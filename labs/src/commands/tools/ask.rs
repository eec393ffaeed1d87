//! Prompts: the tools, the call format with worked examples, and the question.

use super::fault::Fault;
use super::tasks::Task;
use grammata::error::Result;
use grammata_agents::tools::{Call, CallFormat, Document, Level, ReadOptions, ToolSet, Turn, read};
use grammata_cli::cmd::tools::encoding;
use grammata_decode::{ChatTemplate, PromptTokenizer};
use serde_json::{Value, json};

/// The tools of the worked examples. No test set has them.
const GARDEN: &str = r#"{"openapi": "3.1.0", "servers": [{"url": "https://garden.example"}], "paths": {
    "/beds/{bed}/plants": {"get": {"operationId": "list_plants", "parameters": [
        {"name": "bed", "in": "path", "schema": {"type": "integer"}},
        {"name": "colour", "in": "query", "schema": {"type": "string"}}]}},
    "/water": {"get": {"operationId": "water_level"}}}}"#;

/// Worked examples with numbers. The host writes their results.
const NUMBERS: [&str; EXAMPLES_AT_MOST] = [
    "Question: A shelf holds 4 rows of 6 jars, and 3 jars are taken. How many are left?\nAnswer: There are \
    <multiply>(4, 6)=24 jars at first. Then <subtract>(24, 3)=21 are left. #### 21\n",
    "Question: What is the square root of 2 to two decimals?\nAnswer: It is <sqrt>(2)=1.41. #### 1.41\n",
];

/// The most worked examples of a prompt, which is also the default number.
pub(super) const EXAMPLES_AT_MOST: usize = 2;

/// Writes the prompts of tasks.
pub(super) struct Asker<'a> {
    pub(super) tokenizer: &'a PromptTokenizer,
    pub(super) template: Option<&'a ChatTemplate>,
    pub(super) instructions: Instructions<'a>,
}

/// The instructions before the question.
pub(super) struct Instructions<'a> {
    pub(super) format: &'a CallFormat,
    pub(super) format_name: &'a str,
    /// The detail of the documentation of tools; none is shown if it is `None`.
    pub(super) level: Option<Level>,
    /// Number of worked examples, at most [`EXAMPLES_AT_MOST`].
    pub(super) examples: usize,
}

impl Asker<'_> {
    /// Returns the tokens of a task's prompt. Texts of tasks and tools never become special tokens.
    ///
    /// # Errors
    /// The template or the tokenizer fails.
    pub(super) fn prompt(&self, task: &Task) -> Result<Vec<u32>> {
        let system = self.instructions.text(&task.tools)?;
        let plain = || format!("{system}\n\nQuestion: {}\nAnswer: ", task.question);
        encoding::prompt(self.template, self.tokenizer, &system, &task.question, plain)
    }

    /// Returns the tokens of the prompt after a wrong output, which names the fault.
    ///
    /// # Errors
    /// Errors of [`prompt`](Asker::prompt).
    pub(super) fn again(&self, task: &Task, output: &str, fault: Fault) -> Result<Vec<u32>> {
        let told = fault.told();
        let question =
            format!("{}\nYour last answer was: {output}\nIt is wrong: {told}. Answer again.", task.question);
        self.prompt(&Task { question, ..task.clone() })
    }
}

impl Instructions<'_> {
    fn text(&self, set: &ToolSet) -> Result<String> {
        let mut text = String::from("You answer by calling tools.");
        if self.level.is_none() {
            text.push(' ');
        }
        if let Some(level) = self.level {
            let entries = set.callable().enumerate().map(|(at, tool)| tool.documentation(level, at + 1));
            text.push_str(&format!(" The tools are:\n{}\n", entries.collect::<Vec<_>>().join("\n")));
        }
        let is_numbers = self.format_name == "toolken";
        let asked = if is_numbers {
            "Answer in one line, with calls"
        } else {
            "Answer with one call and nothing else"
        };
        text.push_str(asked);
        text.push_str(match (self.examples, is_numbers) {
            (0, _) => ".\n",
            (1, true) => " as in this example:\n",
            (1, false) => ", in the form of this example, which has other tools:\n",
            (_, true) => " as in these examples:\n",
            (_, false) => ", in the form of these examples, which have other tools:\n",
        });
        let examples = if is_numbers { NUMBERS.map(str::to_owned) } else { self.worked()? };
        text.extend(examples.into_iter().take(self.examples));
        Ok(text)
    }

    fn worked(&self) -> Result<[String; EXAMPLES_AT_MOST]> {
        let set = read([Document { label: "garden", text: GARDEN }], &ReadOptions::default())?;
        let plants = self.example(&set, "list_plants", &json!({"bed": 2, "colour": "red"}))?;
        let water = self.example(&set, "water_level", &json!({}))?;
        Ok([
            format!("Question: Which red plants are in bed 2?\n{plants}\n"),
            format!("Question: How much water is left?\n{water}\n"),
        ])
    }

    fn example(&self, set: &ToolSet, tool: &str, arguments: &Value) -> Result<String> {
        if self.format_name == "relation" {
            return Ok(tool.to_owned());
        }
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let text = if self.format_name == "react" { " I need a tool for this." } else { "" };
        let turn = Turn {
            text: text.to_owned(),
            calls: vec![Call { tool: tool.to_owned(), arguments }],
            ..Turn::default()
        };
        self.format.render(&turn, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(format: &str, examples: usize) -> String {
        text_at(None, format, examples)
    }

    fn text_at(level: Option<Level>, format: &str, examples: usize) -> String {
        let set = read([Document { label: "garden", text: GARDEN }], &ReadOptions::default()).unwrap();
        let call_format = CallFormat::named(format).unwrap();
        Instructions { format: &call_format, format_name: format, level, examples }.text(&set).unwrap()
    }

    /// The settings of a journal do not include the prompt's text, so the text must not change for the same settings.
    #[test]
    fn instructions_are_those_of_the_journals_that_are_kept() {
        assert_eq!(
            text_at(Some(Level::Names), "json", 2),
            "You answer by calling tools. The tools are:\nlist_plants\nwater_level\nAnswer with one call and nothing else, in the form of these examples, which have other tools:\n\
             Question: Which red plants are in bed 2?\n{\"name\":\"list_plants\",\"arguments\":{\"bed\":2,\"colour\":\"red\"}}\n\
             Question: How much water is left?\n{\"name\":\"water_level\",\"arguments\":{}}\n"
        );
        assert_eq!(
            text_at(Some(Level::Names), "toolken", 2),
            format!(
                "You answer by calling tools. The tools are:\nlist_plants\nwater_level\nAnswer in one line, with calls as in these examples:\n{}",
                NUMBERS.concat()
            )
        );
        assert!(
            text("relation", 2)
                .contains("bed 2?\nlist_plants\nQuestion: How much water is left?\nwater_level\n")
        );
    }

    #[test]
    fn there_are_as_many_examples_as_are_asked_for() {
        for format in ["json", "react", "relation", "endpoint", "http", "restgpt", "python", "toolken"] {
            let [none, one, two] = [0, 1, 2].map(|examples| text(format, examples));
            assert_eq!(
                [&none, &one, &two].map(|text| text.matches("Question: ").count()),
                [0, 1, 2],
                "{format}"
            );
            assert!(
                none.starts_with("You answer by calling tools. Answer ")
                    && none.ends_with(".\n")
                    && !none.contains("example"),
                "{none}"
            );
            assert!(one.contains("this example") && two.contains("these examples"), "{one}{two}");
        }
    }

    #[test]
    fn examples_are_calls_of_their_format() {
        let set = read([Document { label: "garden", text: GARDEN }], &ReadOptions::default()).unwrap();
        for format in ["json", "react", "relation", "endpoint", "http", "restgpt", "python"] {
            let (text, call_format) = (text(format, 2), CallFormat::named(format).unwrap());
            let calls: Vec<&str> =
                text.split("Question: ").skip(1).map(|part| part.split_once('\n').unwrap().1).collect();
            for (call, tool) in calls.into_iter().zip(["list_plants", "water_level"]) {
                let turn = call_format.read(call.trim_end_matches('\n'), &set).unwrap();
                assert_eq!(turn.calls[0].tool, tool, "{format}: {call}");
            }
        }
    }
}
