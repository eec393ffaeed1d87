//! The terminals that `%import common.NAME` imports, as patterns. Names and meanings are those of the library
//! `common.lark` of the package Lark; `ESCAPED_STRING` does not span lines.

/// Names and patterns, in Rust's dialect.
const COMMON: [(&str, &str); 27] = [
    ("C_COMMENT", "/\\*(?:[^*]|\\*+[^*/])*\\*+/"),
    ("CNAME", "[_A-Za-z][_A-Za-z0-9]*"),
    ("CPP_COMMENT", "//[^\\n]*"),
    ("CR", "\\r"),
    ("DECIMAL", "[0-9]+\\.[0-9]*|\\.[0-9]+"),
    ("DIGIT", "[0-9]"),
    ("ESCAPED_STRING", "\"(?:[^\"\\\\\\n]|\\\\[^\\n])*\""),
    ("FLOAT", "[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?"),
    ("HEXDIGIT", "[a-fA-F0-9]"),
    ("INT", "[0-9]+"),
    ("LCASE_LETTER", "[a-z]"),
    ("LETTER", "[A-Za-z]"),
    ("LF", "\\n"),
    ("NEWLINE", "(?:\\r?\\n)+"),
    ("NUMBER", "[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+"),
    ("SIGNED_FLOAT", "[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"),
    ("SIGNED_INT", "[+-]?[0-9]+"),
    (
        "SIGNED_NUMBER",
        "[+-]?(?:[0-9]+[eE][+-]?[0-9]+|(?:[0-9]+\\.[0-9]*|\\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+)",
    ),
    ("SH_COMMENT", "#[^\\n]*"),
    ("SQL_COMMENT", "--[^\\n]*"),
    ("UCASE_LETTER", "[A-Z]"),
    ("WORD", "[A-Za-z]+"),
    ("WS", "[ \\t\\f\\r\\n]+"),
    ("WS_INLINE", "[ \\t]+"),
    ("_STRING_ESC_INNER", "(?:[^\\\\\\n]|\\\\[^\\n])*"),
    ("_STRING_INNER", "[^\\n]*"),
    ("_EXP", "[eE][+-]?[0-9]+"),
];

/// The pattern of a terminal of the library `common`; `None` if the library has no terminal with this name.
pub(super) fn pattern(name: &str) -> Option<&'static str> {
    COMMON.iter().find(|(known, _)| *known == name).map(|(_, pattern)| *pattern)
}

pub(super) fn names() -> impl Iterator<Item = &'static str> + Clone {
    COMMON.iter().map(|(name, _)| *name)
}
