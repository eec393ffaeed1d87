//! Models' folders.

use grammata::Limits;
use grammata::decode::ModelFolder;

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
    assert_eq!(
        (error.code(), error.diagnostic().found_text()),
        ("decode/settings", Some("eos_token_id: [1,-1]"))
    );
    write("config.json", "[]");
    assert_eq!(open().unwrap_err().code(), "decode/settings");
}
