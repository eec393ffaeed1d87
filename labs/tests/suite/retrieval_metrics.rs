//! The metrics of rankings: the hard cases under `tests/cases/retrieval`, and what holds of every ranking.

use grammata_labs::retrieval::metrics::{Judged, Relevance};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use std::path::Path;

fn cases<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(crate::ROOT).join("tests/cases/retrieval").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[derive(serde::Deserialize)]
struct MetricCase {
    name: String,
    hits: Vec<usize>,
    n: usize,
    length: usize,
    k: usize,
    mmrr: Option<f64>,
    map: Option<f64>,
    #[serde(default)]
    recall: Vec<(usize, f64)>,
    #[serde(default)]
    ndcg: Vec<(usize, f64)>,
    complete: Option<bool>,
    error: Option<String>,
}

#[test]
fn metrics_are_those_of_the_cases() {
    let near = |found: f64, expected: f64| (found - expected).abs() < 1e-6;
    for case in cases::<MetricCase>("metrics.json") {
        // the tool at rank i is i; needed tools that are not in the list are numbered from 100
        let list: Vec<usize> = (1..=case.length).collect();
        let missing = 100..100 + case.n - case.hits.len();
        let needed: Vec<usize> = case.hits.iter().copied().chain(missing).collect();
        let judged = Judged::new(&list, &Relevance::of_tools(&needed).unwrap(), case.k);
        if let Some(code) = &case.error {
            assert_eq!(judged.unwrap_err().code(), code, "{}", case.name);
            continue;
        }
        let judged = judged.unwrap();
        assert!(near(judged.mmrr(), case.mmrr.unwrap()), "{}: MMRR {}", case.name, judged.mmrr());
        assert!(near(judged.map(), case.map.unwrap()), "{}: MAP {}", case.name, judged.map());
        for (x, expected) in case.recall {
            assert!(near(judged.recall_at(x), expected), "{}: recall@{x}", case.name);
        }
        for (x, expected) in case.ndcg {
            assert!(near(judged.ndcg_at(x), expected), "{}: nDCG@{x} {}", case.name, judged.ndcg_at(x));
        }
        if let Some(complete) = case.complete {
            assert_eq!(judged.is_complete(), complete, "{}", case.name);
        }
    }
}

/// T8.
#[test]
fn a_group_is_served_once() {
    let groups = Relevance::of_groups(vec![vec![0, 1], vec![2]]).unwrap();
    let judged = Judged::new(&[0, 1, 2, 3, 4], &groups, 5).unwrap();
    assert_eq!(judged.gains(), [true, false, true, false, false]);
    assert!((judged.mmrr() - 0.75).abs() < 1e-9 && (judged.map() - 5.0 / 6.0).abs() < 1e-9);
    // a tool of two groups serves the first only, in the order of the groups
    let groups = Relevance::of_groups(vec![vec![0, 1], vec![0, 2]]).unwrap();
    assert_eq!(Judged::new(&[0, 1, 2], &groups, 3).unwrap().gains(), [true, false, true]);
    assert!(groups.contains(2) && !groups.contains(3));
}

#[test]
fn what_cannot_be_judged_is_an_error() {
    let one = Relevance::of_tools(&[1]).unwrap();
    let table = [
        (Relevance::of_tools(&[]).unwrap_err(), "retrieval/nothing-relevant"),
        (Relevance::of_groups(vec![vec![1], vec![]]).unwrap_err(), "retrieval/nothing-relevant"),
        (Relevance::of_tools(&[1, 2, 1]).unwrap_err(), "retrieval/tool-twice"),
        (Judged::new(&[1, 2, 1], &one, 11).unwrap_err(), "retrieval/tool-twice"),
        (Judged::new(&[1], &one, 0).unwrap_err(), "retrieval/k"),
    ];
    for (error, code) in table {
        assert_eq!(error.code(), code);
        assert!(error.diagnostic().help_text().is_some() && error.diagnostic().allowed_text().is_some());
    }
    // what follows rank k does not count
    assert!(Judged::new(&[1, 2, 1], &one, 2).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// T9.
    #[test]
    fn metrics_are_shares_and_rise_with_better_lists(
        list in Just((0..12).collect::<Vec<usize>>()).prop_shuffle(), length in 0..12_usize, n in 1..6_usize
    ) {
        // tools 0 to n - 1 are needed
        let relevance = Relevance::of_tools(&(0..n).collect::<Vec<_>>()).unwrap();
        let judge = |list: &[usize]| Judged::new(list, &relevance, 11).unwrap();
        let list = &list[..length];
        let judged = judge(list);
        for metric in [judged.mmrr(), judged.map(), judged.ndcg_at(11), judged.recall_at(11)] {
            prop_assert!((0.0..=1.0).contains(&metric), "{}", metric);
        }
        let is_perfect = list.len() >= n && list[..n].iter().all(|&tool| tool < n);
        prop_assert_eq!(judged.mmrr() == 1.0, is_perfect);
        prop_assert_eq!(judged.map() == 1.0, is_perfect);
        for rank in 1..list.len() {
            if list[rank] < n && list[rank - 1] >= n {
                let mut better = list.to_vec();
                better.swap(rank, rank - 1);
                let better = judge(&better);
                prop_assert!(better.mmrr() > judged.mmrr() && better.map() > judged.map());
                prop_assert!(better.ndcg_at(11) > judged.ndcg_at(11));
            }
        }
    }
}
