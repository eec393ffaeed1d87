//! `json-pointer` (RFC 6901) and `relative-json-pointer`.

use super::Pieces;
use crate::error::Result;
use crate::grammar::ExprId;

pub(super) fn absolute(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    p.regex("(?:/(?:[^~]|~[01])*)?")
}

pub(super) fn relative(p: &mut Pieces<'_, '_, '_>) -> Result<ExprId> {
    let shift = if p.is_around() { "(?:[+-][0-9]+)?" } else { "" };
    let up = p.regex(&format!("(?:0|[1-9][0-9]*){shift}"))?;
    let (name, pointer) = (p.text("#"), absolute(p)?);
    let what = p.choice([name, pointer]);
    Ok(p.sequence([up, what]))
}
