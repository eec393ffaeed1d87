//! Flows: counts and automaton sizes of the shipped domains, their metrics, and invalid domains.
//!
//! The expected counts were computed by a brute force that shares no code with this project. The measured plans are
//! printed in FLAP (arXiv 2403.05766).

use crate::flow_metrics::{calls, measure};
use grammata::Limits;
use grammata::syntax::automaton_spec::{Format, Options, Spec};
use grammata::transitions::{Counts, Graph, TransitionSystem, minimize};
use grammata_agents::flows::{FlowAutomaton, FlowDomain, FlowOptions, Level, Within, spec};
use grammata_agents::plan::{PlanAutomaton, ReadPlan, Verdict};

const DOMAINS: [&str; 4] = ["trip-booking", "insurance", "banking", "restaurant-and-ride"];

fn text(name: &str) -> String {
    let path = format!("{}/grammars/flows/{name}.toml", crate::ROOT);
    std::fs::read_to_string(&path).unwrap_or_else(|cause| panic!("{path}: {cause}"))
}

fn domain(name: &str) -> FlowDomain {
    FlowDomain::read(&text(name), &Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The insurance domain, changed so that the payment information is requested instead of assumed.
fn asked() -> FlowDomain {
    let text = text("insurance")
        .replace("assumes = [\"pay_info\"]\n", "")
        .replace("apis = [\"OrderInsurance\"]", "apis = [\"GetPaymentInformation\", \"OrderInsurance\"]");
    FlowDomain::read(&text, &Limits::default()).unwrap()
}

fn count(domain: &FlowDomain, options: FlowOptions) -> String {
    let mut automaton = FlowAutomaton::new(domain, options).unwrap();
    let start = automaton.start();
    Counts::default().count(&mut automaton, &start).unwrap().to_string()
}

fn at(level: u8, within: Within, flow: Option<usize>) -> FlowOptions {
    FlowOptions::default().level(Level::of(level).unwrap()).within(within).flow(flow)
}

#[test]
fn plans_are_counted_at_each_level() {
    // domain; level 6 as declared; level 6 for each flow; level 5 for each flow; level 4; level 3
    type Row<'a> = (FlowDomain, &'a str, &'a [&'a str], &'a [&'a str], &'a str, &'a str);
    let rows: [Row<'_>; 5] = [
        (domain("trip-booking"), "3", &["1", "1", "1"], &["63", "15", "8"], "49707", "9864101"),
        (domain("insurance"), "3", &["1", "1", "1"], &["12", "11", "5"], "28788453", "1302061345"),
        (asked(), "3", &["1", "1", "1"], &["30", "11", "5"], "14422610", "1302061345"),
        (domain("banking"), "3", &["2", "1", "1"], &["10", "1", "5"], "198812", "108505112"),
        (
            domain("restaurant-and-ride"),
            "4",
            &["12", "12", "1", "1"],
            &["36", "36", "2", "5"],
            "3806354265330",
            "330665665962404000",
        ),
    ];
    for (domain, declared, six, five, four, three) in rows {
        let name = &domain.name;
        assert_eq!(count(&domain, at(6, Within::Declared, None)), declared, "{name}");
        let by_flow = |level: u8| -> Vec<String> {
            (0..domain.flows.len()).map(|flow| count(&domain, at(level, Within::Any, Some(flow)))).collect()
        };
        let sum = |counts: &[&str]| {
            counts.iter().map(|count| count.parse::<u64>().unwrap()).sum::<u64>().to_string()
        };
        assert_eq!(by_flow(6), six, "{name}");
        assert_eq!(count(&domain, at(6, Within::Any, None)), sum(six), "{name}");
        assert_eq!(by_flow(5), five, "{name}");
        assert_eq!(count(&domain, at(5, Within::Any, None)), sum(five), "{name}");
        assert_eq!(count(&domain, at(4, Within::Any, None)), four, "{name}");
        if domain.apis.len() < 20 {
            assert_eq!(count(&domain, at(3, Within::Any, None)), three, "{name}");
        }
    }
}

#[test]
fn the_least_automata_have_the_known_sizes() {
    let rows = [
        (domain("trip-booking"), [12, 12, 30]),
        (domain("insurance"), [11, 11, 26]),
        (asked(), [12, 12, 32]),
        (domain("banking"), [12, 13, 20]),
        (domain("restaurant-and-ride"), [19, 29, 48]),
    ];
    for (domain, sizes) in rows {
        let options = [at(6, Within::Declared, None), at(6, Within::Any, None), at(5, Within::Any, None)];
        for (options, size) in options.into_iter().zip(sizes) {
            let shown = format!("{} {options:?}", domain.name);
            let mut automaton = FlowAutomaton::new(&domain, options).unwrap();
            let graph = minimize(&Graph::of(&mut automaton, usize::MAX, |_| {}).unwrap());
            assert_eq!(graph.nodes.len(), size, "{shown}");
        }
    }
}

#[test]
fn a_domain_is_a_plan_spec_as_well() {
    for name in DOMAINS {
        let domain = domain(name);
        for level in [5, 6] {
            let mut automaton = FlowAutomaton::new(&domain, at(level, Within::Any, None)).unwrap();
            let text = spec(&mut automaton).unwrap().to_string();
            let options = Options::default().format(Format::Json);
            let mut plans = PlanAutomaton::new(Spec::read(&text, &options).unwrap()).unwrap();
            assert_eq!(
                plans.count().unwrap().to_string(),
                count(&domain, at(level, Within::Any, None)),
                "{name}"
            );
        }
    }
}

/// Plans of FLAP (arXiv 2403.05766, tables 1 and 4) in all the forms that the paper prints.
#[test]
fn plans_are_read_as_they_are_printed() {
    let domain = domain("trip-booking");
    let mut automaton = FlowAutomaton::new(&domain, at(6, Within::Any, None)).unwrap();
    let text = spec(&mut automaton).unwrap().to_string();
    let mut plans =
        PlanAutomaton::new(Spec::read(&text, &Options::default().format(Format::Json)).unwrap()).unwrap();
    let spec = plans.shared_spec();
    let names = ["GetAirports", "FindFlight", "Confirm", "CreateTrip", "GetPayInfo", "OrderTrip", "Finish"];
    let lines = |line: &dyn Fn(&str) -> String| names.map(line).join("\n");
    let json = |line: &dyn Fn(&str) -> String| serde_json::to_string(&names.map(line)).unwrap();
    let mut forms = vec![
        json(&|name| name.to_owned()),
        json(&|name| format!("{name}()")),
        lines(&|name| name.to_owned()),
        lines(&|name| format!("{name}()")),
        lines(&|name| format!("[thought] I need to [find] it. [API] {name}()")),
        lines(&|name| format!("[thought] It is needed, says the API. [API] {name}")),
        lines(&|name| format!("[API] {name}()")),
        lines(&|name| format!("[thought] First a thought\n[API] {name}()")),
    ];
    forms.push(
        names
            .iter()
            .zip(1..)
            .map(|(name, number)| format!("{number}. [thought] so [API] {name}()\n"))
            .collect(),
    );
    for form in &forms {
        let read = ReadPlan::parse(form, &spec).unwrap_or_else(|error| panic!("{form}\n{error}"));
        assert_eq!(read.steps.len(), names.len(), "{form}");
        assert!(matches!(plans.verify(&read, &[]).unwrap(), Verdict::Valid(_)), "{form}");
        let read = ReadPlan::parse(&form.replace("CreateTrip", "MakeTrip"), &spec).unwrap();
        assert!(matches!(plans.verify(&read, &[]).unwrap(), Verdict::Wrong { step: 3, .. }), "{form}");
    }
    for unreadable in ["[\"GetAirports\"", "[", "{\"steps\": 1}", "[[\"GetAirports\"]]"] {
        assert_eq!(ReadPlan::parse(unreadable, &spec).unwrap_err().code(), "plan/unreadable", "{unreadable}");
    }
}

#[test]
fn pairs_of_makers_and_users_are_as_counted() {
    let pairs: Vec<usize> = DOMAINS.iter().map(|name| domain(name).dependencies().len()).collect();
    assert_eq!(pairs, [13, 13, 15, 23]);
}

#[test]
fn gold_plans_have_no_faults() {
    for name in DOMAINS {
        let domain = domain(name);
        for flow in 0..domain.flows.len() {
            let names: Vec<&str> =
                domain.gold(flow).iter().map(|&api| domain.apis[api].name.as_str()).collect();
            let measures = measure(&domain, flow, &calls(&domain, names.iter().copied()));
            assert_eq!(measures, Default::default(), "{name} {flow}: {names:?}");
        }
    }
}

/// Returns the APIs that may be called after some calls at a level, sorted. Panics if a call is not allowed.
fn feasible(domain: &FlowDomain, level: u8, steps: &[&str]) -> Vec<String> {
    let mut automaton = FlowAutomaton::new(domain, at(level, Within::Any, None)).unwrap();
    let mut state = automaton.start();
    let mut successors = Vec::new();
    for step in steps {
        successors.clear();
        automaton.successors(&state, &mut successors).unwrap();
        let api = domain.api(step).unwrap();
        state = successors
            .iter()
            .find(|next| next.label.api == api)
            .unwrap_or_else(|| panic!("{step} may not come"))
            .to;
    }
    successors.clear();
    automaton.successors(&state, &mut successors).unwrap();
    let mut names: Vec<String> =
        successors.iter().map(|next| domain.apis[next.label.api].name.clone()).collect();
    names.sort();
    names
}

#[test]
fn what_may_come_next() {
    let (insurance, rides) = (domain("insurance"), domain("restaurant-and-ride"));
    let after = feasible(&insurance, 6, &["GetInsuranceID", "ValidateInsurance"]);
    assert_eq!(after, ["GetAdditionalMemberInformation", "GetRefundMethod"]);
    let level_5 = feasible(&insurance, 5, &["GetInsuranceID"]);
    let expected = ["Confirm", "GetAdditionalMemberInformation", "GetRefundMethod", "ValidateInsurance"];
    assert_eq!(level_5, expected);
    assert_eq!(feasible(&rides, 6, &[]).len(), 7);
    assert_eq!(feasible(&rides, 6, &["GetTime"]), ["GetBudget", "GetCity", "GetDestination", "GetSource"]);
    assert_eq!(feasible(&rides, 6, &["GetCity"]), ["GetBudget", "GetTime"]);
    let trip = domain("trip-booking");
    assert_eq!(feasible(&trip, 6, &[]), ["FindHotel", "FindRentalCar", "GetAirports"]);
    assert_eq!(
        feasible(&trip, 6, &["GetAirports", "FindFlight", "Confirm", "CreateTrip"]),
        ["GetPaymentInformation"]
    );
}

#[test]
fn measures_of_printed_plans() {
    let loop_of = "FindFlight FindHotel FindRentalCar GetCarInsuranceDiscount";
    let looped = format!("{loop_of} {loop_of} {loop_of} FindFlight FindHotel FindRentalCar");
    // domain, flow, plan; edits of APIs and of steps; shares of inconsistent APIs, inconsistent steps, repeated and
    // hallucinated APIs
    type Row<'a> = (&'a str, &'a str, &'a str, (usize, usize), [(usize, usize); 4]);
    let rows: [Row<'_>; 8] = [
        (
            "trip-booking",
            "book_flight",
            "FindFlight Confirm OrderTrip",
            (4, 1),
            [(2, 3), (0, 3), (0, 1), (0, 1)],
        ),
        (
            "trip-booking",
            "book_flight",
            "GetAirports FindFlight Confirm CreateTrip GetPayInfo OrderTrip",
            (1, 1),
            [(0, 6), (0, 3), (0, 1), (0, 1)],
        ),
        (
            "trip-booking",
            "book_flight",
            "GetAirports FindFlight GetPayInfo Confirm CreateTrip OrderTrip",
            (1, 2),
            [(0, 6), (1, 4), (0, 1), (0, 1)],
        ),
        ("trip-booking", "book_flight", &looped, (20, 17), [(4, 15), (3, 15), (11, 15), (0, 1)]),
        (
            "trip-booking",
            "book_car",
            "SuggestCars ConfirmTrip ExtractPromotionalOffers OrderTrip",
            (10, 7),
            [(1, 4), (1, 4), (0, 1), (3, 4)],
        ),
        (
            "banking",
            "open_account",
            "CheckEligibility FinalizeAccountType OpenAccount",
            (6, 3),
            [(2, 3), (1, 3), (0, 1), (1, 3)],
        ),
        (
            "trip-booking",
            "book_flight",
            "FindHotel Confirm CreateTrip GetPaymentInformation OrderTrip Finish",
            (3, 2),
            [(0, 6), (0, 4), (0, 1), (0, 1)],
        ),
        ("trip-booking", "book_flight", "", (7, 4), [(0, 1); 4]),
    ];
    for (name, flow, plan, (apis, steps), shares) in rows {
        let domain = domain(name);
        let flow = domain.flow(flow).unwrap();
        let found = measure(&domain, flow, &calls(&domain, plan.split_whitespace()));
        assert_eq!((found.api_edits, found.step_edits), (apis, steps), "{plan}");
        let found = [found.inconsistent_apis, found.inconsistent_steps, found.repeated, found.hallucinated];
        let expected = shares.map(|(count, of)| count as f64 / of as f64);
        assert_eq!(found, expected, "{plan}");
    }
}

/// Reads a small domain with the given APIs and steps. Its one flow consists of a prelude and the given entries and
/// assumptions.
fn small(apis: &str, steps: &str, flow: &str, assumes: &str) -> Result<FlowDomain, grammata::Error> {
    let text = format!(
        "kind = 'flows'\nprelude = 'p'\nend = 'E'\n[apis]\nP = {{}}\n{apis}\n[steps]\np = {{ text = 'begin', apis = ['P'] }}\n{steps}\n\
         [[flows]]\nid = 'f'\nintent = 'do it'\nsteps = ['p', {flow}]\nassumes = [{assumes}]\n"
    );
    FlowDomain::read(&text, &Limits::default())
}

#[test]
fn domains_that_are_wrong_are_refused_with_their_places() {
    let step = |id: &str, apis: &str| format!("{id} = {{ text = '{id}', apis = [{apis}] }}\n");
    let end = step("e", "'E'");
    let a_b = "A = { inputs = ['y'], outputs = ['x'] }\nB = { inputs = ['x'], outputs = ['y'] }\nE = {}";
    let cases: [(&str, &str, String, &str, &str, &str); 9] = [
        (
            "flow/cyclic-dependency",
            a_b,
            step("s", "'A', 'B'") + &end,
            "'s', 'e'",
            "",
            "A needs the output of B needs the output of A",
        ),
        (
            "flow/cyclic-dependency",
            "A = { inputs = ['x'], outputs = ['x'] }\nE = {}",
            step("s", "'A'") + &end,
            "'s', 'e'",
            "",
            "A needs the output of A",
        ),
        (
            "flow/unprovided-input",
            "A = { inputs = ['x'] }\nE = {}",
            step("s", "'A'") + &end,
            "'s', 'e'",
            "",
            "no API makes it",
        ),
        (
            "flow/unprovided-input",
            "A = { inputs = ['x'] }\nB = { outputs = ['x'] }\nE = {}",
            step("s", "'A'") + &end,
            "'s', 'e'",
            "",
            "`B` makes it: put it into an earlier step",
        ),
        (
            "flow/unprovided-input",
            "A = { inputs = ['x'] }\nB = { outputs = ['x'] }\nE = {}",
            step("s", "'A'") + &step("t", "'B'") + &end,
            "'s', 't', 'e'",
            "",
            "`B` makes it, but comes after it",
        ),
        (
            "flow/end",
            "A = {}\nE = {}",
            step("s", "'A'") + &end,
            "'s'",
            "",
            "as the last API of the last step",
        ),
        ("flow/unknown-name", "A = {}\nE = {}", step("s", "'A'") + &end, "'q', 'e'", "", "/flows/0/steps/1"),
        (
            "flow/empty-alternatives",
            "A = { inputs = [[]] }\nE = {}",
            step("s", "'A'") + &end,
            "'s', 'e'",
            "",
            "/apis/A/inputs/0",
        ),
        ("flow/name", "\"A[\" = {}\nE = {}", step("s", "'A['") + &end, "'s', 'e'", "", "`Name()`"),
    ];
    for (code, apis, steps, flow, assumes, shown) in cases {
        let error = small(apis, &steps, flow, assumes).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        assert!(error.to_string().contains(shown), "{shown}: {error}");
    }
    // a cycle is resolved by a datum that is assumed, or that a third API makes
    assert!(small(a_b, &(step("s", "'A', 'B'") + &end), "'s', 'e'", "'x'").is_ok());
    let third = format!("{a_b}\nC = {{ outputs = ['x'] }}");
    let domain = small(&third, &(step("s", "'A', 'B', 'C'") + &end), "'s', 'e'", "").unwrap();
    assert_eq!(count(&domain, FlowOptions::default()), "1");
    let empty = small("A = {}\nE = {}", &(step("s", "") + &end), "'s', 'e'", "").unwrap();
    assert_eq!(empty.warnings[0].code(), "flow/empty-step");
    assert_eq!(count(&empty, FlowOptions::default()), "1");
}

#[test]
fn many_apis_in_one_step_are_counted_or_refused() {
    let many = |most: usize| {
        let names: Vec<String> = (0..most).map(|number| format!("B{number}")).collect();
        let apis: String = names.iter().map(|name| format!("{name} = {{}}\n")).collect();
        let list: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
        let steps =
            format!("s = {{ text = 's', apis = [{}] }}\ne = {{ text = 'e', apis = ['E'] }}", list.join(", "));
        small(&format!("{apis}E = {{}}"), &steps, "'s', 'e'", "").unwrap()
    };
    assert_eq!(count(&many(8), FlowOptions::default()), "40320");
    let domain = many(25);
    let limits = Limits::default().plan_states(10_000);
    let mut automaton = FlowAutomaton::new(&domain, FlowOptions::default().limits(limits)).unwrap();
    let start = automaton.start();
    let error = Counts::default().count(&mut automaton, &start).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
}
