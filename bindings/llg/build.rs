//! Names the shared library as dynamic linkers ask for it. The number is that of the ABI, not of the release.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android" | "freebsd") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgrammata_llg.so.0");
        }
        Ok("macos") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libgrammata_llg.0.dylib");
        }
        _ => {}
    }
}
