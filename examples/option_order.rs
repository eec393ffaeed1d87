//! How often a language model's choice depends on the order in which its options are listed, for each way of asking:
//! `cargo run --release --features ort --example option_order` (after `cargo xtask setup`).
//!
//! Each of 50 choices with one right answer (`examples/data/choices.jsonl`) is asked in 20 random orders. Arguments:
//! `[--orders N] [--choices N] [--only NAME,…] [--actions N]`; with `--actions 200`, the time to one choice among that many.
#![allow(clippy::print_stdout)]

use grammata::Limits;
use grammata::TokenId;
use grammata::decode::ort::{ModelOptions, OrtModel};
use grammata::decode::{ChatTemplate, Message, ModelFolder, PromptTokenizer};
use grammata::plan::policy::{ModelPolicy, PromptEncoder, PromptMode, PromptOptions};
use grammata::plan::{AnswerForm, Choice, Policy, Question, Wording};
use grammata::vocabulary::{LoadOptions, Vocabulary};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

struct Encoder {
    tokenizer: PromptTokenizer,
    template: ChatTemplate,
}

impl PromptEncoder for &Encoder {
    fn prompt(&self, question: &str) -> grammata::Result<Vec<u32>> {
        self.tokenizer.encode(&self.template.render(&[Message::user(question)], true)?, false)
    }

    fn answer(&self, text: &str) -> grammata::Result<Vec<u32>> {
        self.tokenizer.encode(text, false)
    }
}

fn main() -> Outcome<()> {
    let lines = std::fs::read_to_string("examples/data/choices.jsonl")?;
    let raw = std::env::args().any(|a| a == "--raw");
    let number = |name: &str, default: usize| -> usize {
        let mut args = std::env::args();
        args.find(|a| a == name).and_then(|_| args.next()).and_then(|n| n.parse().ok()).unwrap_or(default)
    };
    let limits = Limits::default();
    let files = ModelFolder::open(Path::new(".models/smollm2"), &limits)?;
    let options =
        ModelOptions { context_length: files.context_length, threads: 1, ..ModelOptions::default() };
    let mut model = OrtModel::load(&files.model, &options)?;
    let tokenizer = PromptTokenizer::from_file(&files.tokenizer, &limits)?;
    let eos =
        files.end_tokens.iter().copied().chain(tokenizer.token_id("<|im_end|>")).map(TokenId::new).collect();
    let vocabulary = Vocabulary::from_file(&files.tokenizer, &LoadOptions { eos, ..LoadOptions::default() })?;
    let encoder = Encoder { tokenizer, template: files.template.ok_or("no chat template")? };
    let mut policy =
        ModelPolicy::new(&mut model, Arc::new(vocabulary), Box::new(&encoder), PromptOptions::default())?;
    if raw {
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        for line in lines.lines().take(number("--choices", 50)) {
            let row: serde_json::Value = serde_json::from_str(line)?;
            let q = row["question"].as_str().unwrap();
            let mut texts = vec![row["right"].as_str().unwrap().to_owned()];
            texts.extend(row["wrong"].as_array().unwrap().iter().map(|w| w.as_str().unwrap().to_owned()));
            let refs: Vec<&str> = texts.iter().map(String::as_str).collect();
            let lens: Vec<usize> =
                refs.iter().map(|t| encoder.tokenizer.encode(t, false).unwrap().len()).collect();
            let mut out =
                serde_json::json!({"lens": lens, "bytes": refs.iter().map(|t| t.len()).collect::<Vec<_>>()});
            for (name, prompt) in [
                ("open", format!("{q}\nAnswer with the action only.")),
                ("bare", q.to_owned()),
                ("neutral", "Answer with the action only.".to_owned()),
                ("neutral2", "What is the answer?\nAnswer with the action only.".to_owned()),
            ] {
                for ended in [false, true] {
                    out[format!("{name}{}", if ended { "_e" } else { "" })] =
                        policy.log_likelihoods(&prompt, &refs, ended)?.into();
                }
            }
            let mut rows = vec![];
            for _ in 0..number("--orders", 3) {
                let mut order: Vec<usize> = (0..refs.len()).collect();
                order.shuffle(&mut random);
                let mut row = serde_json::json!({"order": order});
                let numbered: String =
                    order.iter().zip(1..).map(|(&p, n)| format!("{n}. {}\n", refs[p])).collect();
                let bulleted: String = order.iter().map(|&p| format!("- {}\n", refs[p])).collect();
                let nums: Vec<String> = (1..=refs.len()).map(|n| n.to_string()).collect();
                let nums: Vec<&str> = nums.iter().map(String::as_str).collect();
                row["num"] = policy
                    .log_likelihoods(
                        &format!("{q} The options are:\n{numbered}\nAnswer with one number only, such as 1."),
                        &nums,
                        false,
                    )?
                    .into();
                let p = format!("{q} The options are:\n{bulleted}\nAnswer with the text of one option only.");
                row["text"] = policy.log_likelihoods(&p, &refs, false)?.into();
                row["text_e"] = policy.log_likelihoods(&p, &refs, true)?.into();
                rows.push(row);
            }
            out["orders"] = rows.into();
            println!("{out}");
        }
        eprintln!("{:?}", policy.usage());
    }
    Ok(())
}
