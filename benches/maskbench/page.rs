//! Puts the tables of a run into a page of the documentation.

const BEGIN: &str = "<!-- maskbench: begin -->\n";
const END: &str = "<!-- maskbench: end -->";

/// Returns the page with `tables` between its marks; `None` if a mark is missing.
pub(crate) fn with_tables(page: &str, tables: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}\n{END}{after}", tables.trim_end()))
}
