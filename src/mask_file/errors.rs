//! Errors of mask files.

use super::about::listed;
use crate::diagnostic::{Diagnostic, Place, excerpt};
use crate::error::{Error, ErrorKind};
use crate::limits::{LimitKind, Limits};
use crate::vocabulary::TokenId;

const COMPILE_AGAIN: &str = "compile the grammar again with `grammata compile`";

fn format(diagnostic: Diagnostic) -> Error {
    Error::new(ErrorKind::Grammar, diagnostic)
}

pub(super) fn no_mask_file(found: usize, is_archive: bool) -> Error {
    let diagnostic = Diagnostic::new("mask-file/no-mask-file", "not a mask file")
        .at(Place::Byte(0))
        .allowed("a file that begins with the bytes 89 47 4D 41 53 4B 0D 0A");
    format(match is_archive {
        true => diagnostic
            .found("an archive of mask files")
            .help("`grammata inspect ARCHIVE --name NAME -o FILE` takes one out of it"),
        false => diagnostic
            .found(format!("{found} bytes that do not begin as one"))
            .help("`grammata compile GRAMMAR --tokenizer FILE -o FILE` writes one"),
    })
}

pub(super) fn no_archive(found: usize, is_mask_file: bool) -> Error {
    let diagnostic = Diagnostic::new("mask-file/no-archive", "not an archive of mask files")
        .at(Place::Byte(0))
        .allowed("a file that begins with the bytes 89 47 4D 41 52 43 0D 0A")
        .help("`grammata compile FOLDER --tokenizer FILE --archive FILE` writes one");
    format(match is_mask_file {
        true => diagnostic.found("a single mask file"),
        false => diagnostic.found(format!("{found} bytes that do not begin as one")),
    })
}

grammata_base::errors! {
    pub(super) Grammar;

    /// `mask-file/name-twice`: a second file with the same name is added to an archive.
    name_twice(name: &str) = Usage "mask-file/name-twice", "an archive has a mask file of this name already"
        found("`{}`", crate::diagnostic::excerpt(name))
        allowed("each name once")
        help("give each grammar a name of its own");

    /// `mask-file/other-version`: the header field at byte `at` is that of another version or byte order.
    other_reader(at: usize, field: &str, found: u32, allowed: u32) =
        "mask-file/other-version", "a mask file with another {field}"
        at(Place::Byte(at)) found(found.to_string()) allowed(allowed.to_string()) help(COMPILE_AGAIN);

    /// `mask-file/damaged-header`: the header contradicts itself or the file at byte `at`; `what` says how.
    damaged_header(at: usize, what: &str) =
        "mask-file/damaged-header", "the header of a mask file is damaged: {what}"
        at(Place::Byte(at)) help(COMPILE_AGAIN);

    damaged_block(at: usize) = "mask-file/damaged", "a block of a mask file does not have its checksum"
        at(Place::Byte(at)) help(COMPILE_AGAIN);

    /// `mask-file/impossible`: `what`, such as a state, a row or a mask, with number `id` has an impossible value.
    impossible(what: &str, id: usize) = "mask-file/impossible", "{what} {id} of a mask file is invalid"
        help(COMPILE_AGAIN);

    /// `mask-file/impossible`: parts of a file overlap, so that reading each of them would take longer than the length
    /// of the file allows.
    overlapping(what: &str, id: usize, most: usize) = "mask-file/impossible", "parts of a mask file overlap"
        found("{what} {id}, up to which there are more than {most} bytes")
        allowed("rows, lists and masks that do not overlap")
        help(COMPILE_AGAIN);

    unreadable_grammar(at: usize) =
        "mask-file/grammar", "the section of the grammar in a mask file cannot be read"
        at(Place::Byte(at)) help(COMPILE_AGAIN);
}

grammata_base::errors! {
    pub(crate) Grammar;

    /// `mask-file/token-index`: a token index is damaged, or belongs to another vocabulary or version.
    other_token_index() = "mask-file/token-index", "a token index that cannot be used"
        found("bytes that are damaged, or of another vocabulary or version")
        allowed("the token index of this vocabulary")
        help("without it the index is computed; `grammata compile --token-index` writes it again");

    /// `mask-file/no-token-index`: the token index of a vocabulary does not fit the format.
    no_token_index() =
        Usage "mask-file/no-token-index", "the token index of this vocabulary cannot be written"
        found("a token of 65,535 bytes or more, or more than 2,147,483,648 tokens")
        help("leave it out: it is computed when it is needed");

    /// `mask-file/disagrees`: a file contradicts its own grammar; `what` says how.
    disagrees(what: &str) = "mask-file/disagrees", "a mask file does not fit its own grammar: {what}"
        help(COMPILE_AGAIN);
}

pub(crate) fn other_vocabulary(found: &[u8; 32], allowed: &[u8; 32]) -> Error {
    let show =
        |fingerprint: &[u8; 32]| fingerprint.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    format(
        Diagnostic::new("mask-file/other-vocabulary", "a mask file for another vocabulary")
            .found(format!("the fingerprint {}", show(found)))
            .allowed(show(allowed))
            .help("give the tokenizer that the grammar was compiled for, or compile it again for this one"),
    )
}

/// `mask-file/other-vocabulary`: a file has the same tokens but other end tokens, another width, or both. Each argument
/// is the width and the end tokens of one side.
pub(super) fn other_end_tokens(found: (usize, &[TokenId]), allowed: (usize, &[TokenId])) -> Error {
    let widths_differ = found.0 != allowed.0;
    let end_tokens_differ = found.1 != allowed.1;
    let show = |(width, end_tokens): (usize, &[TokenId])| {
        let end_tokens = end_tokens_differ.then(|| format!("end tokens {}", excerpt(&listed(end_tokens))));
        let width = widths_differ.then(|| format!("width {width}"));
        end_tokens.into_iter().chain(width).collect::<Vec<_>>().join(", ")
    };
    let what = match (end_tokens_differ, widths_differ) {
        (true, false) => "end tokens",
        (false, _) => "width",
        (true, true) => "end tokens, other width",
    };
    let settings = match (end_tokens_differ, widths_differ) {
        (true, false) => "`LoadOptions::eos`",
        (false, _) => "`LoadOptions::width`",
        (true, true) => "`LoadOptions::eos` and `LoadOptions::width`",
    };
    format(
        Diagnostic::new(
            "mask-file/other-vocabulary",
            format!("a mask file for another vocabulary: same tokens, other {what}"),
        )
        .found(show(found))
        .allowed(show(allowed))
        .help(format!(
            "give the settings of the file ({settings}), or compile it again; `grammata compile --model FOLDER` takes the model's end tokens"
        )),
    )
}

pub(super) fn too_large(kind: LimitKind, bytes: u64, limits: &Limits) -> Error {
    let what = if kind == LimitKind::MaskFileBytes { "a mask file" } else { "an archive" };
    Limits::exceeded(kind, limits.get(kind), format!("{what} of {bytes} bytes"))
}
