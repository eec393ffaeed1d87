//! Folders of models: missing files, the context length, limits of size, and links.

use grammata::Limits;
use grammata_decode::ModelFolder;

#[test]
fn what_is_missing_is_named() {
    let limits = Limits::default();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let open = || ModelFolder::open(folder.path(), &limits);
    let error = open().unwrap_err();
    assert_eq!(error.code(), "decode/model-folder");
    assert!(error.to_string().contains("holds no `model.onnx`"), "{error}");
    std::fs::create_dir(folder.path().join("onnx")).unwrap();
    write("onnx/model.onnx", "");
    assert!(open().unwrap_err().to_string().contains("holds no `tokenizer.json`"));
    write("tokenizer.json", "{}");
    let found = open().unwrap();
    assert!(found.model.ends_with("onnx/model.onnx") && found.template.is_none());
    assert_eq!((found.end_tokens, found.context_length), (vec![], None));
    write("model.onnx", "");
    write("config.json", r#"{"eos_token_id": 7, "max_position_embeddings": 99, "bos_token_id": 1}"#);
    write("generation_config.json", r#"{"eos_token_id": [9, 7]}"#);
    let found = open().unwrap();
    assert_eq!(found.model, folder.path().join("model.onnx"));
    assert_eq!((found.end_tokens, found.context_length), (vec![7, 9], Some(99)));
    write("tokenizer_config.json", r#"{"eos_token": {"content": "<e>"}}"#);
    assert_eq!(open().unwrap().end_token.as_deref(), Some("<e>"));
    write("config.json", r#"{"eos_token_id": [1, -1]}"#);
    let error = open().unwrap_err();
    assert_eq!((error.code(), error.diagnostic().found_text()), ("decode/settings", Some("[1,-1]")));
    write("config.json", "[]");
    assert_eq!(open().unwrap_err().code(), "decode/settings");
}

#[test]
fn the_context_is_read_from_where_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("model.onnx", "");
    write("tokenizer.json", "{}");
    for (config, expected) in [
        (r#"{"max_position_embeddings": 8192}"#, Ok(Some(8192))),
        (r#"{"n_positions": 1024}"#, Ok(Some(1024))),
        (r#"{"text_config": {"max_position_embeddings": 32}}"#, Ok(Some(32))),
        (r#"{"max_position_embeddings": null, "text_config": {"n_positions": 5}}"#, Ok(Some(5))),
        (r#"{"text_config": 7}"#, Ok(None)),
        (r#"{"max_position_embeddings": 0}"#, Err("#/max_position_embeddings")),
        (r#"{"max_position_embeddings": "many"}"#, Err("found: \"many\"")),
        (r#"{"text_config": {"n_positions": -1}}"#, Err("#/text_config/n_positions")),
        ("{\n \"a\": }", Err("config.json:2:7")),
    ] {
        write("config.json", config);
        match (ModelFolder::open(folder.path(), &Limits::default()), expected) {
            (Ok(found), Ok(length)) => assert_eq!(found.context_length, length, "{config}"),
            (Err(error), Err(text)) => {
                assert_eq!(error.code(), "decode/settings");
                assert!(error.to_string().contains(text), "{error}");
            }
            (found, expected) => panic!("{config}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn no_more_than_the_limit_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        std::fs::write(folder.path().join(name), "{}").unwrap();
    }
    // a sparse file takes no space on the disk
    let file = std::fs::File::create(folder.path().join("chat_template.jinja")).unwrap();
    file.set_len(1 << 34).unwrap();
    let error = ModelFolder::open(folder.path(), &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    assert!(error.to_string().contains("chat_template.jinja"), "{error}");
    std::fs::write(folder.path().join("chat_template.jinja"), b"a\xff").unwrap();
    let error = ModelFolder::open(folder.path(), &Limits::default()).unwrap_err();
    assert!(error.to_string().contains("not UTF-8") && error.to_string().contains("byte 1"), "{error}");
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    fn model(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        std::fs::write(folder.join("model.onnx"), "").unwrap();
        std::fs::write(folder.join("tokenizer.json"), "{}").unwrap();
    }

    #[test]
    fn only_regular_files_within_the_folder_are_opened() {
        const NAMES: [&str; 7] = [
            "model.onnx",
            "tokenizer.json",
            "config.json",
            "generation_config.json",
            "tokenizer_config.json",
            "chat_template.jinja",
            "chat_template.json",
        ];
        let outside = tempfile::tempdir().unwrap();
        let secret = outside.path().join("secret");
        std::fs::write(&secret, "secret").unwrap();
        for name in NAMES {
            for (kind, code) in [
                ("zero", "io/outside-folder"),
                ("secret", "io/outside-folder"),
                ("parent", "io/outside-folder"),
                ("nothing", "io/file"),
                ("itself", "io/file"),
                ("folder", "io/no-file"),
                ("pipe", "io/no-file"),
            ] {
                let folder = tempfile::tempdir().unwrap();
                model(folder.path());
                let path = folder.path().join(name);
                let _ = std::fs::remove_file(&path);
                match kind {
                    "zero" => symlink("/dev/zero", &path).unwrap(),
                    "secret" => symlink(&secret, &path).unwrap(),
                    "parent" => symlink("..", &path).unwrap(),
                    "nothing" => symlink("not/there", &path).unwrap(),
                    "itself" => symlink(name, &path).unwrap(),
                    "folder" => std::fs::create_dir(&path).unwrap(),
                    _ => {
                        let made = std::process::Command::new("mkfifo").arg(&path).status();
                        assert!(made.unwrap().success());
                    }
                }
                let error = ModelFolder::open(folder.path(), &Limits::default()).unwrap_err();
                assert_eq!(error.code(), code, "{name}, {kind}: {error}");
                assert!(error.to_string().contains(name), "{error}");
            }
        }
    }

    #[test]
    fn links_within_the_folder_and_within_a_hub_cache_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        model(folder.path());
        std::fs::write(folder.path().join("template"), "hello").unwrap();
        symlink("template", folder.path().join("chat_template.jinja")).unwrap();
        let open = |path: &Path| ModelFolder::open(path, &Limits::default());
        assert_eq!(open(folder.path()).unwrap().template.unwrap().source(), "hello");

        let cache = tempfile::tempdir().unwrap();
        let repository = cache.path().join("models--a--b");
        let snapshot = repository.join("snapshots").join("0123abcd");
        std::fs::create_dir_all(snapshot.join("onnx")).unwrap();
        std::fs::create_dir_all(repository.join("blobs")).unwrap();
        for (blob, text) in [("b1", ""), ("b2", "{}"), ("b3", "from a blob")] {
            std::fs::write(repository.join("blobs").join(blob), text).unwrap();
        }
        symlink("../../../blobs/b1", snapshot.join("onnx/model.onnx")).unwrap();
        symlink("../../blobs/b2", snapshot.join("tokenizer.json")).unwrap();
        symlink("../../blobs/b3", snapshot.join("chat_template.jinja")).unwrap();
        let found = open(&snapshot).unwrap();
        assert_eq!(found.template.unwrap().source(), "from a blob");
        assert_eq!(
            found.model,
            snapshot.join("onnx/model.onnx"),
            "files with further weights are found beside it"
        );
        // a link that leads out of the repository in the cache
        std::fs::write(cache.path().join("other"), "no").unwrap();
        std::fs::remove_file(snapshot.join("chat_template.jinja")).unwrap();
        symlink("../../../other", snapshot.join("chat_template.jinja")).unwrap();
        assert_eq!(open(&snapshot).unwrap_err().code(), "io/outside-folder");
        // a folder that only has the names of a cache folder is not one
        let plain = cache.path().join("x").join("snapshots").join("y");
        model(&plain);
        std::fs::write(cache.path().join("x").join("outer"), "no").unwrap();
        symlink("../../outer", plain.join("chat_template.jinja")).unwrap();
        assert_eq!(open(&plain).unwrap_err().code(), "io/outside-folder");
    }
}
