//! Experiments: runs arms over queries, keeps records, and reports them.

use super::arms::{Arm, Maker, Method};
use super::experiment::{Arguments, Experiment};
use crate::Query;
use crate::flap::FlapOptions;
use crate::flow_metrics::{calls, measure};
use grammata::error::Result;
use grammata::limits::Limits;
use grammata::transitions::TransitionSystem;
use grammata_agents::flows::{FlowAutomaton, FlowDomain, FlowOptions, Level, Thoughts};
use grammata_agents_drive::flows::{FlowScope, IntentText, PlannerOptions, Similarity, intent_similarities};
use grammata_cli::io::messages;
use grammata_report::statistics::{Interval, bootstrap, mean_and_deviation, quantile, wilson};
use grammata_report::{Bar, Journal, Plot, Report, Table, Transcript, Turn};
use serde::{Deserialize, Serialize};

/// A plan with its measures.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) arm: String,
    pub(super) domain: String,
    flow: String,
    query: String,
    pub(super) text: String,
    calls: usize,
    parsable: bool,
    pub(super) finished: bool,
    right_plan: bool,
    api_edits: usize,
    step_edits: usize,
    ordered_edits: usize,
    inconsistent_apis: f64,
    inconsistent_steps: f64,
    repeated: f64,
    hallucinated: f64,
    /// Mean similarity of the thoughts to the descriptions of their APIs.
    coherence: Option<f64>,
    /// Share of the thoughts whose nearest step is the step of their call.
    #[serde(default)]
    agreement: Option<f64>,
    tokens: usize,
    forced: usize,
    passes: usize,
    seconds: f64,
    mask_seconds: f64,
}

/// The similarities and likelihoods of the flows of a query's domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct IntentRecord {
    domain: String,
    flow: usize,
    query: String,
    /// Similarities of the query to each flow: to its intent; to its intent and steps as one text; the mean of those to
    /// its intent and to each of its steps.
    similarities: [Vec<f64>; 3],
    log_likelihoods: Vec<f64>,
    /// For each other domain, the greatest similarity to intent and steps.
    others: Vec<f64>,
}

/// Runs the parts of an experiment that are not in its journal, and reports it.
pub(super) fn run(
    arguments: &Arguments,
    domains: &[FlowDomain],
    queries: &[Query],
    limits: &Limits,
) -> Result<Report> {
    let chosen = chosen(arguments, domains, queries);
    let settings = arguments.settings();
    let mut loaded = arguments.model.load(limits)?;
    let mut maker = Maker::new(&mut loaded, limits);
    if arguments.experiment == Experiment::Intent {
        let mut journal: Journal<IntentRecord> = Journal::open(&arguments.journal, &settings)?;
        for (domain, flow, id, query) in chosen {
            journal.get_or_run(&id, || intent(&mut maker, domains, domain, flow, query))?;
        }
        return Ok(intent_report(&journal));
    }
    let mut journal: Journal<Record> = Journal::open(&arguments.journal, &settings)?;
    let arms = arms(arguments);
    // query by query, so that an interrupted run has pairs of records
    for (number, (domain, flow, id, query)) in chosen.iter().enumerate() {
        for arm in &arms {
            let id = format!("{}/{id}", arm.name);
            let domain = &domains[*domain];
            journal.get_or_run(&id, || plan(&mut maker, arm, domain, *flow, query))?;
        }
        if (number + 1) % 10 == 0 {
            messages::plain(&format!("{} of {} queries", number + 1, chosen.len()));
        }
    }
    let records: Vec<&Record> = journal.records().map(|(_, record)| record).collect();
    let mut report = plan_report(arguments, &records);
    first_plans(&mut report, &records);
    Ok(report)
}

/// Returns the queries to run, by domain and flow, each with an id.
pub(super) fn chosen<'q>(
    arguments: &Arguments,
    domains: &[FlowDomain],
    queries: &'q [Query],
) -> Vec<(usize, usize, String, &'q str)> {
    let mut chosen = Vec::new();
    for (number, domain) in domains.iter().enumerate() {
        let mut of_domain = 0;
        for (place, flow) in domain.flows.iter().enumerate() {
            let of_flow = queries.iter().filter(|query| query.domain == domain.name && query.flow == flow.id);
            for (query_number, query) in of_flow.enumerate() {
                let is_left = arguments.per_flow.is_none_or(|most| query_number < most)
                    && arguments.per_domain.is_none_or(|most| of_domain < most);
                if is_left {
                    of_domain += 1;
                    let id = format!("{}/{}/{query_number}", domain.name, flow.id);
                    chosen.push((number, place, id, query.text.as_str()));
                }
            }
        }
    }
    chosen
}

fn arms(arguments: &Arguments) -> Vec<Arm> {
    let arm = |name: &str, method: Method, thoughts: Thoughts| Arm {
        name: name.to_owned(),
        method,
        options: PlannerOptions::default().thoughts(thoughts),
    };
    let valid =
        |name: &str, options: PlannerOptions| Arm { name: name.to_owned(), method: Method::Valid, options };
    let six = |scope, thoughts| PlannerOptions::default().scope(scope).thoughts(thoughts);
    match arguments.experiment {
        Experiment::Intent | Experiment::Changes => Vec::new(),
        Experiment::Plain => {
            let relevant = valid("level 6, relevant flow", six(FlowScope::Relevant, Thoughts::None));
            let all = valid("level 6, all flows", six(FlowScope::All, Thoughts::None));
            let similar = valid("level 6, most similar flow", six(FlowScope::Similar, Thoughts::None));
            let has_embedder = arguments.model.embedder.is_some();
            [relevant, all].into_iter().chain(has_embedder.then_some(similar)).collect()
        }
        Experiment::Thoughts => [
            ("free", Thoughts::Free),
            ("stated", Thoughts::Stated),
            ("after", Thoughts::After),
            ("guided", Thoughts::Guided),
        ]
        .map(|(name, thoughts)| valid(&format!("level 6, {name}"), six(FlowScope::All, thoughts)))
        .into(),
        Experiment::Baselines => vec![
            arm("greedy, plain", Method::Greedy, Thoughts::None),
            arm("greedy, thoughts", Method::Greedy, Thoughts::Free),
            arm("nucleus, thoughts", Method::Nucleus, Thoughts::Free),
        ],
        Experiment::Beam => vec![arm("beam 3, thoughts", Method::Beam, Thoughts::Free)],
        Experiment::Levels => Level::ALL
            .map(|level| {
                let name = format!("level {}", level.number());
                valid(&name, six(FlowScope::All, Thoughts::None).level(level))
            })
            .into(),
        Experiment::Published => {
            let (candidates, lookahead) = (arguments.candidates, arguments.lookahead);
            let options = FlapOptions::variant(4).candidates(candidates).lookahead(lookahead);
            let name = format!("FLAP.4, k {candidates}, L {lookahead}");
            vec![arm(&name, Method::Flap(options), Thoughts::Free)]
        }
        Experiment::Samples => vec![
            valid("level 6, free", six(FlowScope::All, Thoughts::Free)),
            valid("level 6, free, 4 draws", six(FlowScope::All, Thoughts::Free).samples(4)),
        ],
    }
}

pub(super) fn plan(
    maker: &mut Maker<'_>,
    arm: &Arm,
    domain: &FlowDomain,
    flow: usize,
    query: &str,
) -> Result<Record> {
    let made = maker.make(arm, domain, flow, query)?;
    let plan = arm.options.parse(domain, &made.text);
    let names: Vec<&str> = plan.calls.iter().map(|call| call.name.as_str()).collect();
    let measures = measure(domain, flow, &calls(domain, names.iter().copied()));
    let (mut coherence, mut agreement) = (None, None);
    if let Some(similarity) = maker.similarity() {
        let mut found = Vec::new();
        for call in plan.calls.iter().filter(|call| !call.thought.is_empty()) {
            if let Some(api) = domain.api(&call.name) {
                found.push(similarity.similarity(&call.thought, &domain.apis[api].description)?);
            }
        }
        coherence = mean_and_deviation(&found).map(|(mean, _)| mean);
        agreement = crate::flow_metrics::agreement(domain, flow, &plan.calls, similarity)?;
    }
    Ok(Record {
        arm: arm.name.clone(),
        domain: domain.name.clone(),
        flow: domain.flows[flow].id.clone(),
        query: query.to_owned(),
        calls: names.len(),
        parsable: plan.is_parsable,
        finished: plan.is_finished,
        right_plan: is_right(domain, flow, &names)?,
        api_edits: measures.api_edits,
        step_edits: measures.step_edits,
        ordered_edits: measures.ordered_edits,
        inconsistent_apis: measures.inconsistent_apis,
        inconsistent_steps: measures.inconsistent_steps,
        repeated: measures.repeated,
        hallucinated: measures.hallucinated,
        coherence,
        agreement,
        tokens: made.tokens,
        forced: made.forced,
        passes: made.passes,
        seconds: made.time.as_secs_f64(),
        mask_seconds: made.mask.as_secs_f64(),
        text: made.text,
    })
}

/// Returns whether calls, given by the names of their APIs, are a whole plan of a flow.
pub(super) fn is_right(domain: &FlowDomain, flow: usize, names: &[&str]) -> Result<bool> {
    let options = FlowOptions::default().flow(Some(flow));
    let mut automaton = FlowAutomaton::new(domain, options)?;
    let mut state = automaton.start();
    let mut transitions = Vec::new();
    for name in names {
        transitions.clear();
        automaton.successors(&state, &mut transitions)?;
        let Some(next) = transitions.iter().find(|next| Some(next.label.api) == domain.api(name)) else {
            return Ok(false);
        };
        state = next.to;
    }
    Ok(automaton.is_accepting(&state))
}

fn intent(
    maker: &mut Maker<'_>,
    domains: &[FlowDomain],
    number: usize,
    flow: usize,
    query: &str,
) -> Result<IntentRecord> {
    let domain = &domains[number];
    let log_likelihoods = maker.intent_likelihoods(domain, query)?;
    let similarity = maker.similarity().ok_or_else(crate::commands::errors::needs_embedder)?;
    let mut similarities: [Vec<f64>; 3] = Default::default();
    let texts = [IntentText::Intent, IntentText::WithSteps, IntentText::MeanOfSteps];
    for (found, text) in similarities.iter_mut().zip(texts) {
        *found = intent_similarities(domain, query, text, similarity)?;
    }
    let mut others = Vec::new();
    for (_, other) in domains.iter().enumerate().filter(|(other, _)| *other != number) {
        let found = intent_similarities(other, query, IntentText::WithSteps, similarity)?;
        others.push(found.into_iter().fold(f64::NEG_INFINITY, f64::max));
    }
    let (domain, query) = (domain.name.clone(), query.to_owned());
    Ok(IntentRecord { domain, flow, query, similarities, log_likelihoods, others })
}

/// Returns the first index of the greatest value.
fn best(values: &[f64]) -> usize {
    let first = |best: usize, place: usize| if values[place] > values[best] { place } else { best };
    (0..values.len()).fold(0, first)
}

fn intent_report(journal: &Journal<IntentRecord>) -> Report {
    let records: Vec<&IntentRecord> = journal.records().map(|(_, record)| record).collect();
    let both = |record: &IntentRecord| -> Vec<f64> {
        // both as log-probabilities; similarities are divided by a temperature of 0.05
        let pairs = record.similarities[1].iter().zip(&record.log_likelihoods);
        pairs.map(|(similarity, likelihood)| similarity / 0.05 + likelihood).collect()
    };
    type Choose<'a> = Box<dyn Fn(&IntentRecord) -> usize + 'a>;
    let ways: [(&str, Choose<'_>); 5] = [
        ("similarity to the intent", Box::new(|record| best(&record.similarities[0]))),
        ("similarity to intent and steps", Box::new(|record| best(&record.similarities[1]))),
        ("mean similarity to intent and steps", Box::new(|record| best(&record.similarities[2]))),
        ("likelihood of the intent", Box::new(|record| best(&record.log_likelihoods))),
        ("likelihood and similarity", Box::new(|record| best(&both(record)))),
    ];
    let mut bars = Vec::new();
    let mut table =
        Table { columns: ["", "right", "of", "share", "95 %"].map(str::to_owned).into(), rows: Vec::new() };
    for (name, choose) in &ways {
        let right = records.iter().filter(|record| choose(record) == record.flow).count();
        let Some(share) = wilson(right, records.len()) else { continue };
        table.rows.push(vec![
            (*name).to_owned(),
            right.to_string(),
            records.len().to_string(),
            format!("{:.3}", share.mean),
            format!("{:.3} to {:.3}", share.low, share.high),
        ]);
        bars.push(Bar { label: (*name).to_owned(), value: share });
    }
    let mut report = Report::new("Choice of the flow");
    report.table(table).plot(Plot { caption: "Share of right flows".to_owned(), bars });
    // compares queries of the domain with those of other domains, by the greatest similarity
    let served: Vec<f64> = records
        .iter()
        .map(|record| record.similarities[1].iter().copied().fold(f64::NEG_INFINITY, f64::max))
        .collect();
    let others: Vec<f64> = records.iter().flat_map(|record| record.others.iter().copied()).collect();
    let above = |value: &f64| {
        let below = others.iter().filter(|other| *other < value).count() as f64;
        let equal = others.iter().filter(|other| *other == value).count() as f64;
        below + equal / 2.0
    };
    let pairs = (served.len() * others.len()).max(1) as f64;
    let area = served.iter().map(above).sum::<f64>() / pairs;
    report.text(format!(
        "Queries that the domain serves against those of other domains, by the greatest similarity to intent and steps: \
         area under the ROC curve {area:.3}."
    ));
    if let Some(threshold) = quantile(&served, 0.05) {
        let below = |all: &[f64]| all.iter().filter(|found| **found < threshold).count();
        report.text(format!(
            "Below a threshold of {threshold:.3} (`flow run --threshold`) are {} of the {} queries that the domain serves and {} \
             of the {} of others.",
            below(&served),
            served.len(),
            below(&others),
            others.len()
        ));
    }
    report
}

/// The name of a measure, and a function that reads it from a record.
type Measure = (&'static str, fn(&Record) -> Option<f64>);

const MEASURES: [Measure; 17] = [
    ("calls", |record| Some(record.calls as f64)),
    ("parsable %", |record| Some(percent(record.parsable))),
    ("finished %", |record| Some(percent(record.finished))),
    ("right plan %", |record| Some(percent(record.right_plan))),
    ("repeated %", |record| Some(100.0 * record.repeated)),
    ("halluc. %", |record| Some(100.0 * record.hallucinated)),
    ("step edits", |record| Some(record.step_edits as f64)),
    ("API edits", |record| Some(record.api_edits as f64)),
    ("ordered edits", |record| Some(record.ordered_edits as f64)),
    ("inc. steps %", |record| Some(100.0 * record.inconsistent_steps)),
    ("inc. APIs %", |record| Some(100.0 * record.inconsistent_apis)),
    ("tokens", |record| Some(record.tokens as f64)),
    ("forced", |record| Some(record.forced as f64)),
    ("passes", |record| Some(record.passes as f64)),
    ("s a plan", |record| Some(record.seconds)),
    ("coherence", |record| record.coherence),
    ("agreement %", |record| record.agreement.map(|share| 100.0 * share)),
];

fn percent(is: bool) -> f64 {
    if is { 100.0 } else { 0.0 }
}

/// Returns the names of the arms, in the order of their first plans.
pub(super) fn arm_names<'r>(records: &[&'r Record]) -> Vec<&'r str> {
    let mut names: Vec<&str> = Vec::new();
    for record in records {
        if !names.contains(&record.arm.as_str()) {
            names.push(&record.arm);
        }
    }
    names
}

pub(super) fn plan_report(arguments: &Arguments, records: &[&Record]) -> Report {
    let names = arm_names(records);
    let columns = ["", "plans"].into_iter().chain(MEASURES.iter().map(|(name, _)| *name));
    let mut table = Table { columns: columns.map(str::to_owned).collect(), rows: Vec::new() };
    let mut edits = Vec::new();
    for name in &names {
        let of_arm: Vec<&&Record> = records.iter().filter(|record| record.arm == *name).collect();
        let mut row = vec![(*name).to_owned(), of_arm.len().to_string()];
        for (_, value) in &MEASURES {
            let values: Vec<f64> = of_arm.iter().filter_map(|record| value(record)).collect();
            let found = mean_and_deviation(&values);
            row.push(found.map_or_else(String::new, |(mean, sd)| format!("{mean:.1} ± {sd:.1}")));
        }
        table.rows.push(row);
        let values: Vec<f64> = of_arm.iter().map(|record| record.api_edits as f64).collect();
        let value = bootstrap(&values, 1).unwrap_or(Interval { mean: 0.0, low: 0.0, high: 0.0 });
        edits.push(Bar { label: (*name).to_owned(), value });
    }
    let mut report = Report::new(format!("Plans of flows: {:?}", arguments.experiment));
    report.text("Means and standard deviations over plans; the prelude is not counted, the end is.");
    report.table(table).plot(Plot { caption: "API edits, mean and 95 % interval".to_owned(), bars: edits });
    report
}

/// Adds the first plan of each arm to a report.
pub(super) fn first_plans(report: &mut Report, records: &[&Record]) {
    report.heading("The first plan of each arm");
    for name in arm_names(records) {
        let Some(record) = records.iter().find(|record| record.arm == name) else { continue };
        let turn = |speaker: &str, text: &str| Turn {
            speaker: speaker.to_owned(),
            text: text.to_owned(),
            note: None,
        };
        let note = format!("{} API edits, {} step edits", record.api_edits, record.step_edits);
        let agent = Turn { note: Some(note), ..turn("agent", record.text.trim()) };
        let caption = format!("{name}: {}", record.flow);
        report.transcript(Transcript { caption, turns: vec![turn("customer", &record.query), agent] });
    }
}
