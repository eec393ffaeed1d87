//! How often a language model's choice depends on the order in which its options are listed, for each way of asking:
//! `cargo run --profile quick --features ort --example option_order` (after `cargo xtask setup`).
//!
//! Each of 50 choices with one right answer (`examples/data/choices.jsonl`) is asked in 20 random orders. Arguments:
//! `--orders N` random orders of each choice, `--choices N` only the first N choices, `--only NAME,NAME` these ways of
//! asking, `--model FOLDER` another model; `--actions N` measures the time to one choice among N actions instead;
//! `--normalise` compares normalisations of the probabilities of texts.
#![allow(clippy::print_stdout)]

use grammata::vocabulary::{LoadOptions, TokenId, Vocabulary};
use grammata::{Limits, Result};
use grammata_agents::plan::{AnswerForm, Choice, Policy, Question};
use grammata_agents_drive::plan::{ModelPolicy, PROMPT_MODES, PromptEncoder, PromptMode, PromptOptions};
use grammata_decode::ort::{ModelOptions, OrtModel};
use grammata_decode::{ChatTemplate, Message, ModelFolder, PromptTokenizer};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The ways of asking: a prompt mode, and in how many orders the options are listed to the model.
const WAYS: [(&str, PromptMode, usize); 6] = [
    ("answer", PromptMode::Answer, 1),
    ("likelihood", PromptMode::Likelihood, 1),
    ("likelihood-4", PromptMode::Likelihood, 4),
    ("text", PromptMode::Text, 1),
    ("text-4", PromptMode::Text, 4),
    ("open", PromptMode::Open, 1),
];

/// A question with its options, the right one first.
#[derive(serde::Deserialize)]
struct Case {
    question: String,
    right: String,
    wrong: Vec<String>,
}

impl Case {
    fn options(&self) -> Vec<&str> {
        std::iter::once(&self.right).chain(&self.wrong).map(String::as_str).collect()
    }
}

struct Loaded {
    model: OrtModel,
    vocabulary: Arc<Vocabulary>,
    encoder: Encoder,
}

struct Encoder {
    tokenizer: PromptTokenizer,
    template: ChatTemplate,
}

impl PromptEncoder for &Encoder {
    fn prompt(&self, question: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode(&self.template.render(&[Message::user(question)], true)?, false)
    }

    fn answer(&self, text: &str) -> Result<Vec<u32>> {
        self.tokenizer.encode(text, false)
    }
}

impl Loaded {
    fn load(folder: &Path) -> std::result::Result<Loaded, Box<dyn std::error::Error>> {
        let limits = Limits::default();
        let files = ModelFolder::open(folder, &limits)?;
        let settings = ModelOptions::default().context_length(files.context_length).threads(1);
        let model = OrtModel::load(&files.model, &settings)?;
        let tokenizer = PromptTokenizer::from_file(&files.tokenizer, &limits)?;
        let turn = tokenizer.token_id("<|im_end|>");
        let eos = files.end_tokens.iter().copied().chain(turn).map(TokenId::new).collect();
        let options = LoadOptions::default().eos(eos);
        let vocabulary = Arc::new(Vocabulary::from_file(&files.tokenizer, &options)?);
        let template = files.template.ok_or("the model has no chat template")?;
        Ok(Loaded { model, vocabulary, encoder: Encoder { tokenizer, template } })
    }

    fn policy(&mut self, mode: PromptMode, orders: usize) -> Result<ModelPolicy<'_>> {
        let options = PromptOptions::default().mode(mode).orders(orders);
        let vocabulary = Arc::clone(&self.vocabulary);
        ModelPolicy::new(&mut self.model, vocabulary, Box::new(&self.encoder), options)
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1).map(String::as_str)
    };
    let number = |name: &str, default: usize| value(name).map_or(Ok(default), str::parse);
    let mut loaded = Loaded::load(Path::new(value("--model").unwrap_or(".models/smollm2")))?;
    let lines = std::fs::read_to_string("examples/data/choices.jsonl")?;
    let mut cases: Vec<Case> = lines.lines().map(serde_json::from_str).collect::<serde_json::Result<_>>()?;
    cases.truncate(number("--choices", cases.len())?);
    if let Some(actions) = value("--actions") {
        return Ok(among(&mut loaded, actions.parse()?)?);
    }
    if arguments.iter().any(|argument| argument == "--normalise") {
        return Ok(normalisations(&mut loaded, &cases)?);
    }
    println!("way of asking    right  changes  minority  tokens/choice  time/choice");
    for (name, mode, orders) in WAYS {
        if value("--only").is_none_or(|only| only.split(',').any(|one| one == name)) {
            measure(&mut loaded, &cases, (name, mode, orders), number("--orders", 20)?)?;
        }
    }
    Ok(())
}

/// Asks each case in random orders, and writes a row of the table: how many answers are right, for how many choices not
/// all orders have the same answer, and how many orders have another answer than most of them.
fn measure(
    loaded: &mut Loaded,
    cases: &[Case],
    (name, mode, listed): (&str, PromptMode, usize),
    orders: usize,
) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut policy = loaded.policy(mode, listed)?;
    let (mut right, mut changed, mut minority) = (0, 0, 0);
    for case in cases {
        let options = case.options();
        let mut taken = vec![0; options.len()];
        for _ in 0..orders {
            let mut order: Vec<usize> = (0..options.len()).collect();
            order.shuffle(&mut random);
            let shown: Vec<&str> = order.iter().map(|&place| options[place]).collect();
            let answer = policy.choose(&question(&case.question, &shown, policy.needs().form)?)?;
            taken[order[answer.places[0]]] += 1;
        }
        let most = taken.iter().copied().max().unwrap_or(0);
        right += taken[0];
        changed += usize::from(most < orders);
        minority += orders - most;
    }
    let usage = policy.usage();
    let asked = (cases.len() * orders) as f64;
    let share = |count: usize, of: f64| format!("{:.1} %", 100.0 * count as f64 / of);
    println!(
        "{name:<15}  {:>6}  {:>7}  {:>8}  {:>13.1}  {:>8.0} ms",
        share(right, asked),
        share(changed, cases.len() as f64),
        share(minority, asked),
        usage.tokens as f64 / asked,
        usage.time.as_secs_f64() * 1e3 / asked,
    );
    Ok(())
}

/// Returns a question in the words of the library's own template.
fn question(task: &str, options: &[&str], form: AnswerForm) -> Result<Question> {
    let choice = |label: &&str| Choice {
        successor: None,
        label: (*label).to_owned(),
        cost: 0,
        completable: None,
        steps_left: None,
    };
    let (task, labels) = (task.to_owned(), options.iter().map(|&label| label.to_owned()).collect::<Vec<_>>());
    let wording = move |order: &[usize]| {
        let line = |(&place, number): (&usize, usize)| match form {
            AnswerForm::Number => format!("{number}. {}\n", labels[place]),
            _ => format!("- {}\n", labels[place]),
        };
        let list: String = order.iter().zip(1..).map(line).collect();
        Ok(match form {
            AnswerForm::Number => {
                format!("{task} The options are:\n{list}\nAnswer with one number only, such as 1.")
            }
            AnswerForm::Text => {
                format!("{task} The options are:\n{list}\nAnswer with the text of one option only.")
            }
            AnswerForm::Open => format!("{task}\nAnswer with the action only."),
        })
    };
    Question::new(options.iter().map(choice).collect(), None, form, Arc::new(wording))
}

/// Measures the time to one choice among many actions, and prints it for each prompt mode.
fn among(loaded: &mut Loaded, actions: usize) -> Result<()> {
    const VERBS: [&str; 8] = ["open", "close", "check", "copy", "send", "print", "delete", "rename"];
    const OBJECTS: [&str; 5] = ["the order", "the invoice", "the account", "the parcel", "the contract"];
    let labels: Vec<String> = (0..actions)
        .map(|n| {
            let (verb, object) = (VERBS[n % VERBS.len()], OBJECTS[n / VERBS.len() % OBJECTS.len()]);
            format!("{verb} {object} number {}", n / (VERBS.len() * OBJECTS.len()) + 1)
        })
        .collect();
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    println!("prompt mode    tokens   runs     time");
    for (name, _, mode) in PROMPT_MODES {
        let mut policy = loaded.policy(mode, 1)?;
        let question = question("An invoice is wrong. What is the next step?", &labels, policy.needs().form)?;
        let start = Instant::now();
        policy.choose(&question)?;
        let (usage, time) = (policy.usage(), start.elapsed());
        println!("{name:<12}  {:>7}  {:>5}  {:>5.1} s", usage.tokens, usage.runs, time.as_secs_f64());
    }
    Ok(())
}

/// Prints how often the option with the best score is right, for scores of several normalisations. The options are not
/// listed in the question.
fn normalisations(loaded: &mut Loaded, cases: &[Case]) -> Result<()> {
    let length =
        |encoder: &Encoder, text: &str| encoder.tokenizer.encode(text, false).map(|all| all.len() as f64);
    let mut rows = Vec::new();
    for case in cases {
        let options = case.options();
        let tokens: Vec<f64> =
            options.iter().map(|text| length(&loaded.encoder, text)).collect::<Result<_>>()?;
        let bytes: Vec<f64> = options.iter().map(|text| text.len() as f64).collect();
        let mut policy = loaded.policy(PromptMode::Open, 1)?;
        let prompt = format!("{}\nAnswer with the action only.", case.question);
        let likely = policy.log_likelihoods(&prompt, &options, false)?;
        let ended = policy.log_likelihoods(&prompt, &options, true)?;
        let alone = policy.log_likelihoods("Answer with the action only.", &options, false)?;
        let right = |scores: Vec<f64>| scores.iter().skip(1).all(|&score| score < scores[0]);
        let divided = |by: &[f64]| likely.iter().zip(by).map(|(score, by)| score / by).collect();
        let pointwise = likely.iter().zip(&alone).map(|(score, alone)| score - alone).collect();
        let ways = [likely.clone(), ended, divided(&tokens), divided(&bytes), pointwise];
        rows.push(ways.map(right));
    }
    let names =
        ["sum", "sum, with the end of the turn", "per token", "per byte", "pointwise mutual information"];
    for (way, name) in names.iter().enumerate() {
        let right = rows.iter().filter(|row| row[way]).count();
        println!("{name:<30}  {:.1} %", 100.0 * right as f64 / rows.len() as f64);
    }
    Ok(())
}
