//! Draws the owners of the engine's data, and the lock that is taken for each.

use super::example::{Example, TEXT};
use super::svg::{Area, BLUE, GREEN, GREY, ORANGE, Svg, grouped};
use grammata::Result;

pub(crate) fn draw(example: &Example) -> Result<String> {
    // one sequence computes the mask after each byte of the text
    let mut matcher = example.compiled.matcher();
    for byte in TEXT.bytes() {
        matcher.mask()?;
        matcher.accept_bytes(&[byte])?;
    }
    matcher.mask()?;
    let made = example.compiled.statistics();
    let mut svg = Svg::new(900, 430);
    let area = |x, y, width, height| Area { x, y, width, height };
    let lines = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();

    let compiler = area(16, 16, 170, 44);
    svg.area(compiler, GREY, &lines(&["*Compiler", "one a model"]));
    let vocabulary = area(260, 32, 270, 76);
    let tokens = grouped(example.vocabulary.width());
    let nodes = grouped(example.vocabulary.trie().node_count());
    svg.area(
        vocabulary,
        BLUE,
        &[
            "*Vocabulary with TokenIndex".to_owned(),
            format!("{tokens} tokens, {nodes} nodes of the trie"),
            "loop languages, class trie, summaries:".to_owned(),
            "made once, then read by all".to_owned(),
        ],
    );
    let shapes = area(600, 16, 284, 76);
    svg.area(
        shapes,
        ORANGE,
        &lines(&[
            "*ShapeCache  (own lock)",
            "records by canonical form of a residual,",
            "shared by all grammars of the compiler,",
            "32 MiB at most",
        ]),
    );
    svg.arrow(compiler.right(), vocabulary.left(), false);
    svg.arrow((compiler.x + 170, 24), (shapes.x, 24), false);

    let compiled = area(16, 150, 170, 60);
    svg.area(compiled, GREY, &lines(&["*CompiledGrammar", "one a grammar, shared", "by any threads (Arc)"]));
    let automaton = area(260, 130, 270, 60);
    svg.area(
        automaton,
        BLUE,
        &[
            "*Grammar, Automaton".to_owned(),
            format!("{} states lowered so far", grouped(made.states)),
            "blocks are only added  (lock to lower)".to_owned(),
        ],
    );
    let cache = area(260, 210, 270, 92);
    svg.area(
        cache,
        ORANGE,
        &[
            "*MaskCache  (one lock, Mutex)".to_owned(),
            "makes what nobody has needed before:".to_owned(),
            format!("{} configurations with sets of stacks,", grouped(made.configurations)),
            "records of residuals, masks; bounded by".to_owned(),
            "Limits::cache_bytes and mask_work".to_owned(),
        ],
    );
    let snapshot = area(600, 210, 284, 92);
    svg.area(
        snapshot,
        GREEN,
        &[
            "*Snapshot  (no lock: ArcSwap)".to_owned(),
            "one generation of tables to read:".to_owned(),
            format!("transitions, {} masks;", grouped(made.masks_computed as usize)),
            "it grows, entries are set once".to_owned(),
        ],
    );
    svg.arrow(compiled.right(), automaton.left(), false);
    svg.arrow(compiled.right(), cache.left(), false);
    svg.arrow(cache.right(), snapshot.left(), false);
    svg.text(536, 250, "publishes");
    svg.arrow((cache.x + 270, 222), (shapes.x + 40, 92), true);
    svg.text(590, 180, "looks up, adds");
    svg.arrow(automaton.top(), vocabulary.bottom(), true);

    let matcher_area = area(16, 340, 170, 60);
    svg.area(
        matcher_area,
        GREY,
        &["*Matcher".to_owned(), "one a sequence".to_owned(), format!("{} steps", grouped(matcher.steps()))],
    );
    let path = area(260, 340, 270, 60);
    svg.area(
        path,
        BLUE,
        &lines(&[
            "*Path",
            "per step: bytes, configuration and its",
            "generation; forks share all but the end",
        ]),
    );
    svg.arrow(matcher_area.right(), path.left(), false);
    svg.arrow(matcher_area.top(), compiled.bottom(), false);
    svg.arrow((path.x + 270, 360), (snapshot.x + 60, 302), true);
    svg.text(610, 350, "1. reads masks and steps without a lock");
    svg.arrow((path.x + 60, 340), (cache.x + 60, 302), true);
    svg.text(330, 326, "2. else has them made");
    svg.text(536, 394, "A full cache is dropped: a new Snapshot, generation + 1.");
    svg.text(536, 410, "Steps of an older generation are run again.");
    Ok(svg.finish())
}
