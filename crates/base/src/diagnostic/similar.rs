//! Suggestions for misspelt names.

use super::excerpt;

/// Maximum number of known names of similar length that are compared.
const COMPARED: usize = 10_000;
/// Maximum length of a compared name, in bytes, because the edit distance takes quadratic time and memory.
const LONGEST: usize = 100;

/// Returns up to three of `known` within a small edit distance (restricted Damerau-Levenshtein, case-insensitive) of
/// `name`, nearest first, equally near ones in byte order. The distance is at most one edit per three characters of
/// `name`, and at most three, so names of one or two characters may differ only in case. `name` itself is left out, and
/// so are names of more than 100 bytes; if `name` has more than 100 bytes, the result is empty. Only the first 10,000
/// names of similar length are compared.
pub fn similar<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<&'k str> {
    let length = name.chars().count();
    let most = (length / 3).min(3);
    if name.len() > LONGEST {
        return Vec::new();
    }
    let lower = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = known
        .into_iter()
        .filter(|other| other.len() <= LONGEST && other.chars().count().abs_diff(length) <= most)
        .take(COMPARED)
        .map(|other| (strsim::osa_distance(&lower, &other.to_lowercase()), other))
        .filter(|(distance, other)| *distance <= most && *other != name)
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(3).map(|(_, other)| other).collect()
}

/// Returns a question that suggests the names that [`similar`] finds, or `otherwise` if there are none.
pub fn did_you_mean<'k>(
    name: &str,
    known: impl IntoIterator<Item = &'k str>,
    otherwise: impl Into<String>,
) -> String {
    let names: Vec<String> =
        similar(name, known).into_iter().map(|name| format!("`{}`", excerpt(name))).collect();
    if names.is_empty() { otherwise.into() } else { format!("did you mean {}?", names.join(" or ")) }
}

/// Like [`did_you_mean`], for a field or value unknown to `serde`, from its message: "unknown field `a`, expected one
/// of `b`, `c`". Returns `otherwise` for any other message.
pub fn did_you_mean_field(message: &str, otherwise: impl Into<String>) -> String {
    let is_unknown = ["unknown field `", "unknown variant `"].iter().any(|start| message.starts_with(start));
    let mut names = message.split('`').skip(1).step_by(2);
    match names.next() {
        Some(name) if is_unknown => did_you_mean(name, names, otherwise),
        _ => otherwise.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_names_come_first() {
        let known = ["string", "strong", "number", "STRING", "str"];
        assert_eq!(similar("strng", known), ["STRING", "string", "strong"]);
        assert_eq!(similar("numebr", known), ["number"]);
        assert!(similar("value", known).is_empty() && similar("ab", ["ac", "b"]).is_empty());
        assert_eq!(similar("s", ["S", "t"]), ["S"]);
        assert!(similar(&"a".repeat(1_000), known).is_empty());
    }

    #[test]
    fn fields_of_serde_are_proposed() {
        let message = "unknown field `acepting`, expected one of `start`, `accepting`";
        assert_eq!(did_you_mean_field(message, "correct it"), "did you mean `accepting`?");
        assert_eq!(did_you_mean_field("unknown variant `dfaa`, expected `dfa`", "x"), "did you mean `dfa`?");
        assert_eq!(did_you_mean_field("unknown field `x`, expected `accepting`", "x"), "x");
        assert_eq!(did_you_mean_field("missing field `start`", "add it"), "add it");
    }

    #[test]
    fn a_name_is_not_proposed_for_itself() {
        assert_eq!(did_you_mean("a", ["a"], "add it"), "add it");
    }
}
