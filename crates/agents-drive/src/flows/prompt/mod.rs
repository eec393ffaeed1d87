//! Prompts that ask a model for a plan.

use super::errors;
use grammata::error::Result;
use grammata::limits::Limits;
use grammata_agents::flows::{Api, FlowDomain, Input, Thoughts, prelude_texts, unknown_flow};
use grammata_template::Dialect;
use minijinja::context;
use minijinja::value::Value;

const MAKERS: &str = "For each input of a call name the API that made it: Name(input=API).\n";
const TEMPLATE: &str = include_str!("prompt.jinja");

/// A prompt in two parts, for models with a chat template: the user's message, and the beginning of the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowPrompt {
    /// The domain's APIs, the flows, the query and the instruction. Everything but the last lines is equal for all
    /// queries with the same flows and kind of thoughts.
    pub question: String,
    /// The prelude in the format of the plan, up to where the model continues.
    pub answer: String,
}

impl FlowPrompt {
    /// Creates the prompt for the plan of a query, with all APIs and the given flows of a domain.
    ///
    /// # Errors
    /// `flow/unknown-name` if `flows` has an index that the domain lacks; the limits `template_work` and `source_bytes`;
    /// `flow/template` if the template cannot be rendered.
    pub fn new(
        domain: &FlowDomain,
        flows: &[usize],
        query: &str,
        thoughts: Thoughts,
        limits: &Limits,
    ) -> Result<FlowPrompt> {
        if let Some(unknown) = flows.iter().find(|&&flow| flow >= domain.flows.len()) {
            return Err(unknown_flow(*unknown));
        }
        let name = Thoughts::ALL.iter().find(|(_, one)| *one == thoughts).map_or("free", |(name, _)| name);
        let make = || {
            let text = |step: &usize| Value::from(domain.steps[*step].text.as_str());
            let flow = |flow: &usize| {
                let flow = &domain.flows[*flow];
                context! { intent => flow.intent.as_str(), steps => flow.steps.iter().map(text).collect::<Value>() }
            };
            context! {
                domain => domain.name.as_str(),
                apis => domain.apis.iter().map(|api| described(domain, api)).collect::<Value>(),
                flows => flows.iter().map(flow).collect::<Value>(),
                query => query,
                thoughts => name,
            }
        };
        let dialect = Dialect { trim_blocks: true, strict: true, put: None, functions: Vec::new() };
        let rendered = dialect.render(TEMPLATE, make, limits);
        let question = rendered.map_err(|fault| fault.into_error(limits, errors::template))?;
        Ok(FlowPrompt { question, answer: prelude(domain, thoughts, false) })
    }

    /// Converts the prompt to one for calls that name makers
    /// ([`FlowOptions::arguments`](grammata_agents::flows::FlowOptions::arguments)).
    pub fn naming_makers(mut self, domain: &FlowDomain, thoughts: Thoughts) -> FlowPrompt {
        self.question.push_str(MAKERS);
        self.answer = prelude(domain, thoughts, true);
        self
    }

    /// Returns the prompt for a model without a chat template: the question followed by the beginning of the answer.
    pub fn raw(&self) -> String {
        format!("{}{}", self.question, self.answer)
    }
}

fn described(domain: &FlowDomain, api: &Api) -> Value {
    let data = |data: &[usize], between: &str| {
        data.iter().map(|&place| domain.data[place].as_str()).collect::<Vec<_>>().join(between)
    };
    let inputs: Vec<String> = api.inputs.iter().map(|Input { any_of }| data(any_of, "/")).collect();
    context! {
        name => api.name.as_str(),
        inputs => inputs.join(", "),
        outputs => data(&api.outputs, ", "),
        description => api.description.as_str(),
    }
}

/// Returns the prelude as written in a plan, and the beginning of the text after it.
fn prelude(domain: &FlowDomain, thoughts: Thoughts, names_makers: bool) -> String {
    let text = domain.steps[domain.prelude].text.as_str();
    let apis: Vec<&Api> = domain.prelude_apis().iter().map(|&api| &domain.apis[api]).collect();
    let line = |(api, call): (&&Api, String)| {
        let (name, description) = (&api.name, &api.description);
        match thoughts {
            Thoughts::None => format!(" {call},"),
            Thoughts::Free => format!("[thought] {description} [API] {call}\n"),
            Thoughts::Stated => format!("[thought] {text}: {description} [API] {call}\n"),
            Thoughts::After => format!("[API] {call} [thought] {description}\n"),
            Thoughts::Guided => {
                format!("[now] {name}: {description}\n[thought] {description} [API] {call}\n")
            }
        }
    };
    let lines: String = apis.iter().zip(prelude_texts(domain, names_makers)).map(line).collect();
    match thoughts {
        Thoughts::None => format!("Plan:{lines}"),
        Thoughts::Free | Thoughts::Stated => format!("{lines}[thought]"),
        Thoughts::After => format!("{lines}[API]"),
        Thoughts::Guided => lines,
    }
}
