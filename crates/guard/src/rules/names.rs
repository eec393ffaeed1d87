//! The names by which a client knows tools.

use grammata::diagnostic::excerpt;
use rustc_hash::FxHashMap;

/// The names of tools for texts that the client reads: the server's names for the tools of the rules, and the prefix of
/// the guard's own tools. By default all names are those of the rules.
#[derive(Clone, Debug, Default)]
pub struct ClientNames {
    /// The server's names by the names in the rules; those that are equal are left out.
    tools: FxHashMap<String, String>,
    prefix: String,
}

impl ClientNames {
    /// Creates the names from pairs of a name in the rules and the server's name.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (String, String)>, prefix: &str) -> ClientNames {
        let differs = |(name, tool): &(String, String)| name != tool;
        ClientNames { tools: pairs.into_iter().filter(differs).collect(), prefix: prefix.to_owned() }
    }

    /// Returns the server's name of a tool of the rules, shortened if it is very long.
    pub(super) fn tool(&self, name: &str) -> String {
        excerpt(self.tools.get(name).map_or(name, String::as_str))
    }

    /// Returns the name of one of the guard's own tools with the prefix.
    pub(super) fn own(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns a condition of the rules with the names of tools replaced by the server's. A name is a whole run of
    /// letters, digits, `_` and `-`; texts in quotation marks are kept.
    pub(super) fn in_condition(&self, condition: &str) -> String {
        if self.tools.is_empty() {
            return condition.to_owned();
        }
        let mut replaced = String::with_capacity(condition.len());
        let (mut name, mut quote) = (String::new(), None);
        for c in condition.chars().map(Some).chain([None]) {
            match c {
                Some(c) if quote.is_none() && (c.is_alphanumeric() || matches!(c, '_' | '-')) => name.push(c),
                c => {
                    replaced.push_str(self.tools.get(&name).map_or(name.as_str(), String::as_str));
                    name.clear();
                    replaced.extend(c);
                    quote = match (quote, c) {
                        (None, Some('"' | '\'')) => c,
                        (open, c) if open == c => None,
                        (open, _) => open,
                    };
                }
            }
        }
        replaced
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_conditions_are_replaced() {
        let pairs = [("read", "fs_read"), ("add", "get-sum"), ("same", "same")];
        let names = ClientNames::new(pairs.map(|(name, tool)| (name.to_owned(), tool.to_owned())), "own_");
        for (condition, expected) in [
            ("no error of read, add", "no error of fs_read, get-sum"),
            ("read.state == \"read\" and 'add' != reader", "fs_read.state == \"read\" and 'add' != reader"),
            ("not (read-er)", "not (read-er)"),
            ("same", "same"),
            ("", ""),
        ] {
            assert_eq!(names.in_condition(condition), expected);
        }
        assert_eq!((names.tool("add"), names.tool("other")), ("get-sum".to_owned(), "other".to_owned()));
        assert_eq!(names.own("say"), "own_say");
    }
}
