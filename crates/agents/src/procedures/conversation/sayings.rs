//! The words, numbers, times and days of a text, for comparison with values of arguments.

use rustc_hash::FxHashSet;
use serde_json::Value;
use std::collections::BTreeSet;

/// Words of the numbers from 0 to 19; the index is the value.
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
/// Ordinal words from 1 to 19; index 0 is the first.
const ORDINALS: [&str; 19] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
/// Words of the tens from 20 to 90, each with its ordinal.
const TENS: [(&str, &str); 8] = [
    ("twenty", "twentieth"),
    ("thirty", "thirtieth"),
    ("forty", "fortieth"),
    ("fifty", "fiftieth"),
    ("sixty", "sixtieth"),
    ("seventy", "seventieth"),
    ("eighty", "eightieth"),
    ("ninety", "ninetieth"),
];
/// Other words for numbers, with their values.
const OTHERS: [(&str, u32); 6] =
    [("single", 1), ("couple", 2), ("pair", 2), ("twice", 2), ("double", 2), ("dozen", 12)];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Days of the week; the index is the result of [`weekday`].
const WEEKDAYS: [&str; 7] = ["saturday", "sunday", "monday", "tuesday", "wednesday", "thursday", "friday"];
/// Words for a day that depends on the date of the conversation.
const RELATIVE: [&str; 6] = ["today", "tonight", "tomorrow", "yesterday", "weekend", "week"];

/// If a text has one of these words, each whole number from 0 to 24 in it may be an hour.
const HOURS: [&str; 13] = [
    "at",
    "around",
    "by",
    "from",
    "until",
    "till",
    "morning",
    "afternoon",
    "evening",
    "night",
    "clock",
    "time",
    "hour",
];
/// The maximum number of years of a text that are combined with its months and days.
const MOST_YEARS: usize = 4;

/// A time of day: minutes since midnight or noon, and whether it is noon or later, if that is known.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Time {
    minutes: u32,
    is_afternoon: Option<bool>,
}

/// The words and values of one text.
#[derive(Clone, Debug, Default)]
pub(in crate::procedures) struct Saying {
    /// The whole text in lower case.
    text: String,
    words: Vec<String>,
    numbers: Vec<f64>,
    times: Vec<Time>,
    /// The months that the text names, from 1.
    months: Vec<u32>,
    /// The days of the week that the text names, as numbers of [`weekday`].
    weekdays: Vec<u32>,
    is_relative: bool,
}

/// Returns the words of a text: its runs of letters and digits, in lower case.
pub(in crate::procedures) fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

impl Saying {
    pub(in crate::procedures) fn of(text: &str) -> Saying {
        Saying::within(text, "")
    }

    /// Reads a part of a text. If the whole text speaks of a time of day, whole numbers of the part may be hours.
    pub(in crate::procedures) fn within(text: &str, whole: &str) -> Saying {
        let is_hours = |word: &String| HOURS.contains(&word.as_str());
        let has_hours = words(text).iter().any(is_hours) || words(whole).iter().any(is_hours);
        let words = words(text);
        let text = text.to_lowercase();
        let mut numbers = digits(&text);
        numbers.extend(spelled(&words));
        let mut times = clocks(&text);
        times.extend(spoken_times(&words));
        let is_hour = |number: &&f64| has_hours && number.fract() == 0.0 && (0.0..=24.0).contains(*number);
        let whole = numbers.iter().filter(is_hour);
        times.extend(whole.map(|&hour| Time { minutes: hour as u32 % 12 * 60, is_afternoon: None }));
        times.sort_by_key(|time| (time.minutes, time.is_afternoon));
        times.dedup();
        let months = months(&words);
        let weekdays = words.iter().filter_map(|word| named(&WEEKDAYS, word)).collect();
        let is_relative = words.iter().any(|word| RELATIVE.contains(&word.as_str()));
        Saying { text, words, numbers, times, months, weekdays, is_relative }
    }

    /// Returns whether the text has a value: its words, without regard to case, spaces and punctuation, or another form
    /// of the same number, time or day. A text without letters and digits must occur as written. A date counts if the
    /// text has the number of its day, and its month or no month; its day of the week; or a word such as `tomorrow`.
    /// False for values other than numbers and texts.
    pub(in crate::procedures) fn has(&self, value: &Value) -> bool {
        match value {
            Value::Number(number) => number.as_f64().is_some_and(|number| self.numbers.contains(&number)),
            Value::String(text) => self.has_text(text),
            _ => false,
        }
    }

    /// Returns whether the text has the words of another text, without regard to case, spaces and punctuation. A text
    /// without letters and digits must occur as written.
    pub(in crate::procedures) fn spells(&self, text: &str) -> bool {
        let lower = text.trim().to_lowercase();
        let squeezed: String = lower.chars().filter(|c| c.is_alphanumeric()).collect();
        if squeezed.is_empty() {
            return self.text.contains(&lower);
        }
        // scripts without spaces have no words to compare
        let has_no_spaces = squeezed.chars().any(|c| ('\u{2e80}'..'\u{ac00}').contains(&c));
        self.has_words(&squeezed) || has_no_spaces && self.text.contains(&lower)
    }

    fn has_text(&self, text: &str) -> bool {
        let lower = text.trim().to_lowercase();
        self.spells(text)
            || number(&lower).is_some_and(|number| self.numbers.contains(&number))
            || time(&lower).is_some_and(|time| self.times.iter().any(|said| is_same(*said, time)))
            || day(&lower).is_some_and(|day| self.has_day(day))
    }

    /// Returns whether consecutive words, joined without spaces, are equal to `squeezed`.
    fn has_words(&self, squeezed: &str) -> bool {
        (0..self.words.len()).any(|from| {
            let mut rest = squeezed;
            for word in &self.words[from..] {
                match rest.strip_prefix(word.as_str()) {
                    Some("") => return true,
                    Some(left) => rest = left,
                    None => return false,
                }
            }
            false
        })
    }

    fn has_day(&self, (year, month, day): (u32, u32, u32)) -> bool {
        let is_month = self.months.is_empty() || self.months.contains(&month);
        let is_number = self.numbers.contains(&f64::from(day)) && is_month;
        is_number || self.is_relative || self.weekdays.contains(&weekday(year, month, day))
    }

    /// Returns the numbers: first those in digits, then those in words, each in the order of the text.
    pub(in crate::procedures) fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// Returns times of day as `HH:MM` and dates as `YYYY-MM-DD`, the forms that schemas require. A time without a half
    /// of the day has both forms. Dates are all combinations of a month that the text names with whole numbers of the
    /// text as years (1900 to 2100, the smallest [`MOST_YEARS`]) and days (1 to 31).
    pub(in crate::procedures) fn normal_forms(&self) -> Vec<String> {
        let mut forms = Vec::new();
        for time in &self.times {
            let (hour, minute) = (time.minutes / 60, time.minutes % 60);
            let halves = match time.is_afternoon {
                Some(is_afternoon) => vec![if is_afternoon { hour + 12 } else { hour }],
                None => vec![hour, hour + 12],
            };
            forms.extend(halves.iter().map(|hour| format!("{hour:02}:{minute:02}")));
        }
        let whole = |low: f64, high: f64| -> BTreeSet<u32> {
            let is_whole = move |number: &&f64| number.fract() == 0.0 && (low..=high).contains(*number);
            self.numbers.iter().filter(is_whole).map(|&number| number as u32).collect()
        };
        let (years, days) = (whole(1900.0, 2100.0), whole(1.0, 31.0));
        for month in self.months.iter().collect::<BTreeSet<_>>() {
            for year in years.iter().take(MOST_YEARS) {
                forms.extend(days.iter().map(|day| format!("{year}-{month:02}-{day:02}")));
            }
        }
        forms
    }

    /// Returns whether some word of the text has the same first four characters as one of `words`. Shorter words do not
    /// count.
    pub(in crate::procedures) fn hints_at<'w>(&self, words: impl IntoIterator<Item = &'w String>) -> bool {
        let begin = |word: &str| -> Option<String> {
            let begin: String = word.chars().take(4).collect();
            (begin.chars().count() == 4).then_some(begin)
        };
        let said: FxHashSet<String> = self.words.iter().filter_map(|word| begin(word)).collect();
        words.into_iter().filter_map(|word| begin(word)).any(|begin| said.contains(&begin))
    }
}

/// Returns the index of a name in a list. The word may be the name or its first three letters.
fn named(names: &[&str], word: &str) -> Option<u32> {
    let is_name = |name: &&str| *name == word || word.len() >= 3 && name[..3] == *word;
    names.iter().position(is_name).map(|place| place as u32)
}

/// Returns the months that words name; `may` counts only next to a number.
fn months(words: &[String]) -> Vec<u32> {
    let is_number = |place: Option<usize>| {
        let word = place.and_then(|place| words.get(place));
        word.is_some_and(|word| word.starts_with(|c: char| c.is_ascii_digit()) || value_of(word).is_some())
    };
    let mut months = Vec::new();
    for (place, word) in words.iter().enumerate() {
        let Some(month) = named(&MONTHS, word) else { continue };
        if word != "may" || is_number(place.checked_sub(1)) || is_number(Some(place + 1)) {
            months.push(month + 1);
        }
    }
    months
}

/// Returns the numbers in digits, with a point before decimals and commas between thousands. A number after `-` is
/// returned with both signs.
fn digits(text: &str) -> Vec<f64> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let run = |from: usize| (from..).take_while(|&at| is_digit(at)).count();
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let begin = at;
        at += run(at);
        let mut spelled = text[begin..at].to_owned();
        while bytes.get(at) == Some(&b',') && run(at + 1) == 3 {
            spelled.push_str(&text[at + 1..at + 4]);
            at += 4;
        }
        if bytes.get(at) == Some(&b'.') && is_digit(at + 1) {
            let end = at + 1 + run(at + 1);
            spelled.push_str(&text[at..end]);
            at = end;
        }
        if let Ok(number) = spelled.parse::<f64>() {
            numbers.push(number);
            if begin > 0 && bytes[begin - 1] == b'-' {
                numbers.push(-number);
            }
        }
    }
    numbers
}

/// Returns the value of a word in `UNITS`, `ORDINALS`, `TENS` or `OTHERS`; `None` for other words, such as `hundred`.
fn value_of(word: &str) -> Option<u32> {
    let place = |list: &[&str]| list.iter().position(|known| *known == word).map(|place| place as u32);
    let tens = || TENS.iter().position(|(tens, ordinal)| *tens == word || *ordinal == word);
    place(&UNITS)
        .or_else(|| place(&ORDINALS).map(|place| place + 1))
        .or_else(|| tens().map(|place| 10 * (place as u32 + 2)))
        .or_else(|| OTHERS.iter().find(|(known, _)| *known == word).map(|(_, value)| *value))
}

/// Returns whether a word is a number: in digits, as `10` and `5pm`, or in words.
pub(in crate::procedures) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) || value_of(word).is_some()
}

/// Returns the numbers in words: `twenty five`, `two hundred and ten`, `six`.
fn spelled(words: &[String]) -> Vec<f64> {
    let mut numbers = Vec::new();
    let mut open: Option<u32> = None;
    let mut add = |open: &mut Option<u32>| numbers.extend(open.take().map(f64::from));
    for word in words {
        open = match (word.as_str(), open, value_of(word)) {
            ("hundred", before, _) => Some(before.unwrap_or(1).saturating_mul(100)),
            ("thousand", before, _) => Some(before.unwrap_or(1).saturating_mul(1_000)),
            ("dozen", Some(before), _) => Some(before.saturating_mul(12)),
            ("and", Some(before), _) if before >= 100 => Some(before),
            (_, Some(before), Some(value)) if fits_after(before, value) => Some(before.saturating_add(value)),
            (_, _, value) => {
                add(&mut open);
                value
            }
        };
    }
    add(&mut open);
    numbers
}

/// Returns whether a number word may follow the number read so far: 1 to 9 after one that ends in a multiple of ten
/// from 20 to 90 (`twenty five`), any number below 100 after a multiple of 100 that is not 0 (`hundred ten`). Only such
/// words are added to the number.
fn fits_after(before: u32, value: u32) -> bool {
    let is_tens = (20..100).contains(&(before % 100)) && before.is_multiple_of(10);
    is_tens && (1..10).contains(&value) || before >= 100 && before.is_multiple_of(100) && value < 100
}

/// Returns the times in digits: `17:15`, `5.15 pm`, `5pm`.
fn clocks(text: &str) -> Vec<Time> {
    let bytes = text.as_bytes();
    let mut times = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        // the minutes of a time are not a time of their own
        let is_minute = at >= 2 && matches!(bytes[at - 1], b':' | b'.') && bytes[at - 2].is_ascii_digit();
        let is_begin = !is_minute && (at == 0 || !bytes[at - 1].is_ascii_digit());
        if (1..=2).contains(&run) && is_begin {
            times.extend(time(&text[at..]));
        }
        at += run.max(1);
    }
    times
}

/// Returns the times in words: `half past six`, `quarter to five`, `noon`.
fn spoken_times(words: &[String]) -> Vec<Time> {
    let hour = |place: usize| {
        let word = words.get(place)?;
        let number = value_of(word).or_else(|| number(word).map(|number| number as u32));
        number.filter(|hour| *hour <= 24).map(|hour| hour % 12 * 60)
    };
    let mut times = Vec::new();
    let mut add = |minutes: u32, is_afternoon| {
        times.push(Time { minutes: minutes % 720, is_afternoon });
    };
    for (place, word) in words.iter().enumerate() {
        let next = words.get(place + 1).map_or("", String::as_str);
        match (word.as_str(), next) {
            ("noon", _) => add(0, Some(true)),
            ("midnight", _) => add(0, Some(false)),
            ("half", "past") => hour(place + 2).into_iter().for_each(|hour| add(hour + 30, None)),
            ("half", _) => hour(place + 1).into_iter().for_each(|hour| add(hour + 30, None)),
            ("quarter", "past" | "after") => {
                hour(place + 2).into_iter().for_each(|hour| add(hour + 15, None));
            }
            ("quarter", "to") => hour(place + 2).into_iter().for_each(|hour| add(hour + 720 - 15, None)),
            _ => {}
        }
    }
    times
}

/// Reads a number from a text in lower case: in digits, as an ordinal (`2nd`), or in words without `hundred`,
/// `thousand` and `and`. `None` for other texts.
fn number(text: &str) -> Option<f64> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    let begins = digits.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    match digits.parse::<f64>() {
        Ok(number) if begins && number.is_finite() => Some(number),
        _ => match spelled(&words(text)).as_slice() {
            [number] if words(text).iter().all(|word| value_of(word).is_some()) => Some(*number),
            _ => None,
        },
    }
}

/// Reads the time of day at the beginning of a text in lower case: `17:15`, `5 pm`. An hour alone is not a time.
fn time(text: &str) -> Option<Time> {
    let (hour, rest) = hours(text)?;
    let minutes = rest.strip_prefix([':', '.']).filter(|rest| rest.len() >= 2 && rest.is_char_boundary(2));
    let minute = minutes.and_then(|rest| rest[..2].parse::<u32>().ok()).filter(|minute| *minute < 60);
    let after = match (minutes, minute) {
        (Some(rest), Some(_)) => &rest[2..],
        _ => rest,
    };
    let half = after.trim_start().replace('.', "");
    let is_afternoon = match half.get(..2) {
        Some("am") => Some(false),
        Some("pm") => Some(true),
        // with a minute, an hour above 12 or with a leading zero determines the half of the day
        _ if minute.is_some() && (hour > 12 || text.starts_with('0')) => Some(hour >= 12),
        _ => None,
    };
    if minute.is_none() && !matches!(half.get(..2), Some("am" | "pm")) {
        return None;
    }
    Some(Time { minutes: hour % 12 * 60 + minute.unwrap_or(0), is_afternoon })
}

/// Returns the hour at the beginning of a text, from 0 to 24 in one or two digits, and the rest.
fn hours(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    let hour: u32 = text.get(..end).filter(|digits| digits.len() <= 2)?.parse().ok()?;
    (hour <= 24).then(|| (hour, &text[end..]))
}

fn is_same(a: Time, b: Time) -> bool {
    let is_half = a.is_afternoon.is_none() || b.is_afternoon.is_none() || a.is_afternoon == b.is_afternoon;
    a.minutes == b.minutes && is_half
}

/// Returns the year, month and day of a date such as `2019-03-02` at the beginning of a text.
fn day(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.get(..10)?.split('-');
    let mut part = |length: usize| parts.next().filter(|part| part.len() == length)?.parse::<u32>().ok();
    let (year, month, day) = (part(4)?, part(2)?, part(2)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((year, month, day))
}

/// Returns the day of the week by Zeller's congruence; 0 is a Saturday.
fn weekday(year: u32, month: u32, day: u32) -> u32 {
    let (year, month) = if month < 3 { (year.saturating_sub(1), month + 12) } else { (year, month) };
    let (century, of_century) = (year / 100, year % 100);
    (day + 13 * (month + 1) / 5 + of_century + of_century / 4 + century / 4 + 5 * century) % 7
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_said_in_their_words_or_in_normal_forms() {
        for (text, value, is_said) in [
            ("A room for six.", json!(6), true),
            ("A room for six.", json!(7), false),
            ("A room for sixty", json!(6), false),
            ("for twenty-five people", json!(25), true),
            ("two hundred and ten credits", json!(210), true),
            ("a dozen", json!(12), true),
            ("1,250.50 please", json!(1250.5), true),
            ("about -5 degrees", json!(-5), true),
            ("on the 2nd of March", json!("2019-03-02"), true),
            ("on the 2nd of April", json!("2019-03-02"), false),
            ("on May 2nd", json!("2019-03-02"), false),
            ("may I have the 2nd?", json!("2019-03-02"), true),
            ("next Saturday", json!("2019-03-02"), true),
            ("next Sunday", json!("2019-03-02"), false),
            ("tomorrow", json!("2019-03-02"), true),
            ("at half past 6 in the evening", json!("18:30"), true),
            ("at quarter to five", json!("16:45"), true),
            ("at 5:15 pm", json!("17:15"), true),
            ("at 5:15 am", json!("17:15"), false),
            ("around six", json!("18:00"), true),
            ("for six", json!("18:00"), false),
            ("at noon", json!("12:00"), true),
            ("17:15", json!("5:15 pm"), true),
            ("5pm", json!("5 pm"), true),
            ("the 14th", json!("14th"), true),
            ("fourteenth", json!("14th"), true),
            ("my number is lh 1234", json!("LH1234"), true),
            ("a full size car", json!("Full-size"), true),
            ("Elm Street", json!("Elm"), true),
            ("Elmwood", json!("Elm"), false),
            ("Ab Köln, bitte", json!("köln"), true),
            ("東京から京都まで", json!("京都"), true),
            ("東京から", json!("京都"), false),
            ("what?", json!("?"), true),
            ("yes", json!(true), false),
            ("", json!("x"), false),
        ] {
            assert_eq!(Saying::of(text).has(&value), is_said, "{text} {value}");
        }
    }

    #[test]
    fn normal_forms_are_said() {
        for text in [
            "at 5:15 pm on March 2nd 2019",
            "half past six",
            "1 2 3 24 may 31 2000",
            "٣ 99999999999999999999",
            "5:é",
        ] {
            let saying = Saying::of(text);
            for form in saying.normal_forms() {
                assert!(saying.has(&json!(form)), "{text}: {form}");
            }
        }
        assert_eq!(Saying::of("5:15 pm").normal_forms()[0], "17:15");
        assert!(Saying::of("March 2nd 2019").normal_forms().contains(&"2019-03-02".to_owned()));
        assert_eq!(weekday(2026, 11, 27), 6);
    }
}
