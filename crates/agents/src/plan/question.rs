//! Questions that a policy answers, rendered with the spec's templates.

use super::automaton::PlanAutomaton;
use super::errors;
use super::partial::{PartialPlan, Successor};
use super::step::{Plan, Step};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::syntax::automaton_spec::{Direction, ParameterValue, Spec, Symbol};
use grammata::transitions::Completable;
use grammata_template::Dialect;
use minijinja::context;
use minijinja::value::Value;
use std::sync::Arc;

const PROGRESS: &str = "\
{% if steps %}The plan so far:
{% for step in steps %}{{ step.number }}. {{ step.text }}
{% endfor %}{% endif %}";

const QUESTION: &str = "\
{{ task }}

{{ progress }}
{% if set %}What should \"{{ set.label }}\" take?{% else %}Which action comes next?{% endif %}\
{% if form == 'open' %}
{% else %} The options are:
{% for option in options %}{{ option.number ~ '.' if form == 'number' else '-' }} {{ option.label }}
{% endfor %}{% endif %}
{% if set %}Answer with the numbers of your choice, with commas between them{% if set.min == 0 %}, or with 0 for none\
{% endif %}.{% elif form == 'number' %}Answer with one number only, such as 1.\
{% elif form == 'text' %}Answer with the text of one option only.{% else %}Answer with the action only.{% endif %}";

const PLAN: &str = "\
{% for step in steps %}{{ step.text }}
{% endfor %}";

/// One choice that a question offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The successor; `None` finishes the plan.
    pub successor: Option<Successor>,
    /// The text that shows the choice.
    pub label: String,
    /// The cost of the action, in the spec's unit; 0 for the end.
    pub cost: u64,
    /// Whether a finished plan can be reached with this choice, if known.
    pub completable: Option<Completable>,
    /// The fewest steps from there to a finished plan, if the policy needs to know.
    pub steps_left: Option<u64>,
}

/// The label.
impl AsRef<str> for Choice {
    fn as_ref(&self) -> &str {
        &self.label
    }
}

impl Choice {
    /// Creates the choice to end a plan that is complete.
    pub(super) fn end() -> Choice {
        let completable = Some(Completable::Yes);
        Choice { successor: None, label: ending().text, cost: 0, completable, steps_left: Some(0) }
    }
}

/// The form of the answer to a question, and whether the question lists its choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AnswerForm {
    /// The question lists the choices with numbers from 1; the answer is a number.
    #[default]
    Number,
    /// The question lists the choices; the answer is the label of one.
    Text,
    /// The question does not list the choices; the answer is the label of one.
    Open,
}

impl AnswerForm {
    /// Returns the value of `form` in templates.
    pub fn name(self) -> &'static str {
        match self {
            AnswerForm::Number => "number",
            AnswerForm::Text => "text",
            AnswerForm::Open => "open",
        }
    }
}

/// Renders a question with its choices in the given order, a permutation of their indices.
pub type Wording = dyn Fn(&[usize]) -> Result<String> + Send + Sync;

/// A question to a policy.
#[derive(Clone)]
pub struct Question {
    /// The text of the question. It lists the choices unless the form is [`AnswerForm::Open`].
    pub text: String,
    /// The choices. One of them is the answer, or several if [`set`](Question::set) is present.
    pub choices: Vec<Choice>,
    /// The smallest and the greatest number of choices to take, if the question asks for a set.
    pub set: Option<(usize, usize)>,
    /// The form of the answer, which also decides whether the text lists the choices.
    pub form: AnswerForm,
    wording: Arc<Wording>,
}

impl std::fmt::Debug for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Question")
            .field("text", &self.text)
            .field("choices", &self.choices)
            .field("set", &self.set)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

impl Question {
    /// Creates a question whose text `wording` renders.
    ///
    /// # Errors
    /// Those of `wording`.
    pub fn new(
        choices: Vec<Choice>,
        set: Option<(usize, usize)>,
        form: AnswerForm,
        wording: Arc<Wording>,
    ) -> Result<Question> {
        let order: Vec<usize> = (0..choices.len()).collect();
        Ok(Question { text: wording(&order)?, choices, set, form, wording })
    }

    /// Renders the question with its choices in another order: `order[0]` is the index of the first.
    ///
    /// # Errors
    /// `plan/template`: the template fails.
    pub fn in_order(&self, order: &[usize]) -> Result<String> {
        (self.wording)(order)
    }

    /// Returns the answer that takes the choices at `places`, in the question's form: a number from 1, comma-separated
    /// numbers, 0 for none, or a label.
    pub fn completion(&self, places: &[usize]) -> String {
        match (self.set, self.form, places) {
            (None, AnswerForm::Text | AnswerForm::Open, [place]) => {
                self.choices.get(*place).map_or_else(String::new, |choice| choice.label.trim().to_owned())
            }
            (_, _, []) => "0".to_owned(),
            _ => {
                let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
                numbers.join(", ")
            }
        }
    }
}

/// Renders the questions of a task.
#[derive(Debug)]
pub struct Questions {
    templates: Arc<Templates>,
    task: String,
    parameters: Value,
}

/// The sources of the templates, by name.
#[derive(Debug)]
struct Templates {
    sources: [(&'static str, String); 4],
    limits: Limits,
}

impl Questions {
    /// Creates the questions of a spec. `task` describes what to plan. Without it, the spec's template of the task
    /// does; without that template, the spec's description, which is used as a template, or `Make a plan.` if it has
    /// none.
    ///
    /// # Errors
    /// `plan/template`: a template cannot be parsed, or the template of the task is needed and fails; limits.
    pub fn new(spec: &Spec, task: Option<&str>) -> Result<Questions> {
        let templates = spec.templates();
        let description = || spec.description().unwrap_or("Make a plan.").to_owned();
        let named = [
            ("task", templates.task.clone().unwrap_or_else(description)),
            ("progress", templates.progress.clone().unwrap_or_else(|| PROGRESS.to_owned())),
            ("question", templates.question.clone().unwrap_or_else(|| QUESTION.to_owned())),
            ("plan", templates.plan.clone().unwrap_or_else(|| PLAN.to_owned())),
        ];
        let limits = Limits::default();
        for (name, source) in &named {
            limits.check_source(source)?;
            let wrong = |found, place| errors::template(name, found, place);
            dialect().check(source).map_err(|fault| fault.into_error(&limits, wrong))?;
        }
        let parameters: std::collections::BTreeMap<String, Value> = spec
            .parameters()
            .iter()
            .map(|parameter| (parameter.name.clone(), parameter_value(&parameter.value)))
            .collect();
        let parameters = Value::from(parameters);
        let templates = Templates { sources: named, limits };
        let task = match task {
            Some(task) => task.to_owned(),
            None => templates
                .render(|| templates.render_here("task", context! { parameters => parameters.clone() }))?,
        };
        Ok(Questions { templates: Arc::new(templates), task, parameters })
    }

    /// Returns the description of what to plan.
    pub fn task(&self) -> &str {
        &self.task
    }

    /// Asks which of `choices` comes next.
    ///
    /// # Errors
    /// `plan/template`: a template fails or writes too much.
    pub fn ask(
        &self,
        plans: &PlanAutomaton,
        walk: &PartialPlan,
        choices: Vec<Choice>,
        form: AnswerForm,
    ) -> Result<Question> {
        let spec = plans.spec();
        let options: Vec<Value> = choices
            .iter()
            .map(|choice| match choice.successor {
                Some(successor) => {
                    let symbol = spec.symbols().get(successor.action);
                    symbol.map_or(Value::UNDEFINED, |symbol| value(symbol, 0, &symbol.outline()))
                }
                None => value(&ending(), 0, &choice.label),
            })
            .collect();
        let context = self.context(spec, walk.plan(), Value::from(()));
        Question::new(choices, None, form, self.wording(context, options, form))
    }

    /// Asks which elements the last step of `walk` takes; `None` if that step has no set.
    ///
    /// # Errors
    /// Those of [`ask`](Questions::ask).
    pub fn ask_set(&self, plans: &PlanAutomaton, walk: &PartialPlan) -> Result<Option<Question>> {
        let spec = plans.spec();
        let mut before = walk.plan().clone();
        let Some(step) = before.steps.pop() else { return Ok(None) };
        let Some(symbol) = spec.symbols().get(step.action) else { return Ok(None) };
        let Some(set) = &symbol.set else { return Ok(None) };
        let choices = |label: &String| Choice {
            successor: None,
            label: label.clone(),
            cost: 0,
            completable: None,
            steps_left: None,
        };
        let element = |label: &String| context! { label, text => label };
        let options: Vec<Value> = set.of.iter().map(element).collect();
        let about =
            context! { label => symbol.shown(), min => set.min, max => set.max, id => symbol.id.clone() };
        let choices: Vec<Choice> = set.of.iter().map(choices).collect();
        let context = self.context(spec, &before, about);
        let wording = self.wording(context, options, AnswerForm::Number);
        Question::new(choices, Some((set.min, set.max)), AnswerForm::Number, wording).map(Some)
    }

    /// Returns the template variables of a question after `plan`, except its options.
    fn context(&self, spec: &Spec, plan: &Plan, set: Value) -> Value {
        let steps = steps(spec, plan.steps.iter());
        let durations = plan.steps.iter().filter_map(|step| spec.symbols().get(step.action)?.duration);
        let duration = durations.fold(0u64, u64::saturating_add);
        let cost = plan.cost(spec);
        let (parent, input) = match parent(spec, plan).and_then(|(step, input)| {
            let action = plan.steps.get(step)?.action;
            let symbol = spec.symbols().get(action)?;
            Some((steps.get(step)?.clone(), symbol.inputs.get(input)?.clone()))
        }) {
            Some((parent, input)) => (parent, Value::from(input)),
            None => (Value::from(()), Value::from(())),
        };
        context! {
            task => self.task.as_str(), parameters => self.parameters.clone(), steps, parent, input, set, duration, cost
        }
    }

    fn wording(&self, context: Value, options: Vec<Value>, form: AnswerForm) -> Arc<Wording> {
        let templates = Arc::clone(&self.templates);
        Arc::new(move |order: &[usize]| {
            let listed: Vec<Value> = order
                .iter()
                .zip(1..)
                .filter_map(|(&place, number)| {
                    options.get(place).map(|option| context! { number, ..option.clone() })
                })
                .collect();
            let context = context! { options => listed, form => form.name(), ..context.clone() };
            templates.render(|| {
                let progress = templates.render_here("progress", context.clone())?;
                templates.render_here("question", context! { progress, ..context })
            })
        })
    }

    /// Renders a prompt for a model that writes the whole plan: the task, the actions, the order in which to write
    /// them, and examples. With `executed` the model writes one line per step in order of execution and omits the
    /// [`sources`](PlanAutomaton::sources); otherwise it writes a word of the spec.
    pub fn whole(&self, plans: &PlanAutomaton, examples: &[Plan], executed: bool) -> String {
        let spec = plans.spec();
        let left_out = if executed { plans.sources() } else { Vec::new() };
        let mut actions: Vec<String> = Vec::new();
        for (place, symbol) in spec.symbols().iter().enumerate() {
            let mut shown = symbol.shown().into_owned();
            if let Some(set) = &symbol.set {
                let some = set.of.join(", ");
                let none = if set.min == 0 { format!("; or {}", set.empty) } else { String::new() };
                shown.push_str(&format!(" (instead of …, some of: {some}{none})"));
            }
            if !left_out.contains(&place) && !actions.contains(&shown) {
                actions.push(shown);
            }
        }
        let order = match (executed, spec.direction()) {
            (false, Direction::Backward) => "from the last step to the first",
            _ => "from the first step to the last",
        };
        let mut text = format!(
            "{}\n\nThese are the steps that there are:\n- {}\n\nWrite the plan {order}, one step a line, each with its \
             name only. Write nothing else.",
            self.task,
            actions.join("\n- ")
        );
        for example in examples {
            let steps: Vec<&Step> =
                if executed { example.executed(spec).collect() } else { example.steps.iter().collect() };
            let shown = steps.into_iter().filter(|step| !left_out.contains(&step.action));
            let lines: Vec<String> = shown.map(|step| step.text(spec)).collect();
            text.push_str(&format!("\n\nAn example of a plan:\n{}", lines.join("\n")));
        }
        text
    }

    /// Renders a finished plan in order of execution.
    ///
    /// # Errors
    /// Those of [`ask`](Questions::ask).
    pub fn plan(&self, spec: &Spec, plan: &Plan) -> Result<String> {
        let steps = steps(spec, plan.executed(spec));
        let cost = plan.cost(spec);
        let context = context! {
            task => self.task.as_str(), parameters => self.parameters.clone(), steps, cost
        };
        self.templates.render(|| self.templates.render_here("plan", context))
    }
}

impl Templates {
    /// Runs `work`, which calls `render_here`, on a stack of its own.
    fn render(&self, work: impl FnOnce() -> Result<String> + Send) -> Result<String> {
        let wrong = |found, place| errors::template("question", found, place);
        grammata_template::on_own_stack(work).map_err(|fault| fault.into_error(&self.limits, wrong))?
    }

    fn render_here(&self, name: &'static str, context: Value) -> Result<String> {
        let source = self.sources.iter().find(|(known, _)| *known == name);
        let source = source.map_or("", |(_, source)| source.as_str());
        let wrong = |found, place| errors::template(name, found, place);
        let rendered = dialect().render_here(source, context, &self.limits);
        rendered.map_err(|fault| fault.into_error(&self.limits, wrong))
    }
}

fn dialect() -> Dialect {
    Dialect { trim_blocks: false, strict: true, put: None, functions: Vec::new() }
}

/// Creates the symbol that represents the end of a plan.
pub(super) fn ending() -> Symbol {
    let text = "Nothing more: the plan is finished.".to_owned();
    Symbol { id: String::new(), text, ..Symbol::default() }
}

fn parameter_value(value: &ParameterValue) -> Value {
    match value {
        ParameterValue::Integer(n) => Value::from(*n),
        ParameterValue::Boolean(b) => Value::from(*b),
        ParameterValue::String(text) => Value::from(text.as_str()),
        ParameterValue::List(list) => list.iter().map(|text| Value::from(text.as_str())).collect(),
    }
}

fn value(symbol: &Symbol, number: usize, text: &str) -> Value {
    context! {
        number,
        text => text.trim(),
        label => symbol.shown(),
        id => symbol.id.as_str(),
        cost => symbol.cost,
        duration => symbol.duration,
        inputs => symbol.inputs.clone(),
        outputs => symbol.outputs.clone(),
        groups => symbol.groups.clone(),
    }
}

fn steps<'p>(spec: &Spec, steps: impl Iterator<Item = &'p Step>) -> Vec<Value> {
    let one = |(step, number): (&'p Step, usize)| {
        let symbol = spec.symbols().get(step.action);
        symbol.map_or(Value::UNDEFINED, |symbol| value(symbol, number, &step.line(spec)))
    };
    steps.zip(1..).map(one).collect()
}

/// Returns the step and the input that the next step must make, as two indices. Serves plans that are written from the
/// last step to the first, with each step before the makers of its inputs. A step makes the latest open input that is
/// among the step's outputs. Returns `None` for a forward spec, or if no input is open.
pub(super) fn parent(spec: &Spec, plan: &Plan) -> Option<(usize, usize)> {
    if spec.direction() != Direction::Backward {
        return None;
    }
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (number, step) in plan.steps.iter().enumerate() {
        let Some(symbol) = spec.symbols().get(step.action) else { continue };
        let is_made = |&(step, input): &(usize, usize)| {
            let taker = plan.steps.get(step).and_then(|step| spec.symbols().get(step.action));
            let input = taker.and_then(|symbol| symbol.inputs.get(input));
            input.is_some_and(|input| symbol.outputs.contains(input))
        };
        if let Some(place) = open.iter().rposition(is_made) {
            open.remove(place);
        }
        open.extend((0..symbol.inputs.len()).rev().map(|input| (number, input)));
    }
    open.pop()
}
