//! Code that reproduces papers or compares methods belongs to the laboratory. No crate of the product depends on the
//! laboratory.

use crate::imports::{module_of, named, product};
use std::path::Path;

/// Modules of the product that still belong to an experiment, each with its importers and the reason, as of 26 November
/// 2026.
const REST: &[(&str, &[&str], &str)] = &[
    ("cli::cmd::plan::reward", &["cli::cmd::plan::run"], "`--reward` is an option of `plan run`"),
    (
        "plan::episodes",
        &["cli::cmd::plan::reward", "cli::cmd::plan::run"],
        "`plan run` writes data for training",
    ),
];

#[test]
fn no_crate_of_the_product_depends_on_the_laboratory() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut manifests: Vec<_> = std::fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path().join("Cargo.toml"))
        .chain(
            [
                "Cargo.toml",
                "bindings/agents/Cargo.toml",
                "bindings/border/Cargo.toml",
                "bindings/c/Cargo.toml",
            ]
            .into_iter()
            .chain(["bindings/js/Cargo.toml", "bindings/llg/Cargo.toml", "bindings/python/Cargo.toml"])
            .map(|name| root.join(name)),
        )
        .collect();
    manifests.sort();
    assert!(manifests.len() >= 10, "{manifests:?}");
    for manifest in manifests {
        let text = std::fs::read_to_string(&manifest).unwrap();
        assert!(!text.contains("grammata-labs"), "{} names the laboratory", manifest.display());
    }
}

#[test]
fn what_is_left_of_experiments_is_known() {
    for (experiment, importers, _) in REST {
        let path: Vec<String> = experiment.split("::").map(str::to_owned).collect();
        let (mut is_there, mut found) = (false, Vec::new());
        for (file, text) in product() {
            let (module, is_parent) = module_of(&file);
            is_there |= module == path;
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
            let named = named(&module, is_parent, code);
            if named.iter().any(|named| !named.is_child && named.path.starts_with(&path)) {
                found.push(module.join("::"));
            }
        }
        assert!(is_there, "there is no {experiment}");
        found.retain(|module| !importers.contains(&module.as_str()));
        assert!(found.is_empty(), "{found:?} import {experiment}");
    }
}
