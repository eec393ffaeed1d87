//! Draws the figures of `docs/architecture.md` into `docs/figures`: `cargo run --example figures`.

#[path = "mod.rs"]
#[allow(unused_imports, unreachable_pub)] // the tests, which include this module, use more of it
mod figures;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/figures");
    for (name, drawing) in figures::all(&folder)? {
        std::fs::write(folder.join(name), drawing)?;
    }
    Ok(())
}
