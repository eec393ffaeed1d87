//! Function names of tools, and joining the lists of several queries by other rules than taking turns.

use grammata::Limits;
use grammata_agents::retrieval::fuse::{Join, join, reciprocal_rank_fusion};
use grammata_agents::retrieval::{Catalogue, Hit, Tool};
use proptest::prelude::*;
use std::collections::HashSet;

fn catalogue(tools: &[(&str, &str, &str)]) -> Catalogue {
    let tool = |&(id, function, name): &(&str, &str, &str)| Tool {
        id: id.to_owned(),
        function: function.to_owned(),
        name: name.to_owned(),
        ..Tool::default()
    };
    Catalogue::new(tools.iter().map(tool).collect(), &Limits::default()).unwrap()
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'))
}

/// Names of functions are valid, distinct and independent of the order of the tools.
#[test]
fn names_of_functions_are_valid_and_distinct() {
    let long = "x".repeat(65);
    let odd = [
        ("a", "", "getPM2.5Level"),
        ("b", "", "requestFirst Aid Assistance"),
        ("c", "", "Download/Stream"),
        ("d", "", "🎸"),
        ("e", "", "天气"),
        ("f", "", "天气"),
        ("g", "", ""),
        ("h", "search_music", "Search"),
        ("i", "", "search music"),
        ("j", "", &long),
        ("k", "", "天"),
    ];
    let found = catalogue(&odd);
    // the hexadecimal digits begin the SHA-256 of the ids, which `printf %s e | sha256sum` prints
    let expected = [
        "getPM2_5Level",
        "requestFirst_Aid_Assistance",
        "Download_Stream",
        "__18ac3e73",
        "___3f79bb7b",
        "___252f10c8",
        "_cd0aa985",
        "search_music_aaa94026",
        "search_music_de7d1b72",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_189f4003",
        "__8254c329",
    ];
    let names: Vec<String> = found.functions().to_vec();
    assert!(names.iter().all(|name| is_name(name)), "{names:?}");
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len());
    assert_eq!(names, expected);
    // the order of the tools does not matter
    let mut turned = odd;
    turned.reverse();
    let mut turned = catalogue(&turned).functions().to_vec();
    turned.reverse();
    assert_eq!(turned, names);
    // a name that already looks like one with a distinguishing suffix
    let found = catalogue(&[("e", "", "x"), ("f", "", "x"), ("z", "x_3f79bb7b", "")]);
    assert_eq!(found.functions(), ["x_3f79bb7b4", "x_252f10c8", "x_3f79bb7b"]);
}

proptest! {
    #[test]
    fn any_names_make_valid_and_distinct_functions(names in prop::collection::vec("[ab.é]{0,3}|[a-z]{60,70}", 0..30)) {
        let ids: Vec<String> = (0..names.len()).map(|number| number.to_string()).collect();
        let tools: Vec<(&str, &str, &str)> =
            ids.iter().zip(&names).map(|(id, name)| (id.as_str(), "", name.as_str())).collect();
        let functions = catalogue(&tools).functions().to_vec();
        prop_assert!(functions.iter().all(|name| is_name(name)), "{functions:?}");
        prop_assert_eq!(functions.iter().collect::<HashSet<_>>().len(), names.len());
    }

    /// Each rule of joining gives the tools of its definition, for random lists of distinct tools.
    #[test]
    fn lists_are_joined_by_their_rule(
        lists in prop::collection::vec(prop::collection::vec((0_usize..12, 0_u8..5), 0..8), 0..5),
        k in 1_usize..12,
    ) {
        let lists: Vec<Vec<Hit>> = lists
            .into_iter()
            .map(|list| {
                let mut seen = HashSet::new();
                let distinct = list.into_iter().filter(|(tool, _)| seen.insert(*tool));
                let mut hits: Vec<Hit> =
                    distinct.map(|(tool, score)| Hit { tool, score: f64::from(score) }).collect();
                hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
                hits
            })
            .collect();
        let ids: Vec<Vec<usize>> = lists.iter().map(|list| list.iter().map(|hit| hit.tool).collect()).collect();
        let best = join(&lists, k, Join::BestScore).unwrap();
        let mut all: Vec<(i64, usize)> = (0..12)
            .filter_map(|tool| {
                let scores = lists.iter().flatten().filter(|hit| hit.tool == tool).map(|hit| hit.score as i64);
                Some((-scores.max()?, tool))
            })
            .collect();
        all.sort_unstable();
        let expected: Vec<usize> = all.into_iter().map(|(_, tool)| tool).take(k).collect();
        prop_assert_eq!(best.iter().map(|placed| placed.tool).collect::<Vec<_>>(), expected);
        let fused = join(&lists, k, Join::ReciprocalRanks).unwrap();
        let expected: Vec<usize> = reciprocal_rank_fusion(&ids).into_iter().map(|(tool, _)| tool).take(k).collect();
        prop_assert_eq!(fused.iter().map(|placed| placed.tool).collect::<Vec<_>>(), expected);
        for rule in [Join::InTurn, Join::LoseTurn, Join::ReciprocalRanks, Join::BestScore] {
            for placed in join(&lists, k, rule).unwrap() {
                prop_assert_eq!(ids[placed.list][placed.rank - 1], placed.tool);
            }
            prop_assert_eq!(join(&lists, 0, rule).unwrap_err().code(), "retrieval/k");
        }
    }
}
