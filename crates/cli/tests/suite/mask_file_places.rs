//! Writing mask files: full disks, killed writers, concurrent writers, and folders that cannot be written to. At any
//! time a name has either the old file or the new one, and the file is complete.
#![cfg(unix)]

use grammata::mask_file::MaskArchive;
use grammata::{Limits, MaskFile};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder with two grammars, and a folder for their mask files that has an old file and an old archive.
struct Place {
    _folder: tempfile::TempDir,
    grammars: PathBuf,
    made: PathBuf,
}

const NAMES: [&str; 2] = ["old.gmask", "old.gmasks"];

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let (grammars, made) = (folder.path().join("grammars"), folder.path().join("made"));
        for folder in [&grammars, &made] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::write(grammars.join("a.regex"), "(ab|c){1,3}\n").unwrap();
        std::fs::write(grammars.join("b.json"), r#"{"type": "array", "items": {"type": "string"}}"#).unwrap();
        let place = Place { _folder: folder, grammars, made };
        for name in NAMES {
            let output = place.write(name, "3", "");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        place
    }

    /// Returns the arguments of a command that rewrites one of the files with at most `states` states.
    fn arguments(&self, name: &str, states: &str) -> Vec<String> {
        let to = self.made.join(name).display().to_string();
        let (grammar, option) = match name.ends_with('s') {
            true => (self.grammars.clone(), "--archive"),
            false => (self.grammars.join("b.json"), "-o"),
        };
        ["compile", &grammar.display().to_string(), option, &to, "--states", states].map(str::to_owned).into()
    }

    /// Rewrites one of the files, in a shell that runs `before` first.
    fn write(&self, name: &str, states: &str, before: &str) -> Output {
        self.shell(name, states, before).output().unwrap()
    }

    fn shell(&self, name: &str, states: &str, before: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{before}exec \"$@\"")).arg("sh").arg(env!("CARGO_BIN_EXE_grammata"));
        command.args(self.arguments(name, states)).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.made.join(name)).unwrap()
    }

    /// Returns the names in the folder, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.made).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Returns whether a mask file or an archive is complete and undamaged.
fn is_whole(path: &Path) -> bool {
    let limits = Limits::default();
    match path.extension().is_some_and(|extension| extension == "gmasks") {
        true => MaskArchive::open(path, &limits).and_then(|archive| archive.check()).is_ok(),
        false => MaskFile::open(path, &limits).and_then(|file| file.check()).is_ok(),
    }
}

/// The shell limits the size of a file to 512 or 1,024 bytes. Writing more fails, as on a full disk.
#[test]
fn where_there_is_no_space_left_the_old_file_stays() {
    let place = Place::new();
    for name in NAMES {
        let before = place.read(name);
        let output = place.write(name, "60", "trap '' XFSZ; ulimit -f 1; ");
        assert_eq!(output.status.code(), Some(2), "{name}");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.starts_with("error[io/file]") && error.contains(name), "{error}");
        assert!(place.read(name) == before);
        assert_eq!(place.names(), NAMES, "nothing is left beside it");
    }
}

/// The shell limits the size of a file. Without a handler, exceeding the limit kills the process in the middle of
/// writing.
#[test]
fn who_is_killed_while_writing_leaves_the_old_file() {
    let place = Place::new();
    for name in NAMES {
        let before = place.read(name);
        let output = place.write(name, "60", "ulimit -f 1; ");
        assert_eq!(output.status.code(), None, "{name}: ended by a signal");
        assert!(place.read(name) == before && is_whole(&place.made.join(name)));
        let others: Vec<String> =
            place.names().into_iter().filter(|name| !NAMES.contains(&name.as_str())).collect();
        let [part] = &others[..] else { panic!("one part: {others:?}") };
        assert!(part.starts_with(&format!(".{name}.")) && part.ends_with(".part"), "{part}");
        assert!(!is_whole(&place.made.join(part)));
        // the unfinished part does not hinder the next writer
        assert!(place.write(name, "60", "").status.success());
        assert!(place.read(name) != before && is_whole(&place.made.join(name)));
        std::fs::remove_file(place.made.join(part)).unwrap();
    }
}

/// Several processes write the same file concurrently. At any time the name has one complete file.
#[test]
fn of_processes_that_write_at_once_one_wins() {
    let place = Place::new();
    for name in NAMES {
        let whole: Vec<Vec<u8>> = ["20", "40"]
            .map(|states| {
                assert!(place.write(name, states, "").status.success());
                place.read(name)
            })
            .into();
        let children: Vec<_> =
            ["20", "40", "20", "40"].map(|states| place.shell(name, states, "").spawn().unwrap()).into();
        for mut child in children {
            while child.try_wait().unwrap().is_none() {
                assert!(whole.contains(&place.read(name)));
            }
            assert!(child.wait().unwrap().success());
        }
        assert!(whole.contains(&place.read(name)));
        assert_eq!(place.names(), NAMES);
    }
}

#[test]
fn what_cannot_be_written_to_is_said() {
    let place = Place::new();
    let refused = |name: &str, code: &str| {
        let output = place.write(name, "3", "");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.starts_with(&format!("error[{code}]")), "{error}");
    };
    for extension in ["gmask", "gmasks"] {
        // the name of a folder, a name below a file, and a name in a missing folder
        let folder = format!("folder.{extension}");
        std::fs::create_dir(place.made.join(&folder)).unwrap();
        refused(&folder, "io/no-file");
        refused(&format!("old.gmask/x.{extension}"), "io/file");
        refused(&format!("none/x.{extension}"), "io/file");
        std::fs::remove_dir(place.made.join(folder)).unwrap();
    }
    // permissions do not stop some users, such as root; then this part is skipped
    std::fs::set_permissions(&place.made, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(place.made.join("probe"), b"").is_err() {
        for name in NAMES {
            let before = place.read(name);
            refused(name, "io/file");
            assert!(place.read(name) == before);
        }
        assert_eq!(place.names(), NAMES);
    }
    std::fs::set_permissions(&place.made, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A file that is not an archive is refused with that reason, and no command waits for a pipe.
#[test]
fn what_is_no_archive_is_refused() {
    let place = Place::new();
    let limits = Limits::default();
    let code = |path: &Path| MaskArchive::open(path, &limits).unwrap_err().code();
    assert_eq!(code(&place.made), "io/no-file");
    assert_eq!(code(&place.made.join("none.gmasks")), "io/file");
    let path = |name: &str| place.made.join(name);
    std::fs::write(path("empty.gmasks"), b"").unwrap();
    assert_eq!(code(&path("empty.gmasks")), "mask-file/no-archive");
    std::fs::write(path("half.gmasks"), &place.read("old.gmasks")[..70]).unwrap();
    assert_eq!(code(&path("half.gmasks")), "mask-file/damaged-header");
    assert!(Command::new("mkfifo").arg(path("pipe.gmasks")).status().unwrap().success());
    assert_eq!(code(&path("pipe.gmasks")), "io/no-file");
    #[allow(unsafe_code)] // safe, because nobody changes the file while it is mapped
    let mapped = unsafe { MaskArchive::map(path("empty.gmasks"), &limits) };
    assert_eq!(mapped.unwrap_err().code(), "mask-file/no-archive");
}
