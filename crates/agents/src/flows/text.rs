//! Plans as texts: a byte grammar of calls and thoughts, so that a model writes a whole plan under one mask.

use super::automaton::{FlowAutomaton, FlowCall};
use super::domain::FlowDomain;
use super::errors;
use super::letters::{self, Letter};
use super::options::{FlowOptions, Level};
use grammata::error::Result;
use grammata::grammar::{CharClass, ExprId, Grammar, GrammarBuilder, Member, Members, Order};
use grammata::limits::{LimitKind, Limits};
use grammata::transitions::{Graph, GraphEdge};

/// The text written with the calls of a plan. A THOUGHT has 1 to [`THOUGHT_CHARS`] characters, without line feeds, `[`
/// and `]`, and without leading or trailing blanks, so that it cannot contain a second call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Thoughts {
    /// Nothing: ` Name(), Name()`.
    None,
    /// A thought before each call: ` THOUGHT [API] Name()`, with a line break and `[thought]` between two calls.
    Free,
    /// As `Free`, but the thought begins with the text of a step and `: `, and the call belongs to that step. The
    /// thought of a call that `allow` permits begins with the description of the API instead. Level 6 only.
    Stated,
    /// A thought after each call: ` Name() [thought] THOUGHT`, with a line break and `[API]` between two calls.
    After,
    /// As `Free`, but each thought is preceded by a line that lists the allowed calls:
    /// `[now] Name: description; …\n[thought] THOUGHT [API] Name()`.
    Guided,
}

impl Thoughts {
    /// Pairs of the name of a variant and the variant.
    pub const ALL: [(&'static str, Thoughts); 5] = [
        ("none", Thoughts::None),
        ("free", Thoughts::Free),
        ("stated", Thoughts::Stated),
        ("after", Thoughts::After),
        ("guided", Thoughts::Guided),
    ];

    /// Returns the text between two calls with their thoughts.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Thoughts::None => ",",
            Thoughts::Free | Thoughts::Stated => "\n[thought]",
            Thoughts::After => "\n[API]",
            Thoughts::Guided => "\n",
        }
    }

    /// Returns the text that follows an answer, before the next call or the thought.
    pub fn after_answer(self) -> &'static str {
        match self {
            Thoughts::After => " [thought]",
            _ => self.separator(),
        }
    }
}

/// The maximum number of characters of a thought.
pub const THOUGHT_CHARS: u32 = 240;

/// Builds the grammar of the texts of a domain's plans after the prelude.
///
/// # Errors
/// `flow/stated` for stated thoughts below level 6; `flow/line` if a text of the domain that thoughts quote is blank or
/// has a line break or a square bracket; `flow/arguments` if calls name makers below level 4, or data whose names do
/// not fit into brackets; those of [`FlowAutomaton::new`], except `flow/level`; limits, of which `plan_states` and
/// `grammar_nodes` bound the states, and `source_bytes` the lists of allowed calls.
pub fn grammar(domain: &FlowDomain, options: &FlowOptions, thoughts: Thoughts) -> Result<Grammar> {
    if thoughts == Thoughts::Stated && options.level != Level::Steps {
        return Err(errors::stated());
    }
    check_lines(domain, thoughts)?;
    let writer = Writer::new(domain, thoughts, GrammarBuilder::with_limits(options.limits.clone()));
    match options.level {
        Level::Format | Level::Names if options.arguments => Err(errors::arguments(options.level.number())),
        Level::Format | Level::Names => writer.free_plans(options.level),
        _ => {
            let options = FlowOptions { by_step: thoughts == Thoughts::Stated, ..options.clone() };
            if options.level == Level::Bounded
                && thoughts == Thoughts::None
                && !options.arguments
                && let Some(apis) = FlowAutomaton::new(domain, options.clone())?.at_most_once()
            {
                return writer.each_once(&apis);
            }
            writer.states(&letters::graph(domain, options)?)
        }
    }
}

/// Checks that texts quoted by thoughts are one line that is not blank and has no square brackets.
fn check_lines(domain: &FlowDomain, thoughts: Thoughts) -> Result<()> {
    let is_line = |text: &str| !text.trim().is_empty() && !text.contains(['\n', '[', ']']);
    let quotes_apis = match thoughts {
        Thoughts::Guided => (0..domain.apis.len()).collect(),
        Thoughts::Stated => domain.allow.clone(),
        _ => Vec::new(),
    };
    for api in quotes_apis.into_iter().map(|api| &domain.apis[api]) {
        if !is_line(&api.description) {
            return Err(errors::line_break("the description", &api.name));
        }
    }
    if thoughts == Thoughts::Stated {
        let wrong = domain.steps.iter().find(|step| !step.apis.is_empty() && !is_line(&step.text));
        return wrong.map_or(Ok(()), |step| Err(errors::line_break("the text", &step.id)));
    }
    Ok(())
}

struct Writer<'d> {
    domain: &'d FlowDomain,
    thoughts: Thoughts,
    g: GrammarBuilder,
    thought: ExprId,
    /// The number of bytes of the lines that list the allowed calls.
    listed: usize,
}

impl<'d> Writer<'d> {
    fn new(domain: &'d FlowDomain, thoughts: Thoughts, mut g: GrammarBuilder) -> Writer<'d> {
        let excluded: CharClass = ['\n', '[', ']'].into_iter().collect();
        let blank: CharClass = (0..=char::MAX as u32)
            .filter_map(char::from_u32)
            .take_while(|&c| c <= '\u{3000}')
            .filter(|c| c.is_whitespace())
            .collect();
        let inner = excluded.complement();
        let edge = inner.intersection(&blank.complement());
        let (inner, edge) = (g.char_class(inner), g.char_class(edge));
        let middle = g.repeat(inner, 0, Some(THOUGHT_CHARS - 2));
        let rest = g.sequence([middle, edge]);
        let rest = g.optional(rest);
        let thought = g.sequence([edge, rest]);
        let rule = g.declare("thought");
        g.define(rule, thought);
        let thought = g.rule(rule);
        Writer { domain, thoughts, g, thought, listed: 0 }
    }

    /// Builds calls with their accompanying text, where any of `calls` is allowed. Each target is a list of calls that
    /// lead to one state, with the expression for the rest of the plan from that state.
    fn turn(&mut self, calls: &[Letter], targets: Vec<(Vec<Letter>, ExprId)>) -> ExprId {
        match self.thoughts {
            Thoughts::None => {
                let before = self.g.text(" ");
                let calls = self.calls(targets.iter(), |_| true);
                self.g.sequence([before, calls])
            }
            Thoughts::Free | Thoughts::Guided => {
                let calls_after = self.calls(targets.iter(), |_| true);
                let line = match self.thoughts {
                    Thoughts::Guided => self.now(calls),
                    _ => " ".to_owned(),
                };
                self.thought_then(&line, calls_after)
            }
            Thoughts::Stated => {
                let domain = self.domain;
                let mut stated: Vec<&str> =
                    calls.iter().map(|letter| stated_text(domain, letter.call)).collect();
                stated.sort_unstable();
                stated.dedup();
                let mut alternatives = Vec::new();
                for text in stated {
                    let of_text = |letter: &Letter| stated_text(domain, letter.call) == text;
                    let calls_after = self.calls(targets.iter(), of_text);
                    alternatives.push(self.thought_then(&format!(" {text}: "), calls_after));
                }
                self.g.choice(alternatives)
            }
            Thoughts::After => {
                let mut alternatives = Vec::new();
                for (calls, rest) in &targets {
                    let names: Vec<ExprId> = calls.iter().map(|letter| self.name(letter)).collect();
                    let (before, names) = (self.g.text(" "), self.g.choice(names));
                    let mark = self.g.text(" [thought] ");
                    alternatives.push(self.g.sequence([before, names, mark, self.thought, *rest]));
                }
                self.g.choice(alternatives)
            }
        }
    }

    fn thought_then(&mut self, before: &str, calls: ExprId) -> ExprId {
        let (before, mark) = (self.g.text(before), self.g.text(" [API] "));
        self.g.sequence([before, self.thought, mark, calls])
    }

    /// Returns the line that lists the allowed calls; empty once all such lines together exceed the limit
    /// `source_bytes`.
    fn now(&mut self, calls: &[Letter]) -> String {
        if self.listed > self.g.limits().source_bytes {
            return String::new();
        }
        let line = now_line(self.domain, calls);
        self.listed += line.len();
        line
    }

    fn name(&mut self, letter: &Letter) -> ExprId {
        self.g.text(&*letter.text)
    }

    /// Builds a choice of the calls for which `is_wanted` holds, each followed by the rest of its target.
    fn calls<'t>(
        &mut self,
        targets: impl Iterator<Item = &'t (Vec<Letter>, ExprId)>,
        is_wanted: impl Fn(&Letter) -> bool,
    ) -> ExprId {
        let mut alternatives = Vec::new();
        for (calls, rest) in targets {
            let wanted = calls.iter().filter(|letter| is_wanted(letter));
            let names: Vec<ExprId> = wanted.map(|letter| self.name(letter)).collect();
            if !names.is_empty() {
                let names = self.g.choice(names);
                alternatives.push(self.g.sequence([names, *rest]));
            }
        }
        self.g.choice(alternatives)
    }

    /// Builds a rule for each state of the minimal automaton.
    fn states<S>(mut self, graph: &Graph<S, Letter>) -> Result<Grammar> {
        let rules: Vec<_> = (0..graph.nodes.len()).map(|state| self.g.declare(format!("q{state}"))).collect();
        let mut edges: Vec<Vec<&GraphEdge<Letter>>> = vec![Vec::new(); graph.nodes.len()];
        graph.edges.iter().for_each(|edge| edges[edge.from].push(edge));
        let separator = self.g.text(self.thoughts.separator());
        for (state, edges) in edges.iter().enumerate() {
            let mut targets = Vec::new();
            let mut calls: Vec<Letter> = Vec::new();
            for edge in edges {
                let Some(to) = edge.to else { continue };
                calls.extend(edge.labels.iter().cloned());
                let after = self.g.rule(rules[to]);
                let more = self.g.sequence([separator, after]);
                let rest = match graph.nodes[to].is_accepting {
                    true => self.g.empty(),
                    false => more,
                };
                targets.push((edge.labels.clone(), rest));
            }
            calls.sort_unstable();
            let body = match graph.nodes[state].is_accepting {
                true => self.g.empty(),
                false => self.turn(&calls, targets),
            };
            self.g.define(rules[state], body);
        }
        let (listed, limit) = (self.listed, self.g.limits().source_bytes);
        if listed > limit {
            return Err(Limits::exceeded(LimitKind::SourceBytes, limit, "longer lists of allowed calls"));
        }
        self.g.build(rules[0])
    }

    /// Builds the plans of levels 1 and 2: any number of calls, at least one.
    fn free_plans(mut self, level: Level) -> Result<Grammar> {
        let domain = self.domain;
        let calls =
            domain.apis.iter().enumerate().flat_map(|(api, one)| {
                one.answers().map(move |outcome| FlowCall { api, step: None, outcome })
            });
        let all: Vec<Letter> = calls.map(|call| Letter::bare(domain, call)).collect();
        let empty = self.g.empty();
        let turn = match level {
            Level::Format => {
                let letter = self.g.class([('A', 'Z'), ('a', 'z')]);
                let other = self.g.class([('A', 'Z'), ('a', 'z'), ('0', '9'), ('_', '_')]);
                let others = self.g.repeat(other, 0, Some(63));
                let brackets = self.g.text("()");
                let name = self.g.sequence([letter, others, brackets]);
                self.any_name(name, &all)
            }
            _ => self.turn(&all, vec![(all.clone(), empty)]),
        };
        let separator = self.g.text(self.thoughts.separator());
        let plan = self.g.separated(turn, separator, 1, None);
        let root = self.g.declare("plan");
        self.g.define(root, plan);
        self.g.build(root)
    }

    /// Builds a call of any name, with its accompanying text.
    fn any_name(&mut self, name: ExprId, all: &[Letter]) -> ExprId {
        let space = self.g.text(" ");
        match self.thoughts {
            Thoughts::None => self.g.sequence([space, name]),
            Thoughts::After => {
                let mark = self.g.text(" [thought] ");
                self.g.sequence([space, name, mark, self.thought])
            }
            Thoughts::Guided => {
                let now = self.now(all);
                self.thought_then(&now, name)
            }
            Thoughts::Free | Thoughts::Stated => self.thought_then(" ", name),
        }
    }

    /// Builds the plans of level 3 in which no API may be called more than once, as a list of members: its automaton is
    /// small, unlike an automaton over sets of APIs.
    fn each_once(mut self, apis: &[usize]) -> Result<Grammar> {
        let (separator, empty) = (self.g.text(","), self.g.empty());
        let member = |&api: &usize| Member {
            key: format!(" {}()", self.domain.apis[api].name).into_bytes().into(),
            value: empty,
            required: false,
        };
        let list = Members {
            order: Order::Any,
            members: apis.iter().filter(|&&api| api != self.domain.end).map(member).collect(),
            rest: None,
            ones: Box::default(),
            conditions: Box::default(),
            separator,
            min: 1,
            max: None,
        };
        let calls = if list.members.is_empty() { self.g.never() } else { self.g.member_list(list) };
        let calls = self.g.sequence([calls, separator]);
        let calls = self.g.optional(calls);
        let end = self.g.text(format!(" {}()", self.domain.apis[self.domain.end].name));
        let plan = self.g.sequence([calls, end]);
        let root = self.g.declare("plan");
        self.g.define(root, plan);
        self.g.build(root)
    }
}

/// Returns the line that lists the allowed calls, and the mark `[thought]` on the next line.
pub(super) fn now_line(domain: &FlowDomain, calls: &[Letter]) -> String {
    let mut apis: Vec<usize> = calls.iter().map(|letter| letter.call.api).collect();
    apis.dedup();
    let one = |api: usize| format!("{}: {}", domain.apis[api].name, domain.apis[api].description);
    let list: Vec<String> = apis.into_iter().map(one).collect();
    format!("[now] {}\n[thought] ", list.join("; "))
}

/// Returns the beginning of a stated thought of a call: the text of its step, or the description of an API outside of
/// steps.
pub(super) fn stated_text(domain: &FlowDomain, call: FlowCall) -> &str {
    match call.step {
        Some(step) => domain.steps[step].text.trim(),
        None => domain.apis[call.api].description.trim(),
    }
}
