//! Computes the tools of ToolkenGPT's FuncQA.

/// Returns the result of a tool; `None` if the tool is unknown, the numbers do not fit it, or the result is undefined
/// or not finite. `sqrt` and `ln` use only the first number, `log` the first two.
pub(super) fn compute(tool: &str, numbers: &[f64]) -> Option<f64> {
    let (first, rest) = numbers.split_first()?;
    let two = || Some((*first, *rest.first()?)).filter(|_| rest.len() == 1);
    let whole = |number: f64| (number.fract() == 0.0 && number.abs() < 1e15).then_some(number as i128);
    let found = match tool {
        "add" => numbers.iter().sum(),
        "subtract" => rest.iter().fold(*first, |a, b| a - b),
        "multiply" => numbers.iter().product(),
        "divide" => rest.iter().fold(*first, |a, b| a / b),
        "power" => two().map(|(a, b)| a.powf(b))?,
        "sqrt" => first.sqrt(),
        "ln" => first.ln(),
        "log" => rest.first().map_or_else(|| first.log10(), |base| first.log(*base)),
        "lcm" => {
            rest.iter().try_fold(whole(*first)?, |a, b| Some(a / gcd(a, whole(*b)?).max(1) * whole(*b)?))?
                as f64
        }
        "gcd" => rest.iter().try_fold(whole(*first)?, |a, b| Some(gcd(a, whole(*b)?)))? as f64,
        "choose" => {
            two().and_then(|(n, k)| Some(falling(whole(n)?, whole(k)?)? / falling(whole(k)?, whole(k)?)?))?
        }
        "permutate" => two().and_then(|(n, k)| falling(whole(n)?, whole(k)?))?,
        "remainder" => two().and_then(|(a, b)| whole(a)?.checked_rem(whole(b)?))? as f64,
        _ => return None,
    };
    found.is_finite().then_some(found)
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Returns `n (n-1) … (n-k+1)`; `None` unless 0 <= k <= n and k <= 170.
fn falling(n: i128, k: i128) -> Option<f64> {
    (0 <= k && k <= n && k <= 170).then(|| (0..k).map(|i| (n - i) as f64).product())
}

/// Formats a result as the host writes it: whole numbers below 10^15 in magnitude without decimals, values below 1 in
/// magnitude with two digits after their leading zeros (at most 13 decimals), other values with two decimals.
pub(super) fn shown(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        return format!("{value:.0}");
    }
    if value.abs() < 1.0 {
        let zeros = (-value.abs().log10()).ceil().clamp(1.0, 12.0) as usize - 1;
        return format!("{value:.*}", zeros + 2);
    }
    format!("{value:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_compute_what_they_are_named_after() {
        for (tool, numbers, expected) in [
            ("add", &[1.5, 2.0, 3.0][..], "6.50"),
            ("subtract", &[10.0, 3.0, 2.0], "5"),
            ("divide", &[1.0, 3.0], "0.33"),
            ("divide", &[1.0, 300.0], "0.0033"),
            ("power", &[2.0, 10.0], "1024"),
            ("log", &[1000.0], "3"),
            ("log", &[8.0, 2.0], "3"),
            ("lcm", &[4.0, 6.0], "12"),
            ("gcd", &[12.0, 18.0, 8.0], "2"),
            ("choose", &[5.0, 2.0], "10"),
            ("permutate", &[5.0, 2.0], "20"),
            ("remainder", &[17.0, 5.0], "2"),
        ] {
            assert_eq!(compute(tool, numbers).map(shown).as_deref(), Some(expected), "{tool} {numbers:?}");
        }
        for (tool, numbers) in [
            ("divide", &[1.0, 0.0][..]),
            ("choose", &[2.0, 5.0]),
            ("gcd", &[1.5, 2.0]),
            ("sqrt", &[-1.0]),
            ("none", &[1.0]),
        ] {
            assert_eq!(compute(tool, numbers), None, "{tool} {numbers:?}");
        }
    }
}
