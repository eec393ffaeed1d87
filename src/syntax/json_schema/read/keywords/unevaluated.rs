//! `unevaluatedProperties` and `unevaluatedItems`.

use super::Keywords;
use crate::syntax::json_schema::model::schema::{Schema, Unevaluated};
use crate::syntax::json_schema::read::draft::{Version, Versions};
use crate::syntax::json_schema::read::reader::Reader;

pub(super) fn read<'a>(reader: &mut Reader<'a, '_>, keywords: &Keywords<'a, '_>, schema: &mut Schema<'a>) {
    let mut child =
        |keyword| keywords.get(keyword).map(|value| reader.child(keywords.location, &[keyword], value));
    schema.unevaluated = Unevaluated {
        properties: child("unevaluatedProperties"),
        items: child("unevaluatedItems"),
        after_contains: keywords.draft.is_within(Versions::only(Version::Draft2020)),
        ..schema.unevaluated
    };
}
