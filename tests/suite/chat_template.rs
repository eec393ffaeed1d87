//! Chat templates as Hugging Face's tokenizers have them.

use grammata::Limits;
use grammata::decode::{ChatTemplate, Message};
use std::time::{Duration, SystemTime};

/// SmolLM2-135M-Instruct's own (Apache-2.0).
const SMOLLM2: &str = "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// Written for this test in the manner of Llama 3: headers, a date, trimmed contents, roles that must alternate, tools.
const HEADERS: &str = r#"{{- bos_token }}
{%- if tools is not defined %}
    {%- set tools = none %}
{%- endif %}
{%- set ns = namespace(last='') %}
{%- for message in messages %}
    {%- if message.role == ns.last %}
        {{- raise_exception('two ' + message.role + ' messages in a row') }}
    {%- endif %}
    {%- set ns.last = message.role %}
    {{- '<|start_header_id|>' + message.role + '<|end_header_id|>\n\n' }}
    {%- if message.role == 'system' %}
        {{- 'Today: ' + strftime_now('%d %b %Y') + '\n' }}
        {%- if tools %}
            {{- tools | tojson }}
            {{- '\n' }}
        {%- endif %}
    {%- endif %}
    {{- message.content.strip() + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"#;

fn template(source: &str) -> ChatTemplate {
    ChatTemplate::new(source, &Limits::default()).expect("a template")
}

#[test]
fn smollm2() {
    let messages = [Message::user("Hi"), Message::assistant("Hello <b>"), Message::user("Bye")];
    assert_eq!(
        template(SMOLLM2).render(&messages, true).unwrap(),
        "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n\
         <|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nHello <b><|im_end|>\n<|im_start|>user\nBye<|im_end|>\n\
         <|im_start|>assistant\n"
    );
    let messages = [Message::system("Be brief."), Message::user("Hi")];
    assert_eq!(
        template(SMOLLM2).render(&messages, false).unwrap(),
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
    );
}

#[test]
fn headers_with_a_date_and_tools() {
    // 29 February 2024, 12:00
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_709_208_000);
    let tools = serde_json::json!([{ "name": "get_weather", "strict": true, "zeta": 1, "alpha": [1.5, null, "é<&'"] }]);
    let template = template(HEADERS)
        .with_tokens("<|begin_of_text|>", "<|eot_id|>")
        .with_time(time)
        .with_variable("tools", tools);
    let messages = [Message::system("  Help. \n"), Message::user("\tHi")];
    assert_eq!(
        template.render(&messages, true).unwrap(),
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nToday: 29 Feb 2024\n\
         [{\"name\": \"get_weather\", \"strict\": true, \"zeta\": 1, \"alpha\": [1.5, null, \"é<&'\"]}]\n\
         Help.<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>\
         <|start_header_id|>assistant<|end_header_id|>\n\n"
    );
}

#[test]
fn a_template_can_refuse_messages() {
    let messages = [Message::user("Hi"), Message::user("Ho")];
    let error = template(HEADERS).render(&messages, true).unwrap_err();
    assert_eq!(
        error.to_string(),
        "error[decode/chat-template] the chat template cannot be used\n  at: line 8, column 13\n  \
         8 |         {{- raise_exception('two ' + message.role + ' messages in a row'…\n    \
         |             ^^^^^^^^^^^^^^^\n  \
         cause: invalid operation: two user messages in a row\n  \
         allowed: a Jinja template as in tokenizer_config.json, over messages, add_generation_prompt and tools\n  \
         help: check the messages (roles, their order), or pass another template"
    );
}

#[test]
fn dates() {
    let at = |days: u64, format: &str| {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + 3_723);
        let source = format!("{{{{ strftime_now({format:?}) }}}}");
        template(&source).with_time(time).render(&[], false).unwrap()
    };
    assert_eq!(at(0, "%A %Y-%m-%d %H:%M:%S"), "Thursday 1970-01-01 01:02:03");
    assert_eq!(at(11_016, "%a %d %B %Y"), "Tue 29 February 2000");
    assert_eq!(at(20_454, "%d %b %Y%%"), "01 Jan 2026%");
    assert_eq!(at(47_540, "%Y-%m-%d"), "2100-02-28");
    assert_eq!(at(47_541, "%Y-%m-%d"), "2100-03-01", "2100 is no leap year");
    let error = template("{{ strftime_now('%q') }}").render(&[], false).unwrap_err();
    assert_eq!(error.diagnostic().cause_text(), Some("invalid operation: strftime_now does not know `%q`"));
}

#[test]
fn python_methods_and_blocks() {
    let source = "{% if messages[0].content.startswith('A') %}\n  yes {{ messages[0]['content'].split(' ')[-1].upper() }}\n{% endif %}\n{% for m in messages %}{% if loop.last %}{% break %}{% endif %}x{% endfor %}";
    let messages = [Message::user("A b c"), Message::user("d")];
    assert_eq!(template(source).render(&messages, false).unwrap(), "  yes C\nx");
    assert_eq!(
        template("{{ x | tojson(indent=2) }}")
            .with_variable("x", serde_json::json!({"a": [1]}))
            .render(&[], false)
            .unwrap(),
        "{\n  \"a\": [\n    1\n  ]\n}"
    );
}

#[test]
fn faults_name_their_line() {
    let error = ChatTemplate::new("fine\n{% for x in %}", &Limits::default()).unwrap_err();
    assert_eq!(error.code(), "decode/chat-template");
    assert!(error.to_string().contains("at: line 2, column "), "{error}");
    let error = template("a\nb\n{{ messages.nothing.more }}").render(&[], false).unwrap_err();
    assert!(error.to_string().contains("at: line 3, column "), "{error}");
}

#[test]
fn endless_templates_are_stopped() {
    let nested =
        "{% for a in range(9999) %}{% for b in range(9999) %}{% set c = 1 %}{% endfor %}{% endfor %}";
    let error = template(nested).render(&[], false).unwrap_err();
    assert!(error.to_string().contains("fuel"), "{error}");
    let limits = Limits { source_bytes: 1000, ..Limits::default() };
    let long = ChatTemplate::new("{% for a in range(9999) %}x{% endfor %}", &limits).unwrap();
    let error = long.render(&[], false).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    let error = ChatTemplate::new("x".repeat(1001), &limits).unwrap_err();
    assert_eq!(error.code(), "limit/exceeded");
    let deep = "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}";
    assert_eq!(template(deep).render(&[], false).unwrap_err().code(), "decode/chat-template");
}

#[test]
fn templates_come_from_a_models_folder() {
    let limits = Limits::default();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    assert!(ChatTemplate::from_folder(folder.path(), &limits).unwrap().is_none());
    write("config.json", r#"{"chat_template": "config {{ bos_token }}", "bos_token": "<s>"}"#);
    let render =
        || ChatTemplate::from_folder(folder.path(), &limits).unwrap().unwrap().render(&[], false).unwrap();
    assert_eq!(render(), "config <s>");
    write(
        "tokenizer_config.json",
        r#"{"chat_template": [{"name": "tool_use", "template": "no"}, {"name": "default", "template": "named {{ bos_token }}{{ eos_token }}"}],
            "bos_token": {"content": "<b>", "lstrip": false}, "eos_token": "<e>"}"#,
    );
    assert_eq!(render(), "named <b><e>");
    write("chat_template.jinja", "file {{ eos_token }}");
    assert_eq!(render(), "file <e>");
    write("tokenizer_config.json", "[1]");
    assert_eq!(ChatTemplate::from_folder(folder.path(), &limits).unwrap_err().code(), "decode/settings");
    write("tokenizer_config.json", "{");
    assert_eq!(ChatTemplate::from_folder(folder.path(), &limits).unwrap_err().code(), "decode/settings");
}
