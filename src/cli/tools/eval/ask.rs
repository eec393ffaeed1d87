//! Prompts: the tools, the call format with two worked examples, and the question.

use super::judge::Fault;
use super::tasks::Task;
use crate::cli::tools::encoding;
use crate::decode::{ChatTemplate, PromptTokenizer};
use crate::error::Result;
use crate::tools::{Call, CallFormat, Document, Level, ReadOptions, ToolSet, Turn, read};
use serde_json::{Value, json};

/// The tools of the worked examples, none of a test set.
const EXAMPLES: &str = r#"{"openapi": "3.1.0", "servers": [{"url": "https://garden.example"}], "paths": {
    "/beds/{bed}/plants": {"get": {"operationId": "list_plants", "parameters": [
        {"name": "bed", "in": "path", "schema": {"type": "integer"}},
        {"name": "colour", "in": "query", "schema": {"type": "string"}}]}},
    "/water": {"get": {"operationId": "water_level"}}}}"#;

/// Worked examples of numbers, whose results the host writes.
const NUMBERS: &str = "Question: A shelf holds 4 rows of 6 jars, and 3 jars are taken. How many are left?\nAnswer: There are \
    <multiply>(4, 6)=24 jars at first. Then <subtract>(24, 3)=21 are left. #### 21\nQuestion: What is the square root of 2 to two \
    decimals?\nAnswer: It is <sqrt>(2)=1.41. #### 1.41\n";

/// What prompts are made with.
pub(super) struct Asker<'a> {
    pub(super) tokenizer: &'a PromptTokenizer,
    pub(super) template: Option<&'a ChatTemplate>,
    pub(super) format: &'a CallFormat,
    pub(super) format_name: &'a str,
    pub(super) level: Option<Level>,
}

impl Asker<'_> {
    /// The tokens of a task's prompt. No text of a task or a tool becomes a special token.
    ///
    /// # Errors
    /// The template or the tokenizer fails.
    pub(super) fn prompt(&self, task: &Task) -> Result<Vec<u32>> {
        let system = self.system(&task.tools)?;
        let plain = || format!("{system}\n\nQuestion: {}\nAnswer: ", task.question);
        encoding::prompt(self.template, self.tokenizer, &system, &task.question, plain)
    }

    /// The tokens of the prompt after an output that is wrong, which says what is wrong with it.
    ///
    /// # Errors
    /// Those of [`prompt`](Asker::prompt).
    pub(super) fn again(&self, task: &Task, output: &str, fault: Fault) -> Result<Vec<u32>> {
        let told = fault.told();
        let question =
            format!("{}\nYour last answer was: {output}\nIt is wrong: {told}. Answer again.", task.question);
        self.prompt(&Task { question, ..task.clone() })
    }

    fn system(&self, set: &ToolSet) -> Result<String> {
        let mut text = String::from("You answer by calling tools.");
        if let Some(level) = self.level {
            let entries = set.callable().enumerate().map(|(at, tool)| tool.documentation(level, at + 1));
            text.push_str(&format!(" The tools are:\n{}\n", entries.collect::<Vec<_>>().join("\n")));
        }
        if self.format_name == "toolken" {
            text.push_str("Answer in one line, with calls as in these examples:\n");
            text.push_str(NUMBERS);
            return Ok(text);
        }
        text.push_str(
            "Answer with one call and nothing else, in the form of these examples, which have other tools:\n",
        );
        let examples = read([Document { label: "garden", text: EXAMPLES }], &ReadOptions::default())?;
        let no_arguments = Value::Object(serde_json::Map::new());
        let named = |name: &str, arguments: Value| self.example(&examples, name, &arguments);
        let plants = named(
            "list_plants",
            if self.format_name == "relation" {
                no_arguments.clone()
            } else {
                json!({"bed": 2, "colour": "red"})
            },
        )?;
        let water = named("water_level", no_arguments)?;
        text.push_str(&format!("Question: Which red plants are in bed 2?\n{plants}\n"));
        text.push_str(&format!("Question: How much water is left?\n{water}\n"));
        Ok(text)
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
