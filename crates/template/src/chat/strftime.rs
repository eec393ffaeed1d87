//! Dates as C's strftime writes them, in UTC and English.

/// The parts of a time.
#[derive(Clone, Copy)]
struct Time {
    seconds: u64,
    year: u64,
    /// 1 to 12.
    month: u64,
    /// From 1.
    day: u64,
    /// Day of the year, from 0.
    of_year: u64,
    /// 0 is Sunday.
    weekday: u64,
    second: u64,
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Maximum width of a field, as `5` in `%5d`.
const WIDTH: usize = 12;

/// Formats a time, which is given in seconds since 1970, with the directives of glibc's strftime, its flags `_ - 0 ^ #`
/// and widths. Anything else is written as it is. Names are English; the time zone is UTC, without a name, as Python
/// writes a time without a zone.
pub(super) fn strftime(format: &str, seconds: u64) -> String {
    let time = Time::of(seconds);
    let mut out = String::new();
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        let (before, directive) = rest.split_at(at);
        out.push_str(before);
        let length = time.directive(directive, &mut out).unwrap_or_else(|| {
            out.push('%');
            1
        });
        rest = &directive[length..];
    }
    out + rest
}

impl Time {
    fn of(seconds: u64) -> Time {
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil(days);
        let of_year = days - days_before(year);
        Time { seconds, year, month, day, of_year, weekday: (days + 4) % 7, second }
    }

    /// Appends what the directive at the beginning of `text` means, and returns its length in bytes; `None` if it is
    /// unknown.
    fn directive(&self, text: &str, out: &mut String) -> Option<usize> {
        let flags =
            text[1..].find(|c| !matches!(c, '_' | '-' | '0' | '^' | '#')).map_or(text.len(), |at| at + 1);
        let digits = text[flags..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |at| at + flags);
        let width = text[flags..digits].parse::<usize>().ok().filter(|width| *width <= WIDTH);
        if width.is_none() && digits > flags {
            return None;
        }
        let letter = text[digits..].chars().next()?;
        let flag = |flag: char| text[1..flags].contains(flag);
        let written = match self.number(letter) {
            Some((number, digits, fill)) => {
                let fill = match text[1..flags].chars().rfind(|c| matches!(c, '_' | '-' | '0')) {
                    Some('_') => ' ',
                    Some('0') => '0',
                    Some(_) => '-',
                    None => fill,
                };
                let width = if fill == '-' { 0 } else { width.unwrap_or(digits) };
                let number = number.to_string();
                let missing = width.saturating_sub(number.len());
                std::iter::repeat_n(fill, missing).collect::<String>() + &number
            }
            None => {
                let text = self.name(letter)?;
                let is_small = flag('#') && matches!(letter, 'p' | 'Z');
                let text = match flag('^') || (flag('#') && !is_small) {
                    true => text.to_uppercase(),
                    false if is_small => text.to_lowercase(),
                    false => text,
                };
                let missing = width.unwrap_or(0).saturating_sub(text.len());
                let fill = if flag('0') { '0' } else { ' ' };
                std::iter::repeat_n(fill, missing).collect::<String>() + &text
            }
        };
        out.push_str(&written);
        Some(digits + letter.len_utf8())
    }

    /// Returns a number with the digits that it is filled up to, and with what.
    fn number(&self, letter: char) -> Option<(u64, usize, char)> {
        let (hour, minute) = (self.second / 3600, self.second / 60 % 60);
        let half = (hour + 11) % 12 + 1;
        let from_monday = (self.weekday + 6) % 7;
        let (iso_year, iso_week) = self.iso();
        Some(match letter {
            'Y' => (self.year, 1, '0'),
            'C' => (self.year / 100, 2, '0'),
            'y' => (self.year % 100, 2, '0'),
            'm' => (self.month, 2, '0'),
            'd' => (self.day, 2, '0'),
            'e' => (self.day, 2, ' '),
            'H' => (hour, 2, '0'),
            'k' => (hour, 2, ' '),
            'I' => (half, 2, '0'),
            'l' => (half, 2, ' '),
            'M' => (minute, 2, '0'),
            'S' => (self.second % 60, 2, '0'),
            'j' => (self.of_year + 1, 3, '0'),
            'u' => (from_monday + 1, 1, '0'),
            'w' => (self.weekday, 1, '0'),
            'U' => ((self.of_year + 7 - self.weekday) / 7, 2, '0'),
            'W' => ((self.of_year + 7 - from_monday) / 7, 2, '0'),
            'V' => (iso_week, 2, '0'),
            'G' => (iso_year, 1, '0'),
            'g' => (iso_year % 100, 2, '0'),
            's' => (self.seconds, 1, '0'),
            _ => return None,
        })
    }

    fn name(&self, letter: char) -> Option<String> {
        let month = MONTHS.get(self.month as usize - 1).copied().unwrap_or_default();
        let day = DAYS.get(self.weekday as usize).copied().unwrap_or_default();
        let short = |name: &str| name.chars().take(3).collect::<String>();
        let whole = |format: &str| strftime(format, self.seconds);
        Some(match letter {
            'B' => month.to_owned(),
            'b' | 'h' => short(month),
            'A' => day.to_owned(),
            'a' => short(day),
            'p' => if self.second < 43_200 { "AM" } else { "PM" }.to_owned(),
            'P' => if self.second < 43_200 { "am" } else { "pm" }.to_owned(),
            // Python's own: microseconds
            'f' => "000000".to_owned(),
            'F' => whole("%Y-%m-%d"),
            'T' | 'X' => whole("%H:%M:%S"),
            'D' | 'x' => whole("%m/%d/%y"),
            'R' => whole("%H:%M"),
            'r' => whole("%I:%M:%S %p"),
            'c' => whole("%a %b %e %H:%M:%S %Y"),
            'n' => "\n".to_owned(),
            't' => "\t".to_owned(),
            'z' | 'Z' => String::new(),
            '%' => "%".to_owned(),
            _ => return None,
        })
    }

    /// Returns the year and the number of the week as ISO 8601 counts them: a week belongs to the year of its Thursday.
    fn iso(&self) -> (u64, u64) {
        let from_monday = (self.weekday + 6) % 7;
        let days = self.seconds / 86_400;
        let thursday = (days + 3).saturating_sub(from_monday);
        let (year, ..) = civil(thursday);
        (year, thursday.saturating_sub(days_before(year)) / 7 + 1)
    }
}

/// Returns the number of days from 1 January 1970 to 1 January of a year.
fn days_before(year: u64) -> u64 {
    let before = year - 1;
    before * 365 + before / 4 - before / 100 + before / 400 - 719_162
}

/// Converts a number of days since 1 January 1970 to year, month (1 to 12) and day of the month (from 1). The
/// computation begins each year on 1 March, so that the leap day comes last, and uses eras of 400 years (146,097 days).
fn civil(days: u64) -> (u64, u64, u64) {
    // 1 March of year 0 is 719,468 days before 1 January 1970
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}
