//! Random schemas of objects, compared with the `jsonschema` crate in both directions and in both orders of members.

use grammata_testing::differential::{Tally, objects_agree, validator};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// `GRAMMATA_CASES` sets the number of schemas, `GRAMMATA_SEED` the seed. All schemas that differ are reported.
#[test]
fn random_objects_are_judged_as_a_validator_does() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let cases = number("GRAMMATA_CASES").unwrap_or(300);
    let mut random = StdRng::seed_from_u64(number("GRAMMATA_SEED").unwrap_or(21));
    let (mut tally, mut differences) = (Tally::default(), Vec::new());
    for _ in 0..cases {
        let bytes: Vec<u8> = (0..random.random_range(20..400)).map(|_| random.random()).collect();
        match objects_agree(&bytes, validator) {
            Ok(more) => tally.add(more),
            Err(difference) => differences.push(difference),
        }
    }
    eprintln!("{cases} schemas, {} differ: {tally:?}", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let cases = cases as usize;
    assert!(tally.valid > cases && tally.invalid > cases && tally.walks > cases, "{tally:?}");
    assert!(tally.refused < cases / 10, "{tally:?}");
}
