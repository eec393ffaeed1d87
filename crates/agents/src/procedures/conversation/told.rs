//! The parts of the user's messages, and the slots that they are about. A part is about a slot if it is written `slot:
//! value`, or if it replies to a question for that slot alone.

use super::sayings::{Saying, is_number, words};
use serde_json::Value;
use std::ops::Range;

/// Words of a reply that refers to what was said before.
const BACK: [&str; 8] = ["said", "told", "mentioned", "same", "before", "already", "earlier", "above"];

/// A part of a message.
#[derive(Clone, Debug)]
pub(in crate::procedures) struct Part {
    /// The number of messages before its own.
    pub(in crate::procedures) at: usize,
    /// The text, without the name of the slot.
    pub(in crate::procedures) text: String,
    pub(in crate::procedures) saying: Saying,
    /// The slot that the part is about; `None` if it may be about any slots.
    pub(in crate::procedures) slot: Option<String>,
    /// Whether the part is about no other slot: it is written `slot: value`.
    pub(in crate::procedures) is_only: bool,
    /// The letters and digits of the text in lower case.
    whole: String,
    /// The same without the words of [`AROUND`].
    core: String,
    /// Whether all other words are numbers.
    is_number: bool,
}

/// Words that a reply may have around its value.
const AROUND: [&str; 14] =
    ["the", "a", "an", "at", "on", "in", "for", "to", "is", "it", "s", "please", "thanks", "yes"];

impl Part {
    fn new(at: usize, text: &str, message: &str, slot: Option<&str>, is_only: bool) -> Part {
        let words = words(text);
        let core: Vec<&str> =
            words.iter().map(String::as_str).filter(|word| !AROUND.contains(word)).collect();
        Part {
            at,
            text: text.to_owned(),
            saying: Saying::within(text, message),
            slot: slot.map(str::to_owned),
            is_only,
            whole: words.concat(),
            core: core.concat(),
            is_number: core.iter().all(|word| is_number(word)),
        }
    }

    /// Returns whether the part may answer a question for a slot: it is not about another one.
    pub(in crate::procedures) fn may_answer(&self, slot: &str) -> bool {
        self.slot.as_deref().is_none_or(|own| own == slot)
    }

    /// Returns whether the part says a value: as [`Saying::has`], or a boolean as `yes`, `no`, `true` or `false`.
    pub(in crate::procedures) fn has(&self, value: &Value) -> bool {
        match value {
            Value::Bool(flag) => self.says_yes().is_some_and(|said| said == *flag),
            value => self.saying.has(value),
        }
    }

    /// Returns whether the part has a value of an enumeration or a boolean as it is written, without other forms of the
    /// same number: `one` is not `single`.
    pub(in crate::procedures) fn names(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.saying.spells(text),
            value => self.has(value),
        }
    }

    /// Returns the boolean that the part says for its slot; `None` for parts about no slot, for none or both.
    fn says_yes(&self) -> Option<bool> {
        self.slot.as_ref()?;
        let words = words(&self.text);
        let has = |list: [&str; 2]| words.iter().any(|word| list.contains(&word.as_str()));
        match (has(["yes", "true"]), has(["no", "false"])) {
            (true, false) => Some(true),
            (false, true) => Some(false),
            _ => None,
        }
    }

    /// Returns whether the part is about another slot of the same request and may not tell this one.
    pub(in crate::procedures) fn may_tell(&self, slot: &str, request: &[String]) -> bool {
        !(self.is_only && self.is_about_another(slot, request))
    }

    /// Returns whether the part is about another slot of the same request.
    fn is_about_another(&self, slot: &str, request: &[String]) -> bool {
        self.slot.as_ref().is_some_and(|own| own != slot && request.contains(own))
    }

    /// Returns whether the part says a value for a slot of a request. A reply to a question for another slot of the
    /// request does not, if it is nothing but this value.
    pub(in crate::procedures) fn tells(&self, slot: &str, request: &[String], value: &Value) -> bool {
        self.may_tell(slot, request) && self.has(value) && !self.is_for_another(slot, request, value)
    }

    /// Returns whether the part replies to a question for another slot of the request, and is nothing but this value.
    pub(in crate::procedures) fn is_for_another(
        &self,
        slot: &str,
        request: &[String],
        value: &Value,
    ) -> bool {
        self.is_about_another(slot, request) && self.is_only_value(value)
    }

    fn is_only_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let wanted: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
                self.whole == wanted || self.core == wanted
            }
            Value::Number(number) => {
                let is_said = number.as_f64().is_some_and(|number| self.saying.numbers() == [number]);
                is_said && self.is_number
            }
            _ => false,
        }
    }
}

/// Returns the parts of a message. `names` are the names of slots; `asked` is the slot for which the question before
/// the message asked, if it asked for one alone.
///
/// `slot: value` ends at a semicolon, a line break or the next `slot:`. Letter case is ignored in names, and `_` may be
/// a space. The rest of a message that replies to a question is about the slot of the question, unless it asks back or
/// refers to what was said before. What follows the first comma of a value may be about other slots, too.
pub(super) fn parts(message: &str, at: usize, names: &[&str], asked: Option<&str>) -> Vec<Part> {
    let part = |text: &str, slot: Option<&str>, is_only: bool| {
        let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, ';' | ','));
        Part::new(at, text, message, slot, is_only)
    };
    let labels = labels(message, names);
    if labels.is_empty() && asked.is_none() {
        return vec![Part::new(at, message, "", None, false)];
    }
    let mut parts = Vec::with_capacity(labels.len() + 2);
    let (mut rest, mut others) = (String::new(), String::new());
    let mut from = 0;
    for (number, (label, slot)) in labels.iter().enumerate() {
        rest.push_str(&message[from..label.start]);
        rest.push('\n');
        let next = labels.get(number + 1).map_or(message.len(), |(label, _)| label.start);
        let value = &message[label.end..next];
        let value = &value[..value.find([';', '\n']).unwrap_or(value.len())];
        from = label.end + value.len();
        if let Some((_, more)) = value.trim_end().trim_end_matches(',').split_once(',') {
            others.push_str(more);
            others.push('\n');
        }
        parts.push(part(value, Some(slot), true));
    }
    rest.push_str(&message[from..]);
    let is_told = |slot: &str| labels.iter().any(|(_, told)| *told == slot);
    match asked.filter(|slot| is_reply(&rest) && !is_told(slot)) {
        None => others.push_str(&rest),
        Some(slot) => parts.push(part(&rest, Some(slot), false)),
    }
    if others.contains(char::is_alphanumeric) {
        parts.push(part(&others, None, false));
    }
    parts
}

/// Returns the labels `slot:` of a text, each with the slot, in order. If several names end at one colon, the longest
/// counts.
fn labels<'n>(text: &str, names: &[&'n str]) -> Vec<(Range<usize>, &'n str)> {
    let mut labels: Vec<(Range<usize>, &str)> = Vec::new();
    let mut begin = 0;
    for (colon, _) in text.match_indices(':') {
        let before = text[begin..colon].trim_end();
        let label = |name: &&'n str| {
            let start =
                before.len().checked_sub(name.len()).filter(|&start| before.is_char_boundary(start))?;
            let is_apart = !before[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let is_name = before[start..].chars().zip(name.chars()).all(|(written, known)| {
                written.eq_ignore_ascii_case(&known) || known == '_' && matches!(written, ' ' | '-')
            });
            (is_apart && is_name && !name.is_empty()).then_some((begin + start..colon + 1, *name))
        };
        if let Some(found) = names.iter().filter_map(label).max_by_key(|(range, _)| range.len()) {
            labels.push(found);
            begin = colon + 1;
        }
    }
    labels
}

/// Returns whether a text answers a question: it has a word, does not ask back, and does not refer to what was said
/// before.
fn is_reply(text: &str) -> bool {
    let words = words(text);
    !words.is_empty() && !text.trim_end().ends_with('?') && !words.iter().any(|word| BACK.contains(&&**word))
}

#[cfg(test)]
mod tests {
    use super::parts;

    /// Returns the parts as `slot! text`, with `!` if the part is about the slot only.
    fn shown(message: &str, asked: Option<&str>) -> Vec<String> {
        let names = ["day", "hour", "people", "pickup_day", "city"];
        let line = |part: super::Part| {
            let mark = if part.is_only { "!" } else { "" };
            format!("{}{mark} {}", part.slot.unwrap_or_default(), part.text)
        };
        parts(message, 0, &names, asked).into_iter().map(line).collect()
    }

    #[test]
    fn messages_are_cut_at_the_names_of_slots() {
        for (message, expected) in [
            ("A room: for six", vec![" A room: for six"]),
            ("day: Monday; hour: 10;people: 6", vec!["day! Monday", "hour! 10", "people! 6"]),
            ("Sure, DAY : Monday, Hour: 10:30.", vec!["day! Monday", "hour! 10:30.", " Sure"]),
            ("pickup day: Monday", vec!["pickup_day! Monday"]),
            ("the birthday: Monday", vec![" the birthday: Monday"]),
            ("city: Bonn, for two\nthanks", vec!["city! Bonn, for two", " for two\n\n\nthanks"]),
            ("hour: 9, day: ; at noon", vec!["hour! 9", "day! ", " at noon"]),
        ] {
            assert_eq!(shown(message, None), expected, "{message}");
        }
    }

    #[test]
    fn replies_are_about_the_slot_of_the_question() {
        for (reply, expected) in [
            ("six", vec!["people six"]),
            ("six, and on Monday", vec!["people six, and on Monday"]),
            ("six at ten", vec!["people six at ten"]),
            ("Tom and me", vec!["people Tom and me"]),
            ("As I said.", vec![" As I said."]),
            ("Why?", vec![" Why?"]),
            ("day: Monday", vec!["day! Monday"]),
            ("six; day: Monday", vec!["day! Monday", "people six"]),
            ("people: 6", vec!["people! 6"]),
            ("...", vec![]),
        ] {
            assert_eq!(shown(reply, Some("people")), expected, "{reply}");
        }
    }

    #[test]
    fn a_reply_that_is_one_value_is_not_told_for_another_slot() {
        let request = ["people", "hour"].map(str::to_owned);
        let of = |reply: &str, slot: &str, value: serde_json::Value| {
            let parts = parts(reply, 0, &["people", "hour"], Some("people"));
            parts.iter().any(|part| part.tells(slot, &request, &value))
        };
        for (reply, value, tells) in [
            ("ten", 10.into(), false),
            ("at 10, please", 10.into(), false),
            ("ten of us at 8", 8.into(), true),
            ("Old Town", "old town".into(), false),
            ("at the Old Town.", "Old Town".into(), false),
            ("room 450 at Old Town", "Old Town".into(), true),
            ("From Bonn to Ulm", "Bonn".into(), true),
        ] {
            let value: serde_json::Value = value;
            assert_eq!(of(reply, "hour", value.clone()), tells, "{reply}");
            assert!(of(reply, "people", value), "{reply}");
        }
    }
}
