//! Tables of cases: folders of TOML files, each a list `[[case]]`.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table<C> {
    case: Vec<C>,
}

/// Returns all cases of the tables in `tests/cases/<topic>`.
pub(crate) fn cases<C: DeserializeOwned>(topic: &str) -> Vec<C> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(topic);
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder is there") {
        let path = entry.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("the table can be read");
        let table: Table<C> = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        cases.extend(table.case);
    }
    cases
}
