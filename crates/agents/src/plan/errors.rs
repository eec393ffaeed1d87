//! The errors of plans.

use super::arguments::WrongArguments;
use grammata::diagnostic::{Diagnostic, Place, excerpt};
use grammata::error::{Error, ErrorKind};
use grammata::limits::{LimitKind, Limits};
use grammata::syntax::automaton_spec::Spec;
use serde_json::Value;

pub(super) fn too_many_states(limit: usize) -> Error {
    Limits::exceeded(LimitKind::PlanStates, limit, "more states of plans")
}

grammata_base::errors! {
    pub(super) Limit;

    budget_exhausted(cause: &Error) = "plan/budget-exhausted", "the number of plans could not be determined"
        limit(cause.limit())
        cause(cause.diagnostic().message())
        allowed("specs whose plans have a finite number of states")
        help("limit how often actions may occur, or raise the limit (`Limits::plan_states`)");

    exhausted_infinite() =
        "plan/budget-exhausted", "it could not be determined whether the number of plans is finite"
        help("limit how often actions may occur");

    exhausted_search(most: usize) = "plan/budget-exhausted", "no plan was found before the search was stopped"
        found("unfinished plans of {most} steps")
        help("allow more steps (`max_free_steps`, `--max-free-steps`), or limit how often actions may occur");

    exhausted_beam(width: usize) = "plan/budget-exhausted", "all plans that the beam kept end in dead ends"
        found("a beam of {width}")
        help("keep more unfinished plans (`--beam-width N`), or use `--strategy best-first`");

    exhausted_orders(orders: usize) =
        "plan/budget-exhausted", "no order of the steps was found before the search was stopped"
        found("more than {orders} partial orders")
        help("give the steps in an order that the spec allows, or check a part of the plan");

    exhausted_questions(questions: usize) =
        "plan/budget-exhausted", "no plan was found before the search was stopped"
        found("more than {questions} questions")
        help("keep fewer unfinished plans (a narrower beam), or limit how often actions may occur");

    no_plan() = Rejected "plan/none", "there is no plan"
        help("every way ends in a dead end: loosen the limits of the spec, or change its parameters");

    template(name: &str, found: String, place: grammata::Place) =
        Grammar "plan/template", "the template `{name}` cannot be rendered"
        at(place)
        cause(found)
        allowed(match name {
            "task" => "`parameters`, the one value that this template is given",
            "plan" => "`task`, `parameters`, `steps` and `cost`, the values that this template is given",
            _ => "only the values that this template is given",
        })
        help(match name {
            "task" => "change the template; or give the task itself, which takes its place: `--task TEXT`",
            _ => "change the template, or its values",
        });

    no_scores() = Usage "plan/no-scores", "this policy does not say how probable its choices are"
        allowed("searches without scores: greedy, backtracking")
        help("take a policy that weighs its choices (first, random, a language model), or such a search");

    bad_scores(found: usize, choices: usize) =
        Usage "plan/bad-scores", "the policy's scores do not fit its choices"
        found("{found} scores for {choices} choices, or a score that is not a number")
        allowed("one natural logarithm of a probability for each choice")
        help("correct the policy's `scores`");

    bad_heuristic(found: usize, choices: usize) =
        Usage "plan/bad-scores", "a heuristic's scores do not fit its choices"
        found("{found} scores for {choices} choices, or a weighted score that is no number or infinite")
        allowed("one number for each choice; negative infinity excludes a choice")
        help("correct the heuristic's `scores`");

    script_ended(question: usize, choices: &[impl AsRef<str>]) =
        Usage "plan/no-answer", "question {question} has no answer"
        allowed(list(choices)) help("add an answer for every question");

    wrong_answer(answer: &str, question: usize, choices: &[impl AsRef<str>]) =
        Usage "plan/wrong-answer", "the answer to question {question} is none of its choices"
        found(answer)
        allowed(list(choices))
        help("answer with a number or a label; for a set, with such between commas, or with 0 for none");

    unreadable(cause: &str) = Grammar "plan/unreadable", "the plan cannot be read"
        cause(cause)
        allowed("a JSON list of the ids of actions and `{{\"action\": ID, \"elements\": [TEXTS]}}`, or lines of text")
        help("write the steps in the order in which they are carried out");

    exhausted_nearest(most: usize) = "plan/budget-exhausted", "the nearest plan was not found"
        limit(LimitKind::PlanStates)
        found("more than {most} partial alignments")
        allowed("a quarter of `Limits::plan_states`")
        help("limit how often actions may occur; whether the plan is valid does not depend on it");

    exhausted_verdict() =
        "plan/budget-exhausted", "the place where the plan goes wrong could not be determined"
        allowed("specs with some hundred thousand states") help("limit how often actions may occur");

    backward_planner() =
        Usage "plan/backward", "a spec that plans backwards cannot be planned while it is carried out"
        help("write the spec forwards; or make the whole plan first, with `grammata plan run` or a `Search`");

    step_not_allowed(spec: &Spec, action: usize, open: &[usize]) =
        Rejected "plan/step-not-allowed", "the action is not allowed now"
        found(id(spec, action))
        allowed(ids(spec, open))
        help("choose an allowed action; `grammata plan explain --steps IDS --why ID` shows what forbids another");

    no_step(text: &str, spec: &Spec, open: &[usize]) =
        Rejected "plan/step-not-allowed", "the text is not a step that is allowed now"
        found(text)
        allowed(ids(spec, open))
        help("write one step on one line: the text of its action with its arguments, or its id");

    wrong_arguments_in(text: &str, wrong: &WrongArguments) =
        Rejected "plan/wrong-arguments", "the schema does not admit the arguments of the step"
        at(Place::Pointer(wrong.pointer.clone()))
        found(&wrong.found)
        cause(excerpt(text))
        help("give the action the arguments that its schema in the spec describes");
}

grammata_base::errors! {
    pub Usage;

    /// Returns the error for an input that ends before a question is answered.
    input_ended(question: usize, choices: &[impl AsRef<str>]) =
        "plan/no-answer", "the input ended before question {question} was answered"
        allowed(list(choices)) help("answer every question, or end with `quit`");

    /// Returns the error for a question for the arguments of an action that has no answer.
    no_arguments(spec: &Spec, action: usize, question: usize) =
        "plan/no-answer", ("question {question} has no answer, for the arguments of `{}`", excerpt(id(spec, action)))
        allowed("JSON on one line, as the schema of the action has it")
        help("add an answer for every question");
}

grammata_base::errors! {
    Limit;

    model(found: String, help: &str) = Model "plan/model", "the language model gave no answer"
        found(found) help(help);
}

/// Quotes at most 12 choices of a question.
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

/// Returns the error for scores that are not numbers.
pub fn no_probability() -> Error {
    let found = "no answer that the model gives a probability".to_owned();
    model(found, "the model's logits are not numbers: check its file, or take other weights")
}

fn id(spec: &Spec, action: usize) -> &str {
    spec.symbols().get(action).map_or("", |symbol| symbol.id.as_str())
}

/// Quotes the ids of at most 12 actions.
fn ids(spec: &Spec, actions: &[usize]) -> String {
    let shown: Vec<String> =
        actions.iter().take(12).map(|&action| format!("`{}`", excerpt(id(spec, action)))).collect();
    match actions.len() {
        0 => "no action: the plan is finished".to_owned(),
        1..=12 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 12),
    }
}

fn arguments(spec: &Spec, action: usize, message: &str) -> Diagnostic {
    let schema = spec.arguments_schema(action).map_or_else(|| "none".to_owned(), Value::to_string);
    let message = format!("{message} of `{}`", excerpt(id(spec, action)));
    Diagnostic::new("plan/wrong-arguments", message)
        .allowed(format!("a value of the schema: {}", excerpt(&schema)))
        .help("give the action the arguments that its schema in the spec describes")
}

pub(super) fn missing_arguments(spec: &Spec, action: usize) -> Error {
    Error::new(ErrorKind::Rejected, arguments(spec, action, "there are no arguments").found("no arguments"))
}

pub(super) fn wrong_arguments(spec: &Spec, action: usize, wrong: &WrongArguments) -> Error {
    let diagnostic = arguments(spec, action, "the schema does not admit the arguments");
    Error::new(ErrorKind::Rejected, diagnostic.at(Place::Pointer(wrong.pointer.clone())).found(&wrong.found))
}

pub(super) fn arguments_not_json(spec: &Spec, action: usize, text: &str, cause: &serde_json::Error) -> Error {
    let diagnostic = arguments(spec, action, "the arguments are not JSON:");
    Error::new(ErrorKind::Rejected, diagnostic.found(text).cause(cause))
}

pub(super) fn wrong_elements(spec: &Spec, action: usize) -> Error {
    let set = spec.symbols().get(action).and_then(|symbol| symbol.set.as_ref());
    let allowed = match set {
        None => "no elements: the action has no set".to_owned(),
        Some(set) => {
            format!("from {} to {} of its {} elements, in rising order", set.min, set.max, set.of.len())
        }
    };
    let message = format!("`{}` cannot take these elements", excerpt(id(spec, action)));
    let diagnostic =
        Diagnostic::new("plan/step-not-allowed", message).allowed(allowed).help("choose the elements again");
    Error::new(ErrorKind::Rejected, diagnostic)
}
