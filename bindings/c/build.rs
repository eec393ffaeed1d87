//! Sets the shared library's name for dynamic linkers. Its number is that of the ABI, not of the release.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match std::env::var("CARGO_CFG_TARGET_OS").as_deref() {
        Ok("linux" | "android" | "freebsd") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgrammata.so.0");
        }
        Ok("macos") => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libgrammata.0.dylib");
        }
        _ => {}
    }
}
