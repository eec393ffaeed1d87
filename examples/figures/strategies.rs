//! The decisions on the way to a mask, with the share of each outcome as it was measured.

use super::svg::{Area, BLUE, GREEN, GREY, ORANGE, Svg};
use std::error::Error;

/// A row of `docs/figures/mask-strategies.tsv`.
struct Row<'a> {
    /// The items that are divided among the strategies: masks, or records that a mask needs.
    of: &'a str,
    /// The question that is answered with yes; empty for the remaining items.
    question: &'a str,
    /// The action in this case.
    outcome: &'a str,
    /// The share of the items, in per cent.
    share: &'a str,
}

/// The distance in pixels from one row to the next; [`HEADING`] is the height of a heading.
const ROW: i32 = 42;
const HEADING: i32 = 32;

pub(crate) fn draw(table: &str) -> Result<String, Box<dyn Error>> {
    let mut rows = Vec::new();
    for line in table.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let [of, question, outcome, share] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("four cells are expected in `{line}`").into());
        };
        rows.push(Row { of, question, outcome, share });
    }
    let groups = 1 + rows.windows(2).filter(|two| two[0].of != two[1].of).count() as i32;
    let mut svg = Svg::new(900, 20 + ROW * rows.len() as i32 + HEADING * groups);
    let mut y = 16;
    let mut last = "";
    for (number, row) in rows.iter().enumerate() {
        if row.of != last {
            svg.text(16, y + 20, &format!("*{}", row.of));
            y += HEADING;
            last = row.of;
        }
        let question = Area { x: 16, y, width: 430, height: 28 };
        let is_rest = row.question.is_empty();
        let text = if is_rest { "otherwise" } else { row.question };
        svg.area(question, if is_rest { GREY } else { BLUE }, &[text.to_owned()]);
        let outcome = Area { x: 510, y, width: 300, height: 28 };
        let colour = if row.of.contains("records") { ORANGE } else { GREEN };
        svg.area(outcome, colour, &[row.outcome.to_owned()]);
        svg.text(824, y + 19, &format!("*{} %", row.share));
        svg.arrow(question.right(), outcome.left(), false);
        if rows.get(number + 1).is_some_and(|next| next.of == row.of) {
            svg.arrow((60, y + 28), (60, y + ROW), false);
        }
        y += ROW;
    }
    Ok(svg.finish())
}
