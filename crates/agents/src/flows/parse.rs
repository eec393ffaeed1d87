//! Parses the calls and thoughts of a plan that a model wrote.

use super::text::Thoughts;

/// A call as written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenCall {
    /// The trimmed thought; empty in plans without thoughts, and possibly in others.
    pub thought: String,
    /// The name before the brackets.
    pub name: String,
    /// Pairs of an input and the maker that the call names for it.
    pub arguments: Vec<(String, String)>,
    /// The answer of the API as far as it is written; `None` without `=` after the call.
    pub outcome: Option<String>,
}

/// The content of the brackets of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brackets {
    /// Nothing.
    Empty,
    /// `input=Maker` for each input, separated by `, `; or nothing.
    Makers,
}

/// A plan parsed from a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedPlan {
    /// The calls up to the end of the plan, or up to the first text that cannot be parsed.
    pub calls: Vec<WrittenCall>,
    /// The byte offset after the last call and its answer, or with [`Thoughts::After`] after its thought; 0 without
    /// calls.
    pub length: usize,
    /// Whether the plan is finished, or the whole text consists of calls or is empty.
    pub is_parsable: bool,
    /// Whether the last call is that of the API that ends plans.
    pub is_finished: bool,
    /// Whether the plan is not finished and no more calls can be parsed, whatever follows the text.
    pub is_broken: bool,
}

/// Parses the text that a model wrote after the prelude, up to the first call of `end`. Calls have the form that
/// [`grammar`](super::grammar) describes, with any names and with thoughts of any length that contain no line feed and
/// no square bracket.
pub fn parse(text: &str, end: &str, thoughts: Thoughts) -> ParsedPlan {
    parse_with(text, end, thoughts, Brackets::Empty)
}

/// Like [`parse`], for plans whose calls name makers ([`FlowOptions::arguments`](super::FlowOptions::arguments)).
pub fn parse_with(text: &str, end: &str, thoughts: Thoughts, brackets: Brackets) -> ParsedPlan {
    let mut plan =
        ParsedPlan { calls: Vec::new(), length: 0, is_parsable: false, is_finished: false, is_broken: false };
    let mut rest = text;
    loop {
        let parsed = before_call(rest, thoughts).and_then(|(thought, rest)| {
            let (call, after) = call(rest, brackets)?;
            let (reason, after) = behind_call(after, thoughts)?;
            Some((if thought.is_empty() { reason } else { thought }, call, after))
        });
        let Some((thought, call, after)) = parsed else { break };
        plan.length = text.len() - after.len();
        let is_end = call.name == end;
        plan.calls.push(WrittenCall { thought: thought.trim().to_owned(), ..call });
        if is_end {
            plan.is_finished = true;
            break;
        }
        match after.strip_prefix(separator(thoughts)) {
            Some(after) => rest = after,
            None => break,
        }
    }
    let left = text.get(plan.length..).unwrap_or_default();
    plan.is_broken = !plan.is_finished && !can_go_on(left, !plan.calls.is_empty(), thoughts, brackets);
    plan.is_parsable = plan.is_finished || plan.length == text.len();
    plan
}

/// Returns the decided calls of a text, each with the byte offset after its brackets. A call is decided once its
/// brackets are closed, whether or not its answer and the thought after it are complete.
pub fn decided_calls(text: &str, thoughts: Thoughts, brackets: Brackets) -> Vec<(WrittenCall, usize)> {
    let (mut found, mut rest) = (Vec::new(), text);
    while let Some((thought, at)) = before_call(rest, thoughts) {
        let Some((call, after)) = bare_call(at, brackets) else { break };
        let length = text.len() - after.len();
        found.push((WrittenCall { thought: thought.trim().to_owned(), ..call.clone() }, length));
        let (_, after) = answered(call, after);
        let behind = behind_call(after, thoughts);
        match behind.and_then(|(_, after)| after.strip_prefix(separator(thoughts))) {
            Some(after) => rest = after,
            None => break,
        }
    }
    found
}

fn separator(thoughts: Thoughts) -> &'static str {
    match thoughts {
        Thoughts::None => ", ",
        Thoughts::Free | Thoughts::Stated => "\n[thought]",
        Thoughts::After => "\n[API]",
        Thoughts::Guided => "\n",
    }
}

/// Returns whether the text after the last call can be the beginning of the next call.
fn can_go_on(left: &str, has_calls: bool, thoughts: Thoughts, brackets: Brackets) -> bool {
    let separator = if has_calls { separator(thoughts) } else { "" };
    if separator.starts_with(left) {
        return true;
    }
    let Some(rest) = left.strip_prefix(separator) else { return false };
    match thoughts {
        Thoughts::None => begins_call(rest.trim_start_matches(' '), brackets),
        Thoughts::Free | Thoughts::Stated => begins_thought(rest, brackets),
        Thoughts::Guided => match rest.strip_prefix("[now] ").map(|rest| rest.split_once('\n')) {
            None => "[now] ".starts_with(rest),
            Some(None) => true,
            Some(Some((_, rest))) => match rest.strip_prefix("[thought]") {
                None => "[thought]".starts_with(rest),
                Some(rest) => begins_thought(rest, brackets),
            },
        },
        Thoughts::After => {
            let rest = rest.strip_prefix(' ').unwrap_or(rest);
            match call(rest, brackets) {
                None => begins_call(rest, brackets),
                Some((_, rest)) => " [thought] ".starts_with(rest),
            }
        }
    }
}

fn begins_call(text: &str, brackets: Brackets) -> bool {
    let (name, inside) = text.split_once('(').unwrap_or((text, ""));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let has_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part);
    let is_inside = match brackets {
        Brackets::Empty => inside.is_empty(),
        Brackets::Makers => {
            inside.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '=' | ',' | ' '))
        }
    };
    text.is_empty() || has_name && name.len() <= 64 && is_inside
}

fn begins_thought(text: &str, brackets: Brackets) -> bool {
    let Some(bracket) = text.find(['\n', '[', ']']) else { return true };
    let rest = text.get(bracket..).unwrap_or_default();
    rest.strip_prefix("[API] ").map_or("[API] ".starts_with(rest), |rest| begins_call(rest, brackets))
}

/// Returns the call at the start of a text, with its answer as far as it is written, and the text after both.
fn call(text: &str, brackets: Brackets) -> Option<(WrittenCall, &str)> {
    bare_call(text, brackets).map(|(call, after)| answered(call, after))
}

/// Returns the call `Name()` at the start of a text, possibly with makers, and the text after the call.
fn bare_call(text: &str, brackets: Brackets) -> Option<(WrittenCall, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let length = text.find(|c| !is_part(c))?;
    let (name, rest) = text.split_at_checked(length)?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.len() <= 64;
    let rest = rest.strip_prefix('(').filter(|_| is_name)?;
    let call = WrittenCall { name: name.to_owned(), ..WrittenCall::default() };
    if let Some(after) = rest.strip_prefix(')') {
        return Some((call, after));
    }
    let (inside, after) = rest.split_once(')').filter(|_| brackets == Brackets::Makers)?;
    let argument = |part: &str| {
        let (input, maker) = part.split_once('=')?;
        // inputs have the names that the domain gives its data
        let is_both = !input.is_empty() && !maker.is_empty() && maker.chars().all(is_part);
        is_both.then(|| (input.to_owned(), maker.to_owned()))
    };
    let arguments = inside.split(", ").map(argument).collect::<Option<Vec<_>>>()?;
    Some((WrittenCall { arguments, ..call }, after))
}

/// Adds the answer at the start of a text to a call, as far as it is written, and returns the call with the text after
/// the answer.
fn answered(call: WrittenCall, after: &str) -> (WrittenCall, &str) {
    let Some(answer) = after.strip_prefix('=') else { return (call, after) };
    let length = answer.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(answer.len());
    let (answer, after) = answer.split_at(length);
    (WrittenCall { outcome: Some(answer.to_owned()), ..call }, after)
}

/// Returns the thought before a call, and the text from the call on; `None` if the text does not lead to a call.
fn before_call(text: &str, thoughts: Thoughts) -> Option<(&str, &str)> {
    let rest = match thoughts {
        Thoughts::None => return Some(("", text.trim_start_matches(' '))),
        Thoughts::After => return Some(("", text.strip_prefix(' ').unwrap_or(text))),
        Thoughts::Free | Thoughts::Stated => text,
        Thoughts::Guided => text.strip_prefix("[now] ")?.split_once('\n')?.1.strip_prefix("[thought]")?,
    };
    let (thought, rest) = rest.split_at_checked(rest.find(['\n', '[', ']'])?)?;
    Some((thought, rest.strip_prefix("[API] ")?))
}

/// Returns the thought after a call, and the text after the thought. Except with [`Thoughts::After`], the thought is
/// empty.
fn behind_call(text: &str, thoughts: Thoughts) -> Option<(&str, &str)> {
    match thoughts {
        Thoughts::After => {
            let rest = text.strip_prefix(" [thought] ")?;
            Some(rest.split_at(rest.find(['\n', '[', ']']).unwrap_or(rest.len())))
        }
        _ => Some(("", text)),
    }
}
