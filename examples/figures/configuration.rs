//! Draws a configuration with its items and stack sets, before and after a step.

use super::example::{BYTE, Example, TEXT};
use super::svg::{Area, BLUE, GREEN, GREY, LINE, Svg};
use grammata::Result;
use grammata::automaton::anatomy::{Anatomy, FrameView, RegisterView};
use grammata::automaton::{Cache, Lazy, Scope};
use grammata::grammar::{ByteSet, Grammar};

const WIDTH: i32 = 900;
const ITEM: i32 = 226;
const STACK: i32 = 220;
const GAP: i32 = 40;

pub(crate) fn draw(example: &Example) -> Result<String> {
    let mut cache = Cache::new();
    let mut lazy = Lazy::new(example.compiled.automaton(), &mut cache);
    let mut at = lazy.start()?;
    for byte in TEXT.bytes() {
        at = lazy.step(at, byte)?;
    }
    let next = lazy.step(at, BYTE)?;
    let after = format!("{TEXT}{}", char::from(BYTE));
    let mut svg = Svg::new(WIDTH, 0);
    let bottom = panel(&mut svg, 16, &format!("after  {TEXT}"), &lazy.anatomy(at), &example.grammar);
    svg.arrow((30, bottom + 6), (30, bottom + 40), false);
    svg.text(44, bottom + 28, &format!("step on {}", char::from(BYTE)));
    svg.height =
        6 + panel(&mut svg, bottom + 48, &format!("after  {after}"), &lazy.anatomy(next), &example.grammar);
    Ok(svg.finish())
}

/// Draws a configuration from `top` on. Returns the vertical position at which the drawing ends.
fn panel(svg: &mut Svg, top: i32, title: &str, anatomy: &Anatomy, grammar: &Grammar) -> i32 {
    svg.text(16, top + 12, &format!("`{title}"));
    // the empty stack is the last set; each other set is drawn to the left of the sets below it
    let mut columns = vec![0; anatomy.stacks.len()];
    for (place, set) in anatomy.stacks.iter().enumerate().rev() {
        columns[place] = set.frames.iter().map(|frame| columns[frame.below] + 1).max().unwrap_or(0);
    }
    let most = columns.iter().copied().max().unwrap_or(0);
    // items with short stacks come last, so that their arrows pass below the sets of the others
    let mut order: Vec<_> = anatomy.items.iter().collect();
    order.sort_by_key(|item| std::cmp::Reverse(columns[item.stack]));
    let (mut y, mut items) = (top + 24, Vec::new());
    for item in order {
        let area = Area { x: 16, y, width: ITEM, height: 2 * LINE + 10 };
        let state = format!("*state {}", item.state);
        let reads = format!("reads {} in {}", bytes(&item.reads), label(&item.scope, grammar));
        svg.area(area, BLUE, &[state, reads]);
        items.push((area, item.stack));
        y += area.height + 10;
    }
    let first_item = |set: usize| items.iter().position(|item| item.1 == set).unwrap_or(items.len());
    let mut sets: Vec<usize> = (0..anatomy.stacks.len()).collect();
    sets.sort_by_key(|&set| (first_item(set), set));
    let mut ends = vec![top + 24; most + 1];
    let mut areas = vec![Area { x: 0, y: 0, width: 0, height: 0 }; anatomy.stacks.len()];
    for place in sets {
        let (set, column) = (&anatomy.stacks[place], columns[place]);
        let x = 16 + ITEM + GAP + (most - column) as i32 * (STACK + GAP);
        let height = (set.frames.len().max(1) as i32) * (2 * LINE + 4) + 6;
        // at the height of the first item with this set, unless the column is taken there
        let beside = items.iter().filter(|item| item.1 == place).map(|item| item.0.y).min();
        let y = ends[column].max(beside.unwrap_or_default());
        let area = Area { x, y, width: if column == 0 { 90 } else { STACK }, height };
        let lines: Vec<String> = match set.frames.is_empty() {
            true => vec!["empty stack".to_owned()],
            false => set.frames.iter().flat_map(|frame| frame_lines(frame, grammar)).collect(),
        };
        svg.area(area, if column == 0 { GREY } else { GREEN }, &lines);
        ends[column] = y + height + 10;
        areas[place] = area;
    }
    for (area, stack) in items {
        svg.arrow(area.right(), areas[stack].left(), false);
    }
    for (area, set) in areas.iter().zip(&anatomy.stacks) {
        for (row, frame) in set.frames.iter().enumerate() {
            let from = (area.x + area.width, area.y + 20 + row as i32 * 2 * LINE);
            svg.arrow(from, areas[frame.below].left(), false);
        }
    }
    ends.into_iter().chain([y]).max().unwrap_or(y)
}

fn frame_lines(frame: &FrameView, grammar: &Grammar) -> [String; 2] {
    let register = match &frame.register {
        RegisterView::None => "no register".to_owned(),
        RegisterView::Rounds(spans) => {
            let span = |&(low, high): &(u32, Option<u32>)| match high {
                Some(high) => format!("{low} to {high}"),
                None => format!("{low} or more"),
            };
            format!("rounds left: {}", spans.iter().map(span).collect::<Vec<_>>().join(", "))
        }
        RegisterView::NextMember(member) => format!("next member: number {} or later", member + 1),
        RegisterView::SeenMembers(members) => format!("members seen: {members:?}"),
        RegisterView::Other(value) => format!("register {value}"),
    };
    [format!("*return to {} in {}", frame.to_return, label(&frame.scope, grammar)), register]
}

fn label(scope: &Scope, grammar: &Grammar) -> String {
    let label = scope.label.map(|label| grammar.label(label).to_owned());
    label.unwrap_or_else(|| grammar.rule(scope.rule).name.to_string())
}

/// Returns the bytes that a state reads: a single byte itself, otherwise their number.
fn bytes(set: &ByteSet) -> String {
    match set.ranges().collect::<Vec<_>>()[..] {
        [(low, high)] if low == high => char::from(low).to_string(),
        _ => format!("{} bytes", set.len()),
    }
}
