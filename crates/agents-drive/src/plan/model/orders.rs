//! The orders in which a question lists its options; a model's probabilities are averaged over them.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Returns `count` orders of `options` options, the given order first. The first `options` orders are evenly spaced
/// rotations, so that with as many orders as options each option appears once in each position. Further orders are
/// random.
pub(super) fn orders(options: usize, count: usize, seed: u64) -> Vec<Vec<usize>> {
    let given: Vec<usize> = (0..options).collect();
    let rotations = count.min(options.max(1));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut orders: Vec<Vec<usize>> = (0..rotations)
        .map(|turn| {
            let mut order = given.clone();
            order.rotate_left(turn * options / rotations);
            order
        })
        .collect();
    orders.extend((rotations..count).map(|_| {
        let mut order = given.clone();
        order.shuffle(&mut random);
        order
    }));
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_option_comes_at_each_place() {
        for options in 1..7 {
            let all = orders(options, options, 0);
            for place in 0..options {
                let mut there: Vec<usize> = all.iter().map(|order| order[place]).collect();
                there.sort_unstable();
                assert_eq!(there, (0..options).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn orders_are_permutations_that_a_seed_repeats() {
        for (options, count) in [(0, 1), (1, 3), (4, 2), (5, 3), (5, 12), (200, 4)] {
            let found = orders(options, count, 7);
            assert_eq!(found.len(), count);
            assert_eq!(found[0], (0..options).collect::<Vec<_>>());
            for order in &found {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, found[0]);
            }
            assert_eq!(found, orders(options, count, 7));
        }
        assert_eq!(orders(4, 2, 0)[1], [2, 3, 0, 1]);
        assert_ne!(orders(9, 12, 0)[9..], orders(9, 12, 1)[9..]);
    }
}
