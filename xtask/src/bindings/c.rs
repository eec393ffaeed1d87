//! Checks of the C library. Its header must be the output of cbindgen. Its examples and tests are built against the
//! installed library and run under valgrind (with the shared library) and the address sanitizer (with the static one).

use super::install::{self, PACKAGE, target};
use crate::command::{self, Result, cargo, command, in_parallel, root, succeeds};
use crate::instructions;
use crate::tools::{CBINDGEN, CMAKE};
use std::path::{Path, PathBuf};
use std::process::Command;

const HEADER: &str = "bindings/c/include/grammata.h";

/// The tokenizer that the examples read.
const TOKENIZER: &str = "tests/data/smollm2/tokenizer.json";

/// The page that shows the code and the output of the examples.
const PAGE: &str = "docs/c.md";

/// A program: its source, its arguments, and whether the page shows its output.
struct Program {
    source: &'static str,
    arguments: &'static [&'static str],
    is_shown: bool,
}

const PROGRAMS: [Program; 7] = [
    Program { source: "examples/decoder.c", arguments: &[TOKENIZER], is_shown: true },
    Program { source: "examples/decoder.cpp", arguments: &[TOKENIZER], is_shown: true },
    Program { source: "tests/grammars.c", arguments: &[], is_shown: false },
    Program { source: "tests/matchers.c", arguments: &[], is_shown: false },
    Program { source: "tests/mask_files.c", arguments: &[], is_shown: false },
    Program { source: "tests/llama.c", arguments: &[], is_shown: false },
    Program { source: "tests/threads.c", arguments: &[], is_shown: false },
];

/// Warnings are errors, because a header must compile without any.
const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// The options of valgrind. Leaks of memory that is still reachable (the list of limits) are not errors, nor are
/// possible leaks, because hash tables and the queues of threads hold pointers into the middle of their memory.
const VALGRIND: [&str; 5] = [
    "--quiet",
    "--error-exitcode=9",
    "--leak-check=full",
    "--show-leak-kinds=definite,indirect",
    "--errors-for-leak-kinds=definite,indirect",
];

/// Writes the header as cbindgen generates it.
pub fn bless() -> Result {
    let path = root().join(HEADER);
    std::fs::write(&path, header()?).map_err(|e| format!("{HEADER}: {e}"))
}

/// Checks the header, the programs under valgrind and the address sanitizer, and the CMake build. On systems other than
/// Unix it only prints that nothing is checked.
pub fn check() -> Result {
    if !cfg!(unix) {
        println!("not checked: the C library, whose tests are for Unix");
        return Ok(());
    }
    let committed = std::fs::read_to_string(root().join(HEADER)).map_err(|e| format!("{HEADER}: {e}"))?;
    if committed != header()? {
        return Err(format!("{HEADER} is not what the source says: write it with `cargo xtask header`"));
    }
    command::run(&mut cargo(&super::BUILD))?;
    let prefix = target().join("c");
    install::copy(&target().join("debug"), &prefix)?;
    instructions::valgrind()?;
    let page = std::fs::read_to_string(root().join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    in_parallel(&PROGRAMS, |program| {
        let shared = shared(program, &prefix)?;
        let checked = output(command("valgrind", &VALGRIND).arg(&shared).args(program.arguments))?;
        let sanitized = sanitized(program, &prefix)?;
        let again = output(command(&sanitized, program.arguments).env("ASAN_OPTIONS", "detect_leaks=1"))?;
        if checked != again {
            return Err(format!("{} prints something else on the second run:\n{again}", program.source));
        }
        if program.is_shown && !page.contains(&checked) {
            return Err(format!("{PAGE} does not show what {} prints:\n{checked}", program.source));
        }
        Ok(())
    })?;
    cmake(&prefix)
}

/// Returns the header that cbindgen generates from the source.
fn header() -> Result<String> {
    CBINDGEN.install()?;
    let config = root().join(PACKAGE).join("cbindgen.toml");
    let mut command = CBINDGEN.command(&["--quiet", "--lockfile", "Cargo.lock", "--config"]);
    output(command.arg(config).arg(PACKAGE))
}

/// Returns the compiler command for a program, and the path of its executable. CC and CXX override the compilers.
fn compile(program: &Program, suffix: &str) -> Result<(Command, PathBuf)> {
    let source = Path::new(program.source);
    let is_cpp = source.extension().is_some_and(|extension| extension == "cpp");
    let (variable, usual, standard) =
        if is_cpp { ("CXX", "c++", "-std=c++17") } else { ("CC", "cc", "-std=c11") };
    let compiler = std::env::var_os(variable).unwrap_or_else(|| usual.into());
    let folder = target().join("c/bin");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let name = program.source.replace(['/', '.'], "-");
    let to = folder.join(format!("{name}-{suffix}"));
    let mut command = command(compiler.as_ref() as &Path, &[standard, "-O1", "-g"]);
    command.args(WARNINGS).arg(root().join(PACKAGE).join(source)).arg("-o").arg(&to);
    Ok((command, to))
}

/// Builds a program with the shared library, with the flags of pkg-config.
fn shared(program: &Program, prefix: &Path) -> Result<PathBuf> {
    let mut ask = command("pkg-config", &["--cflags", "--libs", "grammata"]);
    let flags = output(ask.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")))?;
    let (mut compile, to) = compile(program, "shared")?;
    let libraries = prefix.join("lib");
    compile.args(flags.split_whitespace()).arg(format!("-Wl,-rpath,{}", libraries.display()));
    command::run(compile.arg("-pthread"))?;
    Ok(to)
}

/// Builds a program with the static library, the address sanitizer and the undefined behaviour sanitizer.
fn sanitized(program: &Program, prefix: &Path) -> Result<PathBuf> {
    let (mut compile, to) = compile(program, "sanitized")?;
    compile.arg("-fsanitize=address,undefined").arg("-fno-sanitize-recover=all");
    compile.arg("-I").arg(prefix.join("include")).arg(prefix.join("lib/libgrammata.a"));
    command::run(compile.args(["-pthread", "-lm", "-ldl"]))?;
    Ok(to)
}

/// Builds the examples with CMake and runs each once, which shows that they find the libraries.
fn cmake(prefix: &Path) -> Result {
    CMAKE.install()?;
    let build = target().join("c/cmake");
    let mut configure = CMAKE.command(&["-S", "bindings/c/examples", "-B"]);
    configure.arg(&build).arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
    command::run(&mut configure)?;
    command::run(CMAKE.command(&["--build"]).arg(&build))?;
    for name in ["decoder", "decoder_static", "decoder_cpp"] {
        if !succeeds(&mut command(build.join(name), &[TOKENIZER])) {
            return Err(format!("{name}, built by CMake, fails"));
        }
    }
    Ok(())
}

/// Runs a command and returns its standard output. A failing command is an error.
fn output(command: &mut Command) -> Result<String> {
    println!("$ {}", command::show(command));
    let output = command.output().map_err(|e| format!("cannot run {command:?}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    match output.status.success() {
        true => Ok(text),
        false => Err(format!("{command:?} failed:\n{text}{}", String::from_utf8_lossy(&output.stderr))),
    }
}
