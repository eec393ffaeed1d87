//! Each algorithm, compared with the brute force.

use super::*;

#[test]
fn counts_are_those_of_walks() {
    let (mut finite, mut infinite) = (0, 0);
    for (table, _) in tables(1, 400) {
        let lengths = table.lengths();
        let half = lengths.len() / 2;
        let expected = match lengths[half..].iter().any(|&n| n > 0) {
            true => Count::Infinite,
            false => Count::Finite(lengths.iter().sum::<u128>().into()),
        };
        finite += usize::from(expected != Count::Infinite && lengths.iter().any(|&n| n > 0));
        infinite += usize::from(expected == Count::Infinite);
        let mut system = System::new(&table);
        let (start, mut counts) = (system.start(), Counts::default());
        assert_eq!(counts.count(&mut system, &start).unwrap(), expected, "{table:?}");
        assert_eq!(counts.count(&mut system, &start).unwrap(), expected, "the second time");
        for most in [0, 1, 5, half] {
            let expected: u128 = lengths[..=most].iter().sum();
            assert_eq!(counts.count_within(&mut system, &start, most).unwrap(), expected.into(), "{table:?}");
        }
        let expected = lengths.iter().position(|&n| n > 0);
        assert_eq!(shortest(&mut system).unwrap(), expected, "{table:?}");
    }
    assert!(finite > 50 && infinite > 50, "{finite} {infinite}");
}

#[test]
fn lists_are_complete_and_in_order() {
    for (table, _) in tables(2, 200) {
        let mut words = table.words();
        let mut system = System::new(&table);
        let mut list = List::by_length(0);
        for word in &words {
            assert_eq!(list.next(&mut system).unwrap().as_ref(), Some(word), "{table:?}");
        }
        let start = system.start();
        let count = Counts::default().count(&mut system, &start).unwrap();
        if count == Count::Finite(words.len().into()) {
            // depth-first order: prefixes first, then by letters
            words.sort();
            let mut list = List::depth_first();
            let listed: Vec<Vec<Letter>> = std::iter::from_fn(|| list.next(&mut system).unwrap()).collect();
            assert_eq!(listed, words, "{table:?}");
        }
    }
}

#[test]
fn words_are_drawn_uniformly() {
    let mut tested = 0;
    for (table, mut random) in tables(3, 60) {
        let words = table.words();
        let mut system = System::new(&table);
        let (start, mut counts) = (system.start(), Counts::default());
        let is_finite = counts.count(&mut system, &start).unwrap() == Count::Finite(words.len().into());
        let most = (!is_finite).then_some(LONGEST);
        if words.is_empty() {
            let drawn = sample(&mut system, &mut counts, most, &mut random).unwrap();
            assert_eq!(drawn, Sample::Empty, "{table:?}");
            continue;
        }
        if words.len() > 30 {
            continue;
        }
        tested += 1;
        const EACH: usize = 100;
        let mut drawn: BTreeMap<Vec<Letter>, usize> = BTreeMap::new();
        for _ in 0..words.len() * EACH {
            match sample(&mut system, &mut counts, most, &mut random).unwrap() {
                Sample::Word(word) => *drawn.entry(word).or_default() += 1,
                other => panic!("{other:?} of {table:?}"),
            }
        }
        assert!(drawn.keys().eq(&words.iter().cloned().collect::<BTreeSet<_>>()), "{table:?}");
        // for k degrees of freedom, chi squared has the mean k and the variance 2k; the tolerance is five deviations
        let squares = drawn.values().map(|&n| (n as f64 - EACH as f64).powi(2) / EACH as f64);
        let freedom = (words.len() - 1) as f64;
        assert!(squares.sum::<f64>() <= freedom + 5.0 * (2.0 * freedom).sqrt() + 1.0, "{drawn:?}");
    }
    assert!(tested > 15, "{tested}");
}

#[test]
fn walks_draw_the_words_within_the_bound() {
    let (mut tested, mut empty) = (0, 0);
    for (table, mut random) in tables(5, 400) {
        let words: BTreeSet<Vec<Letter>> = table.words().into_iter().collect();
        let mut system = System::new(&table);
        let mut walk = Walk::default();
        let drawn = walk.draw(&mut system, LONGEST, &mut random).unwrap();
        assert_eq!(drawn.is_none(), words.is_empty(), "{table:?}");
        if words.is_empty() {
            empty += 1;
            continue;
        }
        let mut drawn: BTreeSet<Vec<Letter>> = drawn.into_iter().collect();
        for _ in 0..400 {
            drawn.extend(walk.draw(&mut system, LONGEST, &mut random).unwrap());
        }
        assert!(drawn.is_subset(&words), "{table:?}");
        if words.len() <= 8 {
            tested += 1;
            assert_eq!(drawn, words, "{table:?}");
        }
        // a bound that no word keeps
        let least = words.iter().map(Vec::len).min().unwrap();
        for most in 0..LONGEST {
            let drawn = walk.draw(&mut system, most, &mut random).unwrap();
            assert_eq!(drawn.is_some(), most >= least, "{most} {table:?}");
            assert!(drawn.is_none_or(|word| word.len() <= most && words.contains(&word)), "{most} {table:?}");
        }
    }
    assert!(tested > 60 && empty > 20, "{tested} {empty}");
}

#[test]
fn distances_are_least_whatever_the_outcomes() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for case in 0..400 {
        let mut table = Table::random(&mut random, case % 2 == 1);
        let states: Vec<State> =
            (0..BASES).flat_map(|base| (0..=POOLED).map(move |used| State { base, used })).collect();
        let after = |table: &mut Table, state: &State| {
            let mut successors = Vec::new();
            table.successors(state, &mut successors).unwrap();
            successors
        };
        // the greatest set of states from which acceptance can be reached within the set, whatever the outcomes
        let mut live: BTreeSet<State> = states.iter().copied().collect();
        let best = loop {
            let mut best: BTreeMap<State, (u128, u128)> = BTreeMap::new();
            for _ in 0..=states.len() {
                for state in &live {
                    let successors = after(&mut table, state);
                    let is_safe = |symbol: usize| {
                        !table.outcomes
                            || symbol >= 2
                            || successors.iter().filter(|t| t.label.0 < 2).all(|t| live.contains(&t.to))
                    };
                    let ways = successors.iter().filter(|t| live.contains(&t.to) && is_safe(t.label.0));
                    let ways = ways.filter_map(|t| {
                        let &(letters, cost) = best.get(&t.to)?;
                        // the two measures are least for different words
                        Some((letters + 1, cost + (u128::from(table.costs[t.label.0]) << 64) + 1))
                    });
                    let own = table.accepting[state.base].then_some((0, 0));
                    let all: Vec<(u128, u128)> = ways.chain(own).collect();
                    if let (Some(letters), Some(cost)) =
                        (all.iter().map(|w| w.0).min(), all.iter().map(|w| w.1).min())
                    {
                        best.insert(*state, (letters, cost));
                    }
                }
            }
            let reaching: BTreeSet<State> = best.keys().copied().collect();
            if reaching == live {
                break best;
            }
            live = reaching;
        };
        for reachable in [1_000, 0] {
            if reachable == 0 && table.outcomes {
                continue;
            }
            for measure in [Measure::Letters, Measure::Cost] {
                let mut distances = Distances::new(measure, bounds(reachable));
                for &state in &states {
                    let expected = match (best.get(&state), measure) {
                        (None, _) => PathLength::Never,
                        (Some(&(letters, _)), Measure::Letters) => PathLength::Exactly(letters),
                        (Some(&(_, cost)), Measure::Cost) => PathLength::Exactly(cost),
                    };
                    let found = distances.distance(&mut table, state).unwrap();
                    assert_eq!(found, expected, "{measure:?} {state:?} {reachable} {table:?}");
                }
            }
        }
    }
}

/// Returns Levenshtein's distance, by the textbook's table.
fn edits(a: &[Letter], b: &[Letter]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            next.push((row[j] + usize::from(x != y)).min(row[j + 1] + 1).min(next[j] + 1));
        }
        row = next;
    }
    row[b.len()]
}

#[test]
fn repairs_have_the_fewest_edits() {
    const GIVEN: usize = 2;
    let mut tested = 0;
    for (table, mut random) in tables(5, 300) {
        let words = table.words();
        let given = random_word(&table, &mut random, GIVEN);
        let best = words.iter().map(|word| edits(&given, word)).min();
        let written = Written { word: &given, implied: None };
        match repair(&mut System::new(&table), &written, 100_000).unwrap() {
            Repaired::Exhausted => panic!("{table:?}"),
            Repaired::Empty => assert!(table.lengths().iter().all(|&n| n == 0), "{table:?}"),
            Repaired::Word { edits: found, alignment } => {
                // a longer word than those of the brute force has at least this many edits
                let bound = LONGEST + 1 - given.len();
                assert_eq!(found.min(bound), best.unwrap_or(bound).min(bound), "{table:?} {given:?}");
                tested += usize::from(found > 0 && found < bound);
                let (mut word, mut again, mut changes) = (Vec::new(), Vec::new(), 0);
                for column in alignment {
                    changes += usize::from(!matches!(column, Alignment::Keep(_)));
                    match column {
                        Alignment::Keep(letter) => {
                            word.push(letter);
                            again.push(letter);
                        }
                        Alignment::Substitute { given: place, letter } => {
                            word.push(letter);
                            again.push(given[place]);
                        }
                        Alignment::Insert(letter) => word.push(letter),
                        Alignment::Delete(place) => again.push(given[place]),
                    }
                }
                assert_eq!((&again, changes), (&given, found));
                let end = word.iter().try_fold((0, BTreeSet::new()), |at, &letter| table.read(&at, letter));
                assert!(end.is_some_and(|at| table.accepting[at.0]), "{word:?} of {table:?}");
            }
        }
    }
    assert!(tested > 50, "{tested}");
}

#[test]
fn the_first_wrong_letter_is_found_from_both_ends() {
    let (mut accepted, mut wrong) = (0, 0);
    for (table, mut random) in tables(6, 400) {
        let (all, live) = table.concrete();
        let mut system = System::new(&table);
        let word = random_word(&table, &mut random, 3);
        let implied = random.random_bool(0.5).then_some(0);
        let written = Written { word: &word, implied };
        // forwards: the live states after each prefix, which may have implied letters in it
        let close = |mut states: BTreeSet<Concrete>| {
            while let Some(to) = states.iter().find_map(|at| {
                let to = table.read(at, (implied?, 0))?;
                (live.contains(&to) && !states.contains(&to)).then_some(to)
            }) {
                states.insert(to);
            }
            states
        };
        let start = BTreeSet::from([(0, BTreeSet::new())]);
        let mut states = close(start.clone());
        let mut place = 0;
        while let Some(&letter) = word.get(place) {
            let next = states.iter().filter_map(|at| table.read(at, letter)).filter(|to| live.contains(to));
            let next: BTreeSet<Concrete> = next.collect();
            if next.is_empty() {
                break;
            }
            states = close(next);
            place += 1;
        }
        let may_end = states.iter().any(|at| table.accepting[at.0]);
        let choice = |(symbol, letter): Letter| match symbol == POOL {
            true => (symbol, letter, letter + 1),
            false => (symbol, 0, table.letters[symbol]),
        };
        match verify(&mut system, &written, 10_000).unwrap() {
            WordVerdict::Exhausted => panic!("{table:?}"),
            WordVerdict::Accepted(letters) => {
                accepted += 1;
                assert!(place == word.len() && may_end, "{word:?} of {table:?}");
                let end =
                    letters.iter().try_fold((0, BTreeSet::new()), |at, &letter| table.read(&at, letter));
                assert!(end.is_some_and(|at| table.accepting[at.0]));
                continue;
            }
            found => {
                wrong += 1;
                let leads = |letter: &Letter| {
                    states.iter().any(|at| table.read(at, *letter).is_some_and(|to| live.contains(&to)))
                };
                let feasible: BTreeSet<_> = table.alphabet().into_iter().filter(leads).map(choice).collect();
                let feasible = feasible.into_iter().collect();
                let expected = WordVerdict::Wrong { place, feasible, may_end };
                assert_eq!(found, expected, "{word:?} {implied:?} of {table:?}");
            }
        }
        // backwards: the states from which the rest of the word leads to acceptance; letters may be implied anywhere
        let is_read = |states: &BTreeSet<Concrete>, letter: Letter| -> BTreeSet<Concrete> {
            let leads = |at: &&Concrete| table.read(at, letter).is_some_and(|to| states.contains(&to));
            all.iter().filter(leads).cloned().collect()
        };
        let close = |mut states: BTreeSet<Concrete>| loop {
            let size = states.len();
            for letter in 0..implied.map_or(0, |symbol| table.letters[symbol]) {
                let before = is_read(&states, (implied.unwrap(), letter));
                states.extend(before);
            }
            if states.len() == size {
                break states;
            }
        };
        let mut states = close(all.iter().filter(|at| table.accepting[at.0]).cloned().collect());
        let mut place = 0;
        while let Some(letter) = word.len().checked_sub(place + 1).and_then(|p| word.get(p)) {
            let next = is_read(&states, *letter);
            if next.is_empty() {
                break;
            }
            states = close(next);
            place += 1;
        }
        let feasible: BTreeSet<_> =
            table.alphabet().into_iter().filter(|&l| !is_read(&states, l).is_empty()).map(choice).collect();
        let may_end = states.contains(&(0, BTreeSet::new()));
        let expected = WordVerdict::Wrong { place, feasible: feasible.into_iter().collect(), may_end };
        let found = verify_reversed(&mut system, &written, 10_000).unwrap();
        assert_eq!(found, expected, "{word:?} {implied:?} of {table:?}");
    }
    assert!(accepted > 30 && wrong > 100, "{accepted} {wrong}");
}

#[test]
fn graphs_have_what_is_reachable() {
    for (mut table, _) in tables(7, 200) {
        let (all, _) = table.concrete();
        let states: BTreeSet<State> =
            all.iter().map(|(base, used)| State { base: *base, used: used.len() }).collect();
        let graph = Graph::of(&mut table, 100, |_| {}).unwrap();
        assert!(!graph.is_truncated);
        assert_eq!(graph.nodes[0].state, State { base: 0, used: 0 });
        assert_eq!(graph.nodes.iter().map(|node| node.state).collect::<BTreeSet<_>>(), states, "{table:?}");
        assert!(graph.nodes.iter().all(|node| node.is_accepting == table.accepting[node.state.base]));
        let mut found = BTreeSet::new();
        for edge in &graph.edges {
            let (from, to) = (graph.nodes[edge.from].state, graph.nodes[edge.to.unwrap()].state);
            for &(symbol, _) in &edge.labels {
                assert!(found.insert((from, symbol, to)), "an edge twice");
            }
        }
        let read = |at: &Concrete, letter: Letter| {
            let (base, used) = table.read(at, letter)?;
            let from = State { base: at.0, used: at.1.len() };
            Some((from, letter.0, State { base, used: used.len() }))
        };
        let alphabet = table.alphabet();
        let expected: BTreeSet<_> =
            all.iter().flat_map(|at| alphabet.iter().filter_map(|&letter| read(at, letter))).collect();
        assert_eq!(found, expected, "{table:?}");
        let mut costs: BTreeMap<State, u64> = BTreeMap::from([(State { base: 0, used: 0 }, 0)]);
        for _ in 0..states.len() {
            for &(from, symbol, to) in &expected {
                let Some(cost) = costs.get(&from).map(|cost| cost + table.costs[symbol]) else { continue };
                let known = costs.entry(to).or_insert(cost);
                *known = cost.min(*known);
            }
        }
        costs.retain(|_, cost| *cost <= 3);
        let found: BTreeMap<State, u64> =
            costs_from_start(&mut table, 3, 1_000).unwrap().into_iter().collect();
        assert_eq!(found, costs, "{table:?}");
        for most in 1..graph.nodes.len() {
            let part = Graph::of(&mut table, most, |_| {}).unwrap();
            assert!(part.is_truncated && part.nodes == graph.nodes[..most], "{table:?}");
        }
    }
}
