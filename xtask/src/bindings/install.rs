//! Installs the C library: header, libraries, and the files by which pkg-config and CMake find them.

use crate::command::{self, Result, cargo, root};
use std::path::{Path, PathBuf};

/// The folder of the C package.
pub const PACKAGE: &str = "bindings/c";

/// Builds the library with the profile `release` and installs it below `prefix`.
pub fn install(prefix: &str) -> Result {
    command::run(&mut cargo(&["build", "--release", "--package", "grammata-c"]))?;
    // relative to the caller's folder, not to the repository
    let prefix = std::path::absolute(prefix).map_err(|e| format!("{prefix}: {e}"))?;
    copy(&target().join("release"), &prefix)?;
    println!("installed below {}", prefix.display());
    Ok(())
}

/// Installs the header, the libraries from `built`, and the pkg-config and CMake files below `prefix`.
pub fn copy(built: &Path, prefix: &Path) -> Result {
    let version = version()?;
    let package = root().join(PACKAGE);
    let place = |from: PathBuf, to: &str| -> Result {
        let to = prefix.join(to);
        let text = |e: std::io::Error| format!("{} to {}: {e}", from.display(), to.display());
        if let Some(folder) = to.parent() {
            std::fs::create_dir_all(folder).map_err(text)?;
        }
        if from.extension().is_some_and(|extension| extension == "in") {
            let template = std::fs::read_to_string(&from).map_err(text)?;
            return std::fs::write(&to, template.replace("@VERSION@", &version)).map_err(text);
        }
        std::fs::copy(&from, &to).map(|_| ()).map_err(text)
    };
    place(package.join("include/grammata.h"), "include/grammata.h")?;
    place(package.join("grammata.pc.in"), "lib/pkgconfig/grammata.pc")?;
    place(package.join("cmake/grammataConfig.cmake"), "lib/cmake/grammata/grammataConfig.cmake")?;
    place(
        package.join("cmake/grammataConfigVersion.cmake.in"),
        "lib/cmake/grammata/grammataConfigVersion.cmake",
    )?;
    place(built.join("libgrammata.a"), "lib/libgrammata.a")?;
    if cfg!(target_os = "macos") {
        place(built.join("libgrammata.dylib"), "lib/libgrammata.0.dylib")?;
        return link("libgrammata.0.dylib", &prefix.join("lib/libgrammata.dylib"));
    }
    place(built.join("libgrammata.so"), "lib/libgrammata.so.0")?;
    link("libgrammata.so.0", &prefix.join("lib/libgrammata.so"))
}

/// Creates a link with the name that linkers look for, to the name that programs load. Replaces an existing file.
fn link(to: &str, at: &Path) -> Result {
    let text = |e: std::io::Error| format!("{}: {e}", at.display());
    if at.symlink_metadata().is_ok() {
        std::fs::remove_file(at).map_err(text)?;
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(to, at).map_err(text)
    }
    #[cfg(not(unix))]
    {
        Err(format!("{}: the C library is installed on Unix alone; it would link to {to}", at.display()))
    }
}

/// Returns cargo's folder for build outputs: CARGO_TARGET_DIR or `target`.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Reads the version of all packages, the first `version` in the workspace's manifest.
fn version() -> Result<String> {
    let path = root().join("Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_owned).ok_or(format!("{} has no version", path.display()))
}
