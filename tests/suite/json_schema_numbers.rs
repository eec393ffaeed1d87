//! Sets of numbers that bounds, divisors and their negations describe: each spelling of a number is compared with
//! arithmetic on big integers.

use crate::language::Language;
use grammata::syntax::json_schema::{self, Numbers, compile_value};
use num_bigint::BigInt;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns a decimal as a multiple of 10^-40, which is finer than every number tried here.
fn scaled(text: &str) -> BigInt {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().expect("an exponent");
    let digits: BigInt = format!("{whole}{fraction}").parse().expect("digits");
    let power = u32::try_from(40 + exponent - fraction.len() as i32).expect("fine enough");
    digits * BigInt::from(10).pow(power)
}

/// Returns random decimals that are close to each other: with few different digits, so that equal prefixes are common.
fn decimal() -> impl Strategy<Value = String> {
    let whole = prop_oneof![Just("0".to_owned()), "[1-9][019]{0,3}"];
    (prop_oneof![Just(""), Just("-")], whole, prop_oneof![Just(String::new()), "\\.[0159]{1,4}"])
        .prop_map(|(sign, whole, fraction)| format!("{sign}{whole}{fraction}"))
}

/// Returns a number as written, and in other spellings that the language may have.
fn spellings(text: &str) -> Vec<String> {
    let mut all = vec![text.to_owned()];
    if text.contains('.') {
        all.push(format!("{text}000"));
    } else {
        all.push(format!("{text}.0"));
    }
    let (sign, size) = text.strip_prefix('-').map_or(("", text), |size| ("-", size));
    let digits: String = size.chars().filter(|c| *c != '.').collect();
    let point = size.find('.').unwrap_or(size.len()) as i32;
    let leading = digits.len() - digits.trim_start_matches('0').len();
    if let Some(first) = digits[leading..].chars().next() {
        let rest = &digits[leading + 1..];
        let exponent = point - 1 - leading as i32;
        let dot = if rest.is_empty() { "" } else { "." };
        all.push(format!("{sign}{first}{dot}{rest}e{exponent}"));
        let zeros = if exponent < 0 { "-00" } else { "+00" };
        all.push(format!("{sign}{first}{dot}{rest}E{zeros}{}", exponent.abs()));
        all.push(format!("{sign}{first}.{rest}00e{exponent}"));
    } else {
        all.push(format!("{sign}{size}e12"));
    }
    all
}

fn divisor() -> impl Strategy<Value = Option<&'static str>> {
    const ALL: &[&str] =
        &["1", "2", "3", "7", "10", "100", "30", "12", "0.5", "0.25", "0.01", "1.5", "0.3", "1e1"];
    proptest::option::weighted(0.4, proptest::sample::select(ALL))
}

fn number(text: &str) -> Value {
    serde_json::from_str(text).expect("a number")
}

/// Returns whether the language spells numbers in this way, for the policy and the kind of the set of numbers.
fn is_spelled(text: &str, integers: bool, divided: bool, numbers: Numbers) -> bool {
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let fraction = mantissa.split_once('.').map(|(_, fraction)| fraction);
    let no_fraction = fraction.is_none_or(|fraction| fraction.bytes().all(|b| b == b'0'));
    match numbers {
        Numbers::Plain => exponent.is_none() && !(integers && fraction.is_some()),
        Numbers::Any if divided => exponent.is_none(),
        _ => !integers || exponent.is_none() || no_fraction,
    }
}

/// Returns whether a text is the normalised scientific notation of a number whose absolute value is between 0 and 1.
fn is_small(text: &str) -> bool {
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return false };
    let mantissa = mantissa.trim_start_matches('-').as_bytes();
    let one_digit = matches!(mantissa, [b'1'..=b'9'] | [b'1'..=b'9', b'.', ..]);
    one_digit && exponent.strip_prefix('-').is_some_and(|digits| digits.bytes().any(|b| b != b'0'))
}

proptest! {
    #![proptest_config(crate::properties::config(1200))]

    #[test]
    fn sets_of_numbers_are_exact(
        low in proptest::option::of(decimal()),
        high in proptest::option::of(decimal()),
        exclusive in any::<(bool, bool)>(),
        integer in any::<bool>(),
        plain in any::<bool>(),
        divisors in (divisor(), divisor()),
        others in proptest::collection::vec(decimal(), 12),
    ) {
        let mut schema = json!({"type": if integer { "integer" } else { "number" }});
        for (bound, exclusive, names) in [
            (&low, exclusive.0, ["minimum", "exclusiveMinimum"]),
            (&high, exclusive.1, ["maximum", "exclusiveMaximum"]),
        ] {
            if let Some(bound) = bound {
                schema[names[usize::from(exclusive)]] = number(bound);
            }
        }
        if let Some(divisor) = divisors.0 {
            schema["multipleOf"] = number(divisor);
        }
        if let Some(divisor) = divisors.1 {
            schema["not"] = json!({"multipleOf": number(divisor)});
        }
        let numbers = if plain { Numbers::Plain } else { Numbers::Any };
        let options = json_schema::Options::default().numbers(numbers);
        let compiled = compile_value(&schema, &options);
        let language = compiled.as_ref().ok().map(|compiled| Language::new(&compiled.grammar));
        let is_multiple = |number: &BigInt, divisor: &str| number % scaled(divisor) == BigInt::ZERO;
        let has = |text: &str| {
            let number = scaled(text);
            let above = low.as_ref().is_none_or(|low| number > scaled(low) || !exclusive.0 && number == scaled(low));
            let below = high.as_ref().is_none_or(|high| number < scaled(high) || !exclusive.1 && number == scaled(high));
            above && below
                && (!integer || is_multiple(&number, "1"))
                && divisors.0.is_none_or(|divisor| is_multiple(&number, divisor))
                && divisors.1.is_none_or(|divisor| !is_multiple(&number, divisor))
        };
        // whether 1 is a multiple of the divisor
        let of_one = |divisor: &str| is_multiple(&scaled("1"), divisor);
        let integers = (integer || divisors.0 == Some("1")) && divisors.0.is_none_or(of_one);
        let divided = divisors.1.is_some() || divisors.0.is_some() && !integers;
        let integers = integers && !divided;
        // whether some number of the range is negative: -1 for integers, otherwise a number close to the bound
        let negative = low.as_ref().is_none_or(|low| {
            let largest = if integers { scaled("-1") } else { BigInt::from(-1) };
            if exclusive.0 && integers { scaled(low) < largest } else { scaled(low) <= largest }
        });
        for text in others.iter().chain(&low).chain(&high) {
            for text in spellings(text) {
                let minus_zero = text.starts_with('-') && scaled(&text) == BigInt::ZERO;
                let whole = integers || divided && (integer || divisors.0.is_some_and(|d| is_multiple(&scaled(d), "1")));
                let fractions = !plain && !integer && divisors.0.is_none() && divisors.1.is_some_and(|d| !d.contains('.'));
                let is_usual = is_spelled(&text, whole, divided, numbers) || fractions && is_small(&text);
                let spelled = is_usual && (!minus_zero || negative);
                let accepted = language.as_ref().is_some_and(|l| l.accepts(text.as_bytes()));
                prop_assert_eq!(accepted, spelled && has(&text), "{} in {} ({:?})", text, schema, numbers);
            }
        }
        if let Err(error) = compiled {
            prop_assert_eq!(error.code(), "json-schema/unsatisfiable");
        }
    }
}

/// A bound may have up to 4,096 digits, counted without an exponent.
#[test]
fn bounds_have_up_to_4096_digits() {
    let compiled = |bound: &str| {
        let schema = json!({"type": "number", "minimum": number(bound), "maximum": number(bound)});
        let options = json_schema::Options::default().numbers(Numbers::Plain);
        compile_value(&schema, &options)
    };
    let digits = |count: usize| "1".repeat(count);
    for bound in [
        digits(2049),
        digits(4096),
        "1e4095".into(),
        "1e-4096".into(),
        format!("-{}.{}", digits(2000), digits(2096)),
        format!("{}e-4096", digits(4096)),
    ] {
        let compiled = compiled(&bound).unwrap_or_else(|error| panic!("{error}"));
        if !bound.contains('e') {
            assert!(Language::new(&compiled.grammar).accepts(bound.as_bytes()));
        }
    }
    for bound in [
        digits(4097),
        "1e4096".into(),
        "1e-4097".into(),
        format!("{}.{}", digits(2000), digits(2097)),
        format!("{}e-4097", digits(4096)),
    ] {
        let error = compiled(&bound).expect_err(&bound);
        assert_eq!(error.code(), "json-schema/bound-too-long");
    }
}
