//! `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` (the last two also as the booleans of draft 4) and
//! `multipleOf`.

use super::Keywords;
use crate::error::Result;
use crate::syntax::json_schema::errors;
use crate::syntax::json_schema::model::numbers::{self, Bound, NumberRange};
use crate::syntax::json_schema::model::schema::Schema;
use crate::syntax::json_schema::values::decimal::Decimal;
use crate::syntax::json_schema::values::json::Value;

pub(super) fn read(keywords: &Keywords<'_, '_>, schema: &mut Schema<'_>) -> Result<()> {
    let (minimum, exclusive_minimum) = pair(keywords, "minimum", "exclusiveMinimum")?;
    let (maximum, exclusive_maximum) = pair(keywords, "maximum", "exclusiveMaximum")?;
    for lower in [minimum, exclusive_minimum].into_iter().flatten() {
        let range = NumberRange { lower: Some(lower), ..NumberRange::default() };
        *schema.number = numbers::intersection(&schema.number, &range);
    }
    for upper in [maximum, exclusive_maximum].into_iter().flatten() {
        let range = NumberRange { upper: Some(upper), ..NumberRange::default() };
        *schema.number = numbers::intersection(&schema.number, &range);
    }
    read_divisor(keywords, "multipleOf", schema)
}

pub(super) fn read_divisor(
    keywords: &Keywords<'_, '_>,
    keyword: &str,
    schema: &mut Schema<'_>,
) -> Result<()> {
    let Some(divisor) = number(keywords, keyword)? else { return Ok(()) };
    if divisor <= Decimal::zero() {
        let found = keywords.get(keyword).unwrap_or(&Value::Null);
        return Err(keywords.invalid(keyword, found, "a number above zero"));
    }
    let range = NumberRange { multiple_of: vec![divisor], ..NumberRange::default() };
    *schema.number = numbers::intersection(&schema.number, &range);
    Ok(())
}

/// Returns the bounds of a keyword and of its exclusive twin. A boolean twin makes the other bound exclusive.
fn pair(keywords: &Keywords<'_, '_>, plain: &str, twin: &str) -> Result<(Option<Bound>, Option<Bound>)> {
    let mut bound = number(keywords, plain)?.map(|value| Bound { value, exclusive: false });
    match keywords.get(twin) {
        Some(Value::Bool(exclusive)) => {
            if let Some(bound) = &mut bound {
                bound.exclusive = *exclusive;
            }
            Ok((bound, None))
        }
        _ => Ok((bound, number(keywords, twin)?.map(|value| Bound { value, exclusive: true }))),
    }
}

fn number(keywords: &Keywords<'_, '_>, keyword: &str) -> Result<Option<Decimal>> {
    let number = match keywords.get(keyword) {
        None => return Ok(None),
        Some(Value::Number(number)) => number.to_string(),
        Some(other) => return Err(keywords.invalid(keyword, other, "a number")),
    };
    let value = Decimal::parse(&number);
    if !value.is_plain() {
        return Err(errors::bound_too_long(&keywords.pointer(keyword), keyword, &number));
    }
    Ok(Some(value))
}
