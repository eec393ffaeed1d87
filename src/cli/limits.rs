//! `--set-limit`: the fields of [`Limits`] by name.

use crate::diagnostic::did_you_mean;
use crate::limits::Limits;
use serde_json::{Map, Value};

/// Limits other than the default ones.
#[derive(Debug, clap::Args)]
pub(super) struct LimitArgs {
    /// Sets a limit on what input may cost, such as `cache_bytes`; docs/cli.md lists them; may be repeated
    #[arg(long = "set-limit", value_name = "NAME=N", value_parser = name_and_number, help_heading = "Limits")]
    set: Vec<(String, usize)>,
}

impl LimitArgs {
    /// The default limits with those that are set.
    pub(super) fn get(&self) -> Limits {
        let mut fields = fields();
        for (name, number) in &self.set {
            fields.insert(name.clone(), (*number).into());
        }
        // the names were checked when the arguments were read
        serde_json::from_value(Value::Object(fields)).unwrap_or_default()
    }
}

/// The limits by name, with their default values.
fn fields() -> Map<String, Value> {
    match serde_json::to_value(Limits::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn name_and_number(argument: &str) -> Result<(String, usize), String> {
    let (name, number) = argument.split_once('=').ok_or("it must be NAME=N")?;
    let fields = fields();
    if !fields.contains_key(name) {
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        let all = format!("the limits are {}", names.join(", "));
        return Err(format!("there is no limit `{name}`; {}", did_you_mean(name, names, all)));
    }
    let number = number.replace('_', "");
    let number = number.parse().map_err(|_| format!("`{name}` must be a whole number, 0 or more"))?;
    Ok((name.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_set_by_its_name() {
        for (name, value) in fields() {
            assert!(value.is_u64(), "{name}");
            let set = vec![name_and_number(&format!("{name}=1_234")).unwrap()];
            assert_ne!(LimitArgs { set }.get(), Limits::default(), "{name}");
        }
        assert_eq!(LimitArgs { set: Vec::new() }.get(), Limits::default());
        let error = name_and_number("cache_byte=1").unwrap_err();
        assert!(error.contains("did you mean `cache_bytes`?"), "{error}");
        assert!(name_and_number("nothing=1").unwrap_err().contains("source_bytes, source_depth"));
        assert!(name_and_number("cache_bytes=-1").is_err());
    }
}
