//! `date-time`, `date`, `time` (RFC 3339, section 5.6) and `duration` (its appendix A).
//!
//! Dates are those of the Gregorian calendar, in the years 0000 to 9999. The second 60 is valid at 23:59:60 UTC.
//! Whether that day had a leap second is not checked.

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

const MINUTES_A_DAY: u32 = 24 * 60;
/// The last minute of a day in UTC, the only one that may have a leap second.
const LAST_MINUTE: u32 = MINUTES_A_DAY - 1;

pub(super) fn date_time(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let (date, t, time) = (date(p)?, p.regex("[Tt]")?, time(p)?);
    Ok(p.sequence([date, t, time]))
}

pub(super) fn date(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    p.regex(
        "[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])\
         |(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))\
         |(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29",
    )
}

pub(super) fn time(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let usual = p.regex(
        r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    )?;
    let leap = leap_second(p)?;
    Ok(p.choice([usual, leap]))
}

/// Returns times with the second 60, by local time: it determines the offset east and the offset west.
fn leap_second(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    // in the time of leap seconds, offsets have been multiples of a quarter of an hour
    let step = if p.is_around() { 1 } else { 15 };
    let fraction = p.regex(r":60(?:\.[0-9]+)?")?;
    let utc = p.regex("[Zz]")?;
    let mut hours = Vec::new();
    for hour in 0..24 {
        let mut minutes = Vec::new();
        for minute in (60 - 1 - (60 / step - 1) * step..60).step_by(step as usize) {
            let east = (hour * 60 + minute + MINUTES_A_DAY - LAST_MINUTE) % MINUTES_A_DAY;
            let west = (MINUTES_A_DAY - east) % MINUTES_A_DAY;
            let offset = |sign, offset| format!("{sign}{:02}:{:02}", offset / 60, offset % 60);
            let mut offsets = vec![p.text(&offset('+', east)), p.text(&offset('-', west))];
            if east == 0 {
                offsets.push(utc);
            }
            let offsets = p.choice(offsets);
            let minute = p.text(&format!("{minute:02}"));
            minutes.push(p.sequence([minute, fraction, offsets]));
        }
        let minutes = p.choice(minutes);
        let hour = p.text(&format!("{hour:02}:"));
        hours.push(p.sequence([hour, minutes]));
    }
    Ok(p.choice(hours))
}

pub(super) fn duration(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    const TIME: &str = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
    const DATE: &str = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
    let any_case = if p.is_around() { "(?i-u)" } else { "" };
    p.regex(&format!("{any_case}P(?:{DATE}(?:{TIME})?|{TIME}|[0-9]+W)"))
}
