//! The published decoder of flows: its graphs, its score to the digits of the specification, and its decoding with a model
//! that is a function.

use crate::models::{Bytes, END, Function, TOKENS};
use grammata::{Limits, Result};
use grammata_agents::flows::{FlowDomain, Thoughts};
use grammata_agents_drive::flows::{FlowPrompt, Similarity};
use grammata_decode::{Detokenizer, Feed, Model, PrefixCache, Rows};
use grammata_labs::flap::{FlapDecoder, FlapOptions, FlapProgress, FlapScore, FlapTerms, Incomplete};
use grammata_labs::{Query, queries};
use std::collections::HashMap;

fn trip() -> FlowDomain {
    let path = format!("{}/grammars/flows/trip-booking.toml", crate::ROOT);
    FlowDomain::read(&std::fs::read_to_string(path).unwrap(), &Limits::default()).unwrap()
}

/// Similarities of pairs of texts; those of other pairs are 0.
#[derive(Default)]
struct Table(HashMap<(String, String), f64>);

impl Table {
    fn of(pairs: &[(&str, &str, f64)]) -> Table {
        Table(pairs.iter().map(|&(a, b, found)| ((a.to_owned(), b.to_owned()), found)).collect())
    }
}

impl Similarity for Table {
    fn similarity(&mut self, first: &str, second: &str) -> Result<f64> {
        let known = |a: &str, b: &str| self.0.get(&(a.to_owned(), b.to_owned())).copied();
        Ok(known(first, second).or_else(|| known(second, first)).unwrap_or(0.0))
    }
}

/// The share of words that two texts have in common.
struct Words;

impl Similarity for Words {
    fn similarity(&mut self, first: &str, second: &str) -> Result<f64> {
        let words = |text: &str| -> Vec<String> {
            text.to_lowercase().split_whitespace().map(str::to_owned).collect()
        };
        let (first, second) = (words(first), words(second));
        let common = first.iter().filter(|word| second.contains(word)).count();
        Ok(common as f64 / first.len().max(second.len()).max(1) as f64)
    }
}

fn names(domain: &FlowDomain, apis: &[usize]) -> Vec<String> {
    apis.iter().map(|&api| domain.apis[api].name.clone()).collect()
}

fn ids(domain: &FlowDomain, steps: &[usize]) -> Vec<String> {
    steps.iter().map(|&step| domain.steps[step].id.clone()).collect()
}

#[test]
fn graphs_permit_what_the_example_says() {
    let domain = trip();
    let mut progress = FlapProgress::new(&domain);
    assert_eq!(
        names(&domain, &progress.permitted_apis()),
        ["FindRentalCar", "FindHotel", "GetAirports", "Confirm", "GetPaymentInformation"]
    );
    let steps = ids(&domain, &progress.permitted_steps());
    assert_eq!(steps, ["start", "suggest_cars", "suggest_flights", "suggest_hotels"]);
    let suggest = domain.steps.iter().position(|step| step.id == "suggest_flights").unwrap();
    progress.take(suggest, "GetAirports");
    assert_eq!(
        names(&domain, &progress.permitted_apis()),
        ["FindRentalCar", "FindHotel", "FindFlight", "Confirm", "GetPaymentInformation"]
    );
    let mut steps = ids(&domain, &progress.permitted_steps());
    steps.sort();
    assert_eq!(steps, ["confirm_create", "suggest_cars", "suggest_flights", "suggest_hotels"]);
    let followed: Vec<&str> =
        progress.followed().iter().map(|&flow| domain.flows[flow].id.as_str()).collect();
    assert_eq!(followed, ["book_flight"]);
    // a step of no followed flow: the flows that have it
    let cars = domain.steps.iter().position(|step| step.id == "suggest_cars").unwrap();
    progress.take(cars, "NoSuchAPI");
    let followed: Vec<&str> =
        progress.followed().iter().map(|&flow| domain.flows[flow].id.as_str()).collect();
    assert_eq!(followed, ["book_car"]);
    assert!(!progress.permits_step(suggest));
}

#[test]
fn scores_are_those_of_the_specification() {
    let domain = trip();
    let text = |id: &str| domain.steps.iter().find(|step| step.id == id).unwrap().text.as_str();
    let description = |name: &str| domain.apis[domain.api(name).unwrap()].description.as_str();
    let thought = "a thought";
    let hotels = text("suggest_hotels");
    // step, similarity to it, the name and its nearest API's similarity; description, probability; terms and score
    type Row<'a> = (&'a str, f64, &'a str, f64, f64, [f64; 4], f64);
    let rows: [Row<'_>; 5] = [
        (hotels, 0.62, "FindHotel", 0.55, 0.2, [0.31, 1.0, 0.40, 0.55], 1.642),
        (hotels, 0.62, "CreateTrip", 0.20, 0.6, [0.31, 0.1, 0.40, 0.20], 0.887),
        (hotels, 0.62, "Start", 0.20, 0.6, [0.31, 0.0, 0.40, 0.20], 0.817),
        (text("order"), 0.62, "FindMotel", 0.30, 0.5, [0.0, 0.08, 0.40, 0.30], 0.696),
        (text("start"), 0.70, "FindHotel", 0.50, 0.1, [0.70, 1.0, 0.35, 0.50], 1.815),
    ];
    for (step, similar, name, described, probability, terms, expected) in rows {
        let described_text = domain.api(name).map_or(name, |_| description(name));
        let mut similarity = Table::of(&[
            (thought, step, similar),
            (thought, "the query", terms[2]),
            (thought, described_text, described),
            ("FindMotel", "FindHotel", 0.8),
        ]);
        let progress = FlapProgress::new(&domain);
        let score = FlapScore { options: FlapOptions::default(), query: "the query" };
        let found = score.of_call(&progress, thought, name, &mut similarity).unwrap();
        for (found, expected) in
            [found.step, found.api, found.input, found.description].into_iter().zip(terms)
        {
            assert!((found - expected).abs() < 1e-9, "{name}: {found} is not {expected}");
        }
        let total = score.options.score(probability, score.options.heuristic(&found));
        assert!((total - expected).abs() < 5e-4, "{name}: {total}");
    }
    let broken = FlapOptions::default().score(0.9, FlapOptions::default().heuristic(&FlapTerms::default()));
    assert!((broken - 0.270).abs() < 1e-9);
    let terms = FlapTerms { step: 1.0, api: 10.0, input: 100.0, description: 1000.0 };
    let sums = [1, 2, 3, 4].map(|variant| FlapOptions::variant(variant).heuristic(&terms));
    assert_eq!(sums, [1110.0, 1011.0, 111.0, 1111.0]);
}

#[test]
fn similarities_are_kept_refused_or_in_order() {
    let domain = trip();
    let progress = FlapProgress::new(&domain);
    let thought = "a thought";
    let mut equal = Table::of(&[
        (thought, "Offer the customer flights", 0.5),
        (thought, "Offer the customer hotels", 0.5),
    ]);
    let (step, _) = progress.nearest_step(thought, &mut equal).unwrap();
    assert_eq!(domain.steps[step].id, "suggest_flights");
    let negative: Vec<(&str, &str, f64)> =
        domain.steps.iter().map(|step| (thought, step.text.as_str(), -0.5)).collect();
    assert_eq!(progress.nearest_step(thought, &mut Table::of(&negative)).unwrap(), (0, -0.5));
    let mut wrong = Table::of(&[(thought, "Offer the customer flights", f64::NAN)]);
    assert_eq!(progress.nearest_step(thought, &mut wrong).unwrap_err().code(), "flow/similarity");
    // a thought that is empty has no similarity
    assert_eq!(progress.nearest_step(" ", &mut wrong).unwrap().1, 0.0);
}

/// A model that writes one of some texts: the next token of each text that continues the output has the weight of the
/// text as its logit.
fn writer(prompt: usize, texts: Vec<(String, f32)>) -> Function<impl FnMut(&[u32]) -> Vec<f32> + Send> {
    Function::new(TOKENS, move |sequence: &[u32]| {
        let written: Vec<u8> = sequence[prompt..].iter().map(|&token| token as u8).collect();
        let mut logits: Vec<f32> = vec![-10.0; TOKENS];
        for (text, weight) in &texts {
            if let Some(rest) = text.as_bytes().strip_prefix(written.as_slice()) {
                let next = rest.first().map_or(END as usize, |&byte| usize::from(byte));
                logits[next] = logits[next].max(*weight);
            }
        }
        logits
    })
}

fn plan_with(options: FlapOptions, texts: &[(&str, f32)]) -> grammata_labs::flap::FlapPlan {
    let domain = trip();
    let texts = texts.iter().map(|&(text, weight)| (text.to_owned(), weight)).collect();
    let mut model = writer(1, texts);
    let bytes = Bytes::new();
    let mut decoder = FlapDecoder {
        model: &mut model,
        detokenizer: &bytes,
        end_tokens: &[END],
        similarity: &mut Words,
        domain: &domain,
        options,
    };
    let plan = decoder.plan(&[0], "Offer hotels").unwrap();
    assert!(model.sequences.is_empty());
    plan
}

#[test]
fn the_decoder_prefers_what_is_permitted() {
    let right = " Offer the customer hotels [API] FindHotel()\n[thought] Finish [API] Finish()";
    let wrong = " Offer the customer hotels [API] OrderTrip()\n[thought] Finish [API] Finish()";
    let options = FlapOptions::default().candidates(2).lookahead(64);
    // the model alone would order
    let texts = [(right, 1.0), (wrong, 2.0)];
    let plan = plan_with(options, &texts);
    assert_eq!(plan.text, right);
    assert!(plan.is_finished && plan.tokens == right.len());
    // a look-ahead that does not reach the API, or no weight on the heuristic, leaves it to the model
    let short = options.lookahead(2).incomplete(Incomplete::Partial);
    assert!(plan_with(options.lambda(0.0), &texts).text.starts_with(&wrong[..36]));
    assert!(plan_with(short, &texts).passes < plan.passes);
    // the end of text breaks the format
    let ended = plan_with(options, &[(" Offer", 1.0)]);
    assert!(!ended.is_finished && ended.text == " Offer");
}

#[test]
fn what_prompts_begin_with_is_fed_once() {
    let logits = |sequence: &[u32]| -> Vec<f32> {
        let sum: u32 = sequence.iter().enumerate().map(|(place, &token)| (place as u32 + 1) * token).sum();
        (0..TOKENS as u32).map(|token| ((sum ^ token) % 97) as f32).collect()
    };
    let mut model = Function::new(TOKENS, logits);
    let mut cache = PrefixCache::new(&mut model);
    let prompts: [&[u32]; 5] = [&[1, 2, 3, 4], &[1, 2, 3, 5, 6], &[1, 2, 3, 5, 6], &[9], &[1]];
    for prompt in prompts {
        let sequence = cache.open().unwrap();
        let fed = cache.feed(&[Feed { sequence, tokens: prompt, rows: Rows::Last }]).unwrap();
        assert_eq!(fed.row(0, &mut Vec::new()).unwrap(), logits(prompt));
        let fork = cache.fork(sequence).unwrap();
        cache.truncate(fork, prompt.len() - 1).unwrap();
        let fed = cache.feed(&[Feed { sequence: fork, tokens: &[7, 8], rows: Rows::All }]).unwrap();
        let expected = [&prompt[..prompt.len() - 1], &[7]].concat();
        assert_eq!(fed.row(0, &mut Vec::new()).unwrap(), logits(&expected));
        assert_eq!(cache.length(sequence).unwrap(), prompt.len());
        cache.close(sequence);
        cache.close(fork);
    }
    assert_eq!(cache.saved(), 3 + 4);
    let wrong = cache.open().unwrap();
    assert!(cache.feed(&[Feed { sequence: wrong, tokens: &[999], rows: Rows::Last }]).is_err());
    assert_eq!(cache.length(wrong).unwrap(), 0);
    cache.close(wrong);
    drop(cache);
    assert!(model.sequences.is_empty());
    // a failure leaves the sequence empty
    model.failing = Some(model.calls + 1);
    let mut cache = PrefixCache::new(&mut model);
    let sequence = cache.open().unwrap();
    assert!(cache.feed(&[Feed { sequence, tokens: &[1, 2], rows: Rows::Last }]).is_err());
    assert_eq!(cache.length(sequence).unwrap(), 0);
    let fed = cache.feed(&[Feed { sequence, tokens: &[1, 2], rows: Rows::Last }]).unwrap();
    assert_eq!(fed.row(0, &mut Vec::new()).unwrap(), logits(&[1, 2]));
}

#[test]
fn prompts_show_the_domain_and_give_the_prelude_away() {
    let domain = trip();
    let prompt =
        |thoughts| FlowPrompt::new(&domain, &[1], "a \"query\"", thoughts, &Limits::default()).unwrap();
    let plain = prompt(Thoughts::None);
    for api in &domain.apis {
        assert!(plain.question.contains(&format!("{}(inputs: ", api.name)), "{}", api.name);
    }
    assert!(
        plain
            .question
            .contains("CreateTrip(inputs: flight_id/hotel_id/car_id, confirmation_status; outputs: trip_id)")
    );
    assert!(plain.question.contains("To book a flight, follow these steps in order:\n- Begin to handle"));
    assert!(!plain.question.contains("book a rental car"));
    assert!(plain.question.contains("\"a \"query\"\""));
    assert!(plain.raw().ends_with("\nPlan: InitSystem(), Start(),"), "{}", plain.raw());
    assert!(prompt(Thoughts::Free).answer.ends_with(" [API] Start()\n[thought]"));
    assert!(prompt(Thoughts::After).answer.ends_with("\n[API]"));
    assert!(prompt(Thoughts::Guided).answer.ends_with(" [API] Start()\n"));
}

#[test]
fn the_shipped_queries_are_20_a_flow() {
    let path = format!("{}/grammars/flows/queries.toml", crate::ROOT);
    let found = queries(&std::fs::read_to_string(path).unwrap(), &Limits::default()).unwrap();
    assert_eq!(found.len(), 260);
    let mut by_flow: HashMap<(&str, &str), usize> = HashMap::new();
    found.iter().for_each(|Query { domain, flow, .. }| *by_flow.entry((domain, flow)).or_default() += 1);
    assert_eq!(by_flow.len(), 13);
    assert!(by_flow.values().all(|&count| count == 20));
    assert_eq!(queries("a = 1", &Limits::default()).unwrap_err().code(), "flow/queries");
    assert_eq!(Bytes::new().token_count(), TOKENS);
}
