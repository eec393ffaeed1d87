//! Which drafts are trained on: the cases of the specification, and rejection sampling by its definition.

use grammata_labs::retrieval::drafts::{Draft, Preference, Selected, Selection, preferences, select};
use proptest::prelude::*;

fn draft(request: usize, number: usize, reward: f64) -> Draft {
    Draft { request, number, completion: format!("{request}/{number}"), tokens: 10, reward, hits: 1 }
}

/// T22.
#[test]
fn the_percentage_is_of_the_pool_and_ties_stay() {
    let table = [
        ([1.0, 0.8, 0.6, 0.4], 75.0, 3),
        ([1.0, 0.8, 0.6, 0.4], 50.0, 2),
        ([1.0, 0.8, 0.6, 0.4], 100.0, 4),
        ([1.0, 0.5, 0.5, 0.1], 50.0, 3),
        ([1.0, 0.8, 0.6, 0.4], 51.0, 3),
        ([1.0, 0.8, 0.6, 0.4], 0.0, 0),
        ([1.0, 0.8, 0.6, 0.4], 1e9, 4),
        ([1.0, 0.8, 0.6, 0.4], f64::NAN, 0),
        ([0.5, 0.5, 0.5, 0.5], 1.0, 4),
    ];
    for (rewards, percent, expected) in table {
        let drafts: Vec<Draft> =
            rewards.iter().enumerate().map(|(request, &reward)| draft(request, 0, reward)).collect();
        let found = select(&drafts, &Selection { percent, ..Selection::default() });
        assert_eq!(found.kept.len(), expected, "{rewards:?} {percent}");
        assert_eq!(found.outside_percentage, 4 - expected);
    }
    assert_eq!(select(&[], &Selection::default()), Selected::default());
}

/// T23.
#[test]
fn of_equal_rewards_the_shortest_and_then_the_first_is_kept() {
    let mut drafts: Vec<Draft> = (0..5).map(|number| draft(0, number, 0.5)).collect();
    drafts[2].tokens = 4;
    drafts[4].tokens = 4;
    drafts.reverse();
    let found = select(&drafts, &Selection::default());
    assert_eq!((found.kept, found.not_best), (vec![2], 4));
    assert_eq!(preferences(&drafts, 0.0), []);
}

/// T24.
#[test]
fn drafts_that_find_nothing_are_not_kept() {
    // k 11, n 1: the reward of a list without the needed tool
    let drafts: Vec<Draft> = (0..3).map(|number| Draft { hits: 0, ..draft(0, number, 1.0 / 12.0) }).collect();
    let expected = Selected { not_best: 2, below_hits: 1, ..Selected::default() };
    assert_eq!(select(&drafts, &Selection::default()), expected);
    let lenient = Selection { least_hits: 0, ..Selection::default() };
    assert_eq!(select(&drafts, &lenient).kept, [0]);
    let strict = Selection { least_reward: 0.1, ..lenient };
    assert_eq!(select(&drafts, &strict).below_reward, 1);
}

#[test]
fn preferences_are_between_drafts_that_differ() {
    let same_text = Draft { completion: "1/0".to_owned(), ..draft(1, 1, 0.1) };
    let drafts = [
        draft(0, 0, 0.3),
        draft(0, 1, 0.9),
        draft(0, 2, 0.1),
        draft(1, 0, 0.9),
        same_text,
        draft(2, 0, 0.5),
        draft(2, 1, 0.45),
        draft(3, 0, 1.0),
        draft(4, 0, f64::NAN),
        draft(4, 1, 0.2),
    ];
    let pair = |chosen, rejected| Preference { chosen, rejected };
    assert_eq!(preferences(&drafts, 0.1), [pair(1, 2), pair(9, 8)]);
    assert_eq!(preferences(&drafts, 0.0), [pair(1, 2), pair(5, 6), pair(9, 8)]);
    assert_eq!(preferences(&drafts, f64::NAN), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Every draft is kept or counted under one reason, and the kept drafts are those of the definition.
    #[test]
    fn selection_is_that_of_the_definition(
        written in prop::collection::vec((0..5_usize, 0..6_u8, 0..4_usize, 0..3_usize), 0..30),
        best in 0..4_usize, percent in 0..110_u32, least_hits in 0..3_usize, least in 0..6_u8,
    ) {
        let drafts: Vec<Draft> = written
            .iter()
            .enumerate()
            .map(|(number, &(request, reward, tokens, hits))| Draft {
                tokens,
                hits,
                ..draft(request, number, f64::from(reward) / 5.0)
            })
            .collect();
        let least_reward = f64::from(least) / 5.0;
        let selection = Selection { drafts: best, least_reward, least_hits, percent: f64::from(percent) };
        let found = select(&drafts, &selection);
        let counted = found.not_best + found.outside_percentage + found.below_reward + found.below_hits;
        prop_assert_eq!(found.kept.len() + counted, drafts.len());

        // a draft is among the best of its request if fewer than `best` others are better
        let better = |x: &Draft, y: &Draft| {
            (-x.reward, x.tokens, x.number).partial_cmp(&(-y.reward, y.tokens, y.number)) == Some(std::cmp::Ordering::Less)
        };
        let pool: Vec<&Draft> = drafts
            .iter()
            .filter(|x| drafts.iter().filter(|y| y.request == x.request && better(y, x)).count() < best)
            .collect();
        // and in the percentage if fewer pooled ones than it allows have a higher reward
        let most = (pool.len() * percent as usize).div_ceil(100);
        let mut expected: Vec<usize> = pool
            .iter()
            .filter(|x| pool.iter().filter(|y| y.reward > x.reward).count() < most)
            .filter(|x| x.reward >= least_reward && x.hits >= least_hits)
            .map(|x| x.number)
            .collect();
        let mut kept = found.kept.clone();
        kept.sort_unstable();
        expected.sort_unstable();
        prop_assert_eq!(kept, expected);
    }
}
