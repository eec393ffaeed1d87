//! `--set-limit`: the fields of [`Limits`] by name.

use grammata::diagnostic::did_you_mean;
use grammata::limits::{LimitKind, Limits};

/// Limits other than the default ones.
#[derive(Clone, Debug, clap::Args)]
pub struct LimitArgs {
    /// Sets a limit on the cost of the input, such as `cache_bytes=1000000`; may be repeated. `grammata limits` lists them
    #[arg(long = "set-limit", value_name = "NAME=N", value_parser = name_and_number, hide_short_help = true, help_heading = "Limits")]
    set: Vec<(LimitKind, usize)>,
}

impl LimitArgs {
    /// Returns the default limits with the given ones replaced. If a limit is given twice, the last value counts.
    pub fn get(&self) -> Limits {
        self.set.iter().fold(Limits::default(), |limits, &(kind, limit)| limits.with(kind, limit))
    }
}

fn name_and_number(argument: &str) -> Result<(LimitKind, usize), String> {
    let (name, number) = argument.split_once('=').ok_or("it must be NAME=N")?;
    let Some(kind) = LimitKind::named(name) else {
        let names: Vec<&str> = LimitKind::ALL.iter().map(|kind| kind.name()).collect();
        let all = format!("the limits are {}", names.join(", "));
        return Err(format!("unknown limit `{name}`; {}", did_you_mean(name, names, all)));
    };
    let number = number.replace('_', "");
    let number = number.parse().map_err(|_| format!("`{name}` must be a whole number, 0 or more"))?;
    Ok((kind, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_set_by_its_name() {
        for &kind in LimitKind::ALL {
            let set = vec![name_and_number(&format!("{kind}=1_234")).unwrap()];
            let limits = LimitArgs { set }.get();
            assert_eq!(limits.get(kind), 1234, "{kind}");
            let others = LimitKind::ALL.iter().filter(|&&other| other != kind);
            others.for_each(|&other| assert_eq!(limits.get(other), Limits::default().get(other), "{kind}"));
        }
        assert_eq!(LimitArgs { set: Vec::new() }.get(), Limits::default());
        let error = name_and_number("cache_byte=1").unwrap_err();
        assert!(error.contains("did you mean `cache_bytes`?"), "{error}");
        assert!(name_and_number("nothing=1").unwrap_err().contains("source_bytes, source_depth"));
        assert!(name_and_number("cache_bytes=-1").is_err());
    }
}
