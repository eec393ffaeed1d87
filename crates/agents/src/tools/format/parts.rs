//! Grammars of the parts of a turn around a tool's name, from which a session assembles turns without compiling all
//! tools.
//!
//! The place of a name is a [`Hole`]. Turns are valid UTF-8, so a byte that UTF-8 never uses marks a hole.

use super::grammar::{Choice, GrammarOptions, Markers, Writer};
use super::{CallFormat, Piece, TextPlace};
use crate::tools::set::Tool;
use grammata::error::Result;
use grammata::grammar::{ByteSet, ExprId, Grammar};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// The byte in the place of a name; UTF-8 never uses it.
pub(in crate::tools) const HOLE: u8 = 0xFF;

/// The expression that replaces the name of a tool in a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Hole {
    /// The byte [`HOLE`].
    Byte,
    /// Any bytes, so that every token that extends into a name is allowed.
    Any,
}

/// The continuations of a turn that are allowed after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::tools) struct After {
    /// Whether the turn may end.
    pub(in crate::tools) end: bool,
    /// Whether a further call may follow.
    pub(in crate::tools) call: bool,
}

impl CallFormat {
    /// Returns whether each call has the name of its tool before its arguments, which are one JSON object, nothing
    /// before the name depends on the tool, text before a call is not searched for names, and no text may be after or
    /// between calls. If so, a session compiles the arguments of a tool only after its name is chosen, and reports
    /// calls while the turn is generated.
    pub fn names_come_first(&self) -> bool {
        let varying = |piece: &&Piece| !piece.is_fixed();
        let pieces: Vec<&Piece> = self.call.iter().filter(varying).collect();
        let has_other_text = self.after || self.between || self.text == TextPlace::Named;
        !has_other_text && matches!(pieces[..], [Piece::Object(_)] | [Piece::Name(_), Piece::Arguments(_)])
    }

    /// Returns an upper bound on the bytes of a turn with one call and no text, not counting the name, the arguments
    /// and optional spaces. The format must write names first ([`names_come_first`](CallFormat::names_come_first)).
    pub(in crate::tools) fn fixed_bytes(&self) -> usize {
        let pieces = self.begin.iter().chain(&self.call).chain(&self.separator).chain(&self.end);
        let bytes = pieces.map(|piece| match piece {
            Piece::Object(names) => {
                names.iter().map(|name| Value::from(name.as_str()).to_string().len()).sum()
            }
            piece => piece.fixed_text().map_or(0, str::len),
        });
        // braces, quotes, colons and the comma of an object
        const MARKS: usize = 8;
        self.lead.len() + bytes.sum::<usize>() + MARKS
    }

    /// Returns whether a turn may have several calls.
    pub(in crate::tools) fn has_several(&self) -> bool {
        self.several
    }

    /// Returns the name of a tool as written in a call.
    ///
    /// # Errors
    /// `tools/not-callable`: the format cannot write the name.
    pub(in crate::tools) fn written_name(&self, tool: &Tool) -> Result<String> {
        self.check_name(tool)?;
        Ok(self.written(&tool.name).into_owned())
    }

    /// Returns a name as written in a call. The format must be able to write the name.
    pub(in crate::tools) fn written<'n>(&self, name: &'n str) -> Cow<'n, str> {
        let is_quoted = self.call.iter().any(|piece| matches!(piece, Piece::Object(_)));
        let is_plain = |byte: u8| byte >= b' ' && byte != b'"' && byte != b'\\';
        if !is_quoted || name.bytes().all(is_plain) {
            return Cow::Borrowed(name);
        }
        let quoted = Value::from(name).to_string();
        Cow::Owned(quoted[1..quoted.len() - 1].to_owned())
    }

    /// Returns the part of a turn before the name of a call, followed by a hole, or a turn without calls.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::tools) fn before_name(&self, options: &GrammarOptions, hole: Hole) -> Result<Grammar> {
        let options = &GrammarOptions { min_calls: 1, ..options.clone() };
        let mut writer = Writer::new(self, options);
        let calls = match options.choice {
            Choice::None => Vec::new(),
            _ => vec![writer.close_with_hole(hole)],
        };
        let turn = writer.turn(&calls, Some(1))?;
        writer.build(turn)
    }

    /// Returns the text between a name and the arguments, followed by a hole.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::tools) fn link(&self, options: &GrammarOptions) -> Result<Grammar> {
        let mut writer = Writer::new(self, options);
        let (link, _) = writer.around_arguments();
        let hole = writer.hole(Hole::Byte);
        let all = writer.builder.sequence([link, hole]);
        writer.build(all)
    }

    /// Returns the text after a name, with the tool's arguments, up to the end of the turn or to the next name.
    ///
    /// # Errors
    /// Limits.
    pub(in crate::tools) fn grammar_after_name(
        &self,
        options: &GrammarOptions,
        arguments: &Grammar,
        after: After,
        hole: Hole,
    ) -> Result<Grammar> {
        let mut writer = Writer::new(self, options);
        let (link, rest) = writer.around_arguments();
        let arguments = writer.builder.import(arguments);
        let mut ways = Vec::new();
        if after.end {
            ways.push(writer.all_fixed(&self.end));
        }
        if after.call {
            let (head, _) = writer.around_call();
            let separator = writer.all_fixed(&self.separator);
            let hole = writer.close_with_hole(hole);
            ways.push(writer.builder.sequence([separator, head, hole]));
        }
        let ways = writer.builder.choice(ways);
        let all = writer.builder.sequence([link, arguments, rest, ways]);
        writer.build(all)
    }
}

// Positions in the bytes of a turn.
impl CallFormat {
    /// Returns a spelling of what precedes the name of a first call, without text before the call; `None` if the
    /// spelling contains special tokens that are matched by id.
    pub(in crate::tools) fn beginning(&self, options: &GrammarOptions) -> Option<Vec<u8>> {
        let mut text = self.lead.clone();
        let head = self.call.iter().take_while(|piece| piece.is_fixed());
        for piece in self.begin.iter().chain(head) {
            if options.markers == Markers::Tokens && matches!(piece, Piece::Token(_)) {
                return None;
            }
            text.push_str(piece.fixed_text().unwrap_or_default());
        }
        if let Some(Piece::Object([name, _])) = self.call.iter().find(|piece| !piece.is_fixed()) {
            text.push_str(&format!("{{{}: \"", Value::from(name.as_str())));
        }
        Some(text.into_bytes())
    }

    /// Returns the text with which calls begin, in formats that write names first.
    fn opening(&self) -> String {
        self.openings().into_iter().next().unwrap_or_default()
    }

    /// Returns whether calls begin with a special token that is matched by its id.
    pub(in crate::tools) fn begins_with_token(&self, options: &GrammarOptions) -> bool {
        let first = self.begin.iter().chain(&self.call).next();
        options.markers == Markers::Tokens && matches!(first, Some(Piece::Token(_)))
    }

    /// Returns the byte range of the free text in a turn so far, without a suffix that may become the marker of a call.
    /// `marker` is the position of a special token that began a call; `by_token` says that only such a token begins
    /// one. Once the turn has ended (`has_ended`), no suffix is held back.
    pub(in crate::tools) fn text_so_far(
        &self,
        turn: &[u8],
        marker: Option<usize>,
        by_token: bool,
        has_ended: bool,
    ) -> Range<usize> {
        let start = self.lead.len().min(turn.len());
        let (text, opening) = (&turn[start..], self.opening().into_bytes());
        let end = match self.text {
            TextPlace::None | TextPlace::Named => start,
            TextPlace::Before if by_token => marker.unwrap_or(turn.len()),
            TextPlace::Before => match memchr::memmem::find(text, &opening) {
                Some(at) => start + at,
                None => {
                    let held = (1..opening.len()).rev().find(|&length| text.ends_with(&opening[..length]));
                    turn.len() - held.filter(|_| !has_ended).unwrap_or(0)
                }
            },
            TextPlace::Opening if text.starts_with(&opening) => start,
            TextPlace::Opening if !has_ended && opening.starts_with(text) => start,
            TextPlace::Opening => turn.len(),
        };
        start..end.max(start)
    }

    /// Returns the byte offset at which the arguments begin in the text after a name, if they have begun.
    pub(in crate::tools) fn arguments_start(&self, rest: &[u8]) -> Option<usize> {
        let mut at = 0;
        for piece in self.link_pieces() {
            match piece {
                Piece::Gap(_) => at += usize::from(rest.get(at) == Some(&b' ')),
                piece => {
                    let text = piece.fixed_text()?.as_bytes();
                    rest.get(at..)?.starts_with(text).then_some(())?;
                    at += text.len();
                }
            }
        }
        (rest.len() > at).then_some(at)
    }

    /// Returns the pieces between a name and the arguments.
    fn link_pieces(&self) -> Vec<Piece> {
        let object = self.call.iter().find_map(|piece| match piece {
            Piece::Object([_, arguments]) => Some(arguments),
            _ => None,
        });
        if let Some(arguments) = object {
            let text = |text: &str| Piece::Text(text.to_owned());
            let quoted = Value::from(arguments.as_str()).to_string();
            let gap = || Piece::Gap(true);
            return vec![text("\""), gap(), text(","), gap(), text(&quoted), gap(), text(":"), gap()];
        }
        let is_name = |piece: &Piece| matches!(piece, Piece::Name(_));
        let after = self.call.iter().skip_while(|piece| !is_name(piece)).skip(1);
        after.take_while(|piece| piece.is_fixed()).cloned().collect()
    }
}

impl Writer<'_> {
    fn hole(&mut self, hole: Hole) -> ExprId {
        match hole {
            Hole::Byte => self.builder.bytes([HOLE]),
            Hole::Any => {
                let any = self.builder.byte_set(ByteSet::FULL);
                self.builder.star(any)
            }
        }
    }

    /// Returns the part of a call between its head and its name, followed by a hole.
    fn close_with_hole(&mut self, hole: Hole) -> ExprId {
        let hole = self.hole(hole);
        let Some(Piece::Object([name, _])) = self.format.call.iter().find(|piece| !piece.is_fixed()) else {
            return hole;
        };
        let gap = self.fixed(&Piece::Gap(true));
        let quoted = Value::from(name.as_str()).to_string();
        let mut parts = Vec::new();
        for token in ["{", &quoted, ":"] {
            parts.extend([self.builder.text(token), gap]);
        }
        parts.extend([self.builder.text("\""), hole]);
        self.builder.sequence(parts)
    }

    /// Returns the parts of a call between its name and its arguments, and after its arguments.
    fn around_arguments(&mut self) -> (ExprId, ExprId) {
        let link = self.all_fixed(&self.format.link_pieces());
        let (_, tail) = self.around_call();
        if !self.format.call.iter().any(|piece| matches!(piece, Piece::Object(_))) {
            // nothing after the arguments depends on the tool
            return (link, tail);
        }
        let gap = self.fixed(&Piece::Gap(true));
        let brace = self.builder.text("}");
        (link, self.builder.sequence([gap, brace, tail]))
    }
}
