//! The errors of plans.

use crate::diagnostic::{Diagnostic, excerpt};
use crate::error::{Error, ErrorKind};
use crate::limits::Limits;

pub(super) fn too_many_states(limit: usize) -> Error {
    Limits::exceeded("plan_states", limit, "more states of plans")
}

pub(super) fn budget_exhausted(cause: &Error) -> Error {
    let diagnostic = Diagnostic::new("plan/budget-exhausted", "how many plans there are was not found out")
        .cause(cause.diagnostic().message())
        .allowed("specs whose plans have a finite number of states")
        .help("limit how often actions may come, or raise the limit (`Limits::plan_states`)");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn exhausted_infinite() -> Error {
    let diagnostic =
        Diagnostic::new("plan/budget-exhausted", "whether there is an end of plans was not found out")
            .help("limit how often actions may come");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn exhausted_search(most: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/budget-exhausted", "no plan was found, though not all was tried")
        .found(format!("unfinished plans of {most} steps"))
        .help("allow more steps (`max_free_steps`, `--max-free-steps`), or limit how often actions may come");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn exhausted_questions(questions: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/budget-exhausted", "no plan was found, though not all was tried")
        .found(format!("more than {questions} questions"))
        .help("keep fewer unfinished plans (a narrower beam), or limit how often actions may come");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn no_plan() -> Error {
    let diagnostic = Diagnostic::new("plan/none", "there is no plan")
        .help("every way ends in a dead end: loosen the limits of the spec, or change its parameters");
    Error::new(ErrorKind::Rejected, diagnostic)
}

pub(super) fn template(name: &str, found: String, place: crate::Place) -> Error {
    let diagnostic = Diagnostic::new("plan/template", format!("the template `{name}` cannot be rendered"))
        .at(place)
        .cause(found)
        .allowed(match name {
            "task" => "`parameters`, the one value that this template is given",
            "plan" => "`task`, `parameters`, `steps` and `cost`, the values that this template is given",
            _ => "the values that this template is given, which `docs/plans.md` lists",
        })
        .help(match name {
            "task" => "change the template; or give the task itself, which takes its place: `--task TEXT`",
            _ => "change the template, or what it is given",
        });
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn no_scores() -> Error {
    let diagnostic =
        Diagnostic::new("plan/no-scores", "this policy does not say how probable its choices are")
            .allowed("searches without scores: greedy, backtracking")
            .help(
                "take a policy that weighs its choices (first, random, a language model), or such a search",
            );
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn bad_scores(found: usize, choices: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/bad-scores", "the policy's scores do not fit its choices")
        .found(format!("{found} scores of {choices} choices, or one that is not a number"))
        .allowed("one natural logarithm of a probability for each choice")
        .help("correct the policy's `scores`");
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn bad_heuristic(found: usize, choices: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/bad-scores", "a heuristic's scores do not fit its choices")
        .found(format!("{found} scores of {choices} choices, or one that is not a number"))
        .allowed("one number for each choice")
        .help("correct the heuristic's `scores`");
    Error::new(ErrorKind::Usage, diagnostic)
}

/// The choices of a question, as far as a line goes.
fn list(choices: &[impl AsRef<str>]) -> String {
    let shown: Vec<String> = choices
        .iter()
        .zip(1..)
        .take(12)
        .map(|(choice, number)| format!("{number} (`{}`)", excerpt(choice.as_ref())))
        .collect();
    match choices.len() {
        0..=12 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 12),
    }
}

pub(super) fn script_ended(question: usize, choices: &[impl AsRef<str>]) -> Error {
    let diagnostic = Diagnostic::new("plan/no-answer", format!("there is no answer to question {question}"))
        .allowed(list(choices))
        .help("add an answer for every question");
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn input_ended(question: usize, choices: &[impl AsRef<str>]) -> Error {
    let message = format!("the input ended before question {question} was answered");
    let diagnostic = Diagnostic::new("plan/no-answer", message)
        .allowed(list(choices))
        .help("answer every question, or end with `quit`");
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn quit(question: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/quit", format!("ended at question {question} with `quit`"))
        .help("there is no plan; begin again to answer anew");
    Error::new(ErrorKind::Rejected, diagnostic)
}

pub(super) fn wrong_answer(answer: &str, question: usize, choices: &[impl AsRef<str>]) -> Error {
    let message = format!("the answer to question {question} is none of its choices");
    let diagnostic = Diagnostic::new("plan/wrong-answer", message)
        .found(answer)
        .allowed(list(choices))
        .help("answer with a number or a label; for a set, with such between commas, or with 0 for none");
    Error::new(ErrorKind::Usage, diagnostic)
}

pub(super) fn unreadable(cause: &str) -> Error {
    let diagnostic = Diagnostic::new("plan/unreadable", "the plan cannot be read")
        .cause(cause)
        .allowed("a JSON list of the ids of actions and `{\"action\": ID, \"elements\": [TEXTS]}`, or lines of text")
        .help("write one step after the other, in the order in which they are carried out");
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn exhausted_nearest(most: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/budget-exhausted", "the nearest plan was not found")
        .found(format!("more than {most} partial alignments"))
        .allowed("a quarter of `Limits::plan_states`")
        .help("limit how often actions may come; whether the plan is valid does not depend on it");
    Error::new(ErrorKind::Limit, diagnostic)
}

pub(super) fn exhausted_verdict() -> Error {
    let diagnostic = Diagnostic::new("plan/budget-exhausted", "where the plan goes wrong was not found out")
        .allowed("specs with some hundred thousand states, without `max_cost` if they plan backwards")
        .help("limit how often actions may come");
    Error::new(ErrorKind::Limit, diagnostic)
}

fn model(found: String, help: &str) -> Error {
    let diagnostic =
        Diagnostic::new("plan/model", "the language model gave no answer").found(found).help(help);
    Error::new(ErrorKind::Model, diagnostic)
}

pub(super) fn context_full(tokens: usize, context: usize) -> Error {
    let diagnostic = Diagnostic::new("plan/model", "the question and its answer do not fit in the model's context")
        .found(format!("{tokens} tokens"))
        .allowed(format!("{context} tokens, the context of the model"))
        .help("shorten the task, the texts of the actions or the template `progress`, or take a model with a longer context");
    Error::new(ErrorKind::Model, diagnostic)
}

pub(super) fn no_choice_answered(answer: &str) -> Error {
    model(
        format!("the answer `{}`, which is none of the choices", excerpt(answer)),
        "this is a fault of the grammar of answers: report it",
    )
}

pub(super) fn no_token_for(answer: &str) -> Error {
    let found = format!("no tokens that spell the answer `{}`", excerpt(answer));
    model(found, "check that the tokenizer is the model's: digits, commas and spaces need tokens")
}

pub(super) fn no_probability() -> Error {
    let found = "no answer that the model gives a probability".to_owned();
    model(found, "the model's logits are not numbers: check its file, or take other weights")
}

pub(super) fn terminal(cause: &std::io::Error) -> Error {
    let diagnostic = Diagnostic::new("plan/terminal", "the questions cannot be asked")
        .cause(cause)
        .help("check where input comes from and output goes");
    Error::new(ErrorKind::Io, diagnostic)
}
