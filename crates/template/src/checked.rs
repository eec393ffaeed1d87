//! Own versions of operations of minijinja that panic on some operands.

use minijinja::value::{Value, ValueKind};

/// The test `divisibleby`; false for a divisor of zero, and for values other than numbers and booleans, which are the
/// numbers 0 and 1.
pub(crate) fn is_divisible_by(value: &Value, divisor: &Value) -> bool {
    let number = |value: &Value| match value.kind() {
        ValueKind::Bool => Some(Value::from(i64::from(value.is_true()))),
        ValueKind::Number => Some(value.clone()),
        _ => None,
    };
    let (Some(value), Some(divisor)) = (number(value), number(divisor)) else { return false };
    let integers = || Some((i128::try_from(value.clone()).ok()?, i128::try_from(divisor.clone()).ok()?));
    match integers() {
        // the remainder of the least integer and -1 does not overflow with `checked_rem`'s exception
        Some((_, -1)) => true,
        Some((a, b)) => a.checked_rem(b) == Some(0),
        None => match (f64::try_from(value), f64::try_from(divisor)) {
            (Ok(a), Ok(b)) => a % b == 0.0,
            _ => false,
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, on_own_stack};
    use grammata_base::Limits;
    use minijinja::value::Value;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// Expressions for values at the borders of what operations can do.
    const VALUES: [&str; 19] = [
        "0",
        "1",
        "-1",
        "2.5",
        "0.0",
        "9223372036854775807",
        "(-9223372036854775807 - 1)",
        "170141183460469231731687303715884105727",
        "(-170141183460469231731687303715884105727 - 1)",
        "1e308",
        "''",
        "'é'",
        "'abc'",
        "[]",
        "[1, 2, 3]",
        "{}",
        "none",
        "missing",
        "true",
    ];
    const OPERATORS: [&str; 18] = [
        "+",
        "-",
        "*",
        "/",
        "//",
        "%",
        "**",
        "~",
        "==",
        "<",
        ">=",
        "and",
        "or",
        "in",
        "is divisibleby",
        "is sameas",
        "is in",
        "is lt",
    ];
    const FILTERS: [&str; 46] = [
        "abs",
        "attr",
        "batch",
        "bool",
        "capitalize",
        "count",
        "default",
        "dictsort",
        "escape",
        "first",
        "float",
        "format",
        "indent",
        "int",
        "items",
        "join",
        "last",
        "length",
        "lines",
        "list",
        "lower",
        "map",
        "max",
        "min",
        "reject",
        "rejectattr",
        "replace",
        "reverse",
        "round",
        "safe",
        "select",
        "selectattr",
        "slice",
        "sort",
        "split",
        "string",
        "title",
        "trim",
        "unique",
        "upper",
        "tojson",
        "d",
        "e",
        "map('round')",
        "select('divisibleby')",
        "select('odd')",
    ];
    const METHODS: [&str; 24] = [
        "get",
        "keys",
        "items",
        "values",
        "upper",
        "lower",
        "split",
        "splitlines",
        "strip",
        "lstrip",
        "rstrip",
        "replace",
        "startswith",
        "endswith",
        "find",
        "rfind",
        "count",
        "join",
        "title",
        "capitalize",
        "isdigit",
        "isalpha",
        "format",
        "islower",
    ];

    fn renders(templates: impl Iterator<Item = String> + Send) -> usize {
        let dialect = Dialect { trim_blocks: false, strict: false, put: None, functions: Vec::new() };
        let limits = Limits::default();
        let panicked = on_own_stack(|| {
            let mut count = 0;
            let mut panicked = Vec::new();
            for template in templates {
                count += 1;
                let render = || dialect.render_here(&template, Value::from(()), &limits).is_ok();
                if catch_unwind(AssertUnwindSafe(render)).is_err() {
                    panicked.push(template);
                }
            }
            (count, panicked)
        });
        let (count, panicked) = panicked.unwrap();
        assert!(
            panicked.is_empty(),
            "{} of {count} panic: {:?}",
            panicked.len(),
            &panicked[..panicked.len().min(20)]
        );
        count
    }

    #[test]
    fn no_operation_panics() {
        let pairs = || VALUES.iter().flat_map(|a| VALUES.iter().map(move |b| (*a, *b)));
        let mut count = renders(pairs().flat_map(|(a, b)| {
            OPERATORS.iter().map(move |operator| format!("{{{{ {a} {operator} {b} }}}}"))
        }));
        count += renders(
            VALUES.iter().flat_map(|a| FILTERS.iter().map(move |filter| format!("{{{{ {a} | {filter} }}}}"))),
        );
        count += renders(pairs().flat_map(|(a, b)| {
            let whole = FILTERS.iter().filter(|filter| !filter.contains('('));
            whole.map(move |filter| format!("{{{{ {a} | {filter}({b}) }}}}"))
        }));
        count +=
            renders(pairs().flat_map(|(a, b)| {
                METHODS.iter().map(move |method| format!("{{{{ ({a}).{method}({b}) }}}}"))
            }));
        // slices, ranges and filters with two arguments
        count += renders(pairs().flat_map(|(a, b)| {
            VALUES.iter().flat_map(move |c| {
                [
                    format!("{{{{ ({a})[{b}:{c}] }}}}"),
                    format!("{{{{ 'abc'[{a}:{b}:{c}] }}}}"),
                    format!("{{{{ [1, 2, 3][{a}:{b}:{c}] }}}}"),
                    format!("{{{{ (1, 2)[{a}:{b}:{c}] }}}}"),
                    format!("{{{{ range({a}, {b}, {c}) | list | length }}}}"),
                    format!("{{{{ {a} | replace({b}, {c}) }}}}"),
                    format!("{{{{ {a} | round({b}, {c}) }}}}"),
                    format!("{{{{ {a} | slice({b}, {c}) }}}}"),
                    format!("{{{{ {a} | batch({b}, {c}) }}}}"),
                    format!("{{{{ {a} | indent({b}, {c}) }}}}"),
                    format!("{{{{ ({a}).split({b}, {c}) }}}}"),
                    format!("{{{{ ({a}).replace({b}, {c}) }}}}"),
                ]
            })
        }));
        count += renders(VALUES.iter().flat_map(|a| {
            [format!("{{{{ ({a})[::-1] }}}}"), format!("{{{{ -({a}) }}}}"), format!("{{{{ ({a})[{a}] }}}}")]
        }));
        count += renders(VALUES.iter().flat_map(|a| {
            let formats =
                ["%d", "%s", "%x", "%05d", "%.3f", "%c", "%e", "%g", "%i", "%%", "%(a)s", "%-5s", "%+d"];
            formats.into_iter().map(move |format| format!("{{{{ '{format}' | format({a}) }}}}"))
        }));
        count += renders(VALUES.iter().flat_map(|a| {
            let formats = [
                "{}", "{0}", "{:d}", "{:>5}", "{:.2f}", "{:x}", "{a}", "{:,}", "{:e}", "{!r}", "{:%}", "{:c}",
            ];
            formats.into_iter().map(move |format| format!("{{{{ '{format}'.format({a}) }}}}"))
        }));
        assert!(count > 100_000, "{count}");
    }

    #[test]
    fn results_are_those_of_python() {
        let dialect = Dialect { trim_blocks: false, strict: false, put: None, functions: Vec::new() };
        for (template, result) in [
            (
                "{{ 6 is divisibleby 3 }}{{ 6 is divisibleby 4 }}{{ 6 is divisibleby 0 }}{{ 6.0 is divisibleby 1.5 }}",
                "TrueFalseFalseTrue",
            ),
            (
                "{{ true is divisibleby 3 }}{{ false is divisibleby 3 }}{{ 6 is divisibleby true }}",
                "FalseTrueTrue",
            ),
            (
                "{{ 'x' is divisibleby 3 }}{{ -6 is divisibleby -1 }}{{ 1.5 is divisibleby 0 }}",
                "FalseTrueFalse",
            ),
            (
                "{{ 'abc'[::-1] }}|{{ ''[::-1] }}|{{ 'abc'[1::-1] }}|{{ 'abc'[0:2:-1] }}|{{ [][::-1] }}",
                "cba||ba||[]",
            ),
            ("{{ [1, 2, 3][::-1] }}{{ [1, 2, 3][2:0:-1] }}", "[3, 2, 1][3, 2]"),
            ("{{ [1, 2] | select('divisibleby', 0) | list }}", "[]"),
        ] {
            let shown = dialect.render(template, || Value::from(()), &Limits::default()).unwrap();
            assert_eq!(shown, result, "{template}");
        }
    }
}
