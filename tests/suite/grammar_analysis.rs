//! Analyses of a grammar: productive, nullable and reachable rules.

use grammata::grammar::analysis::{self, Analysis, Property};
use grammata::grammar::{ExprId, GrammarBuilder, Member, Order};

#[test]
fn members_need_their_required_values_and_a_separator_between_two() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let dead = g.declare("dead");
    let dead_id = g.rule(dead);
    let x = g.text("x");
    let endless = g.sequence([x, dead_id]);
    g.define(dead, endless);
    let member =
        |key: &str, value: ExprId, required: bool| Member { key: key.as_bytes().into(), value, required };
    let comma = g.text(",");
    let optional = g.members(Order::Any, [member("a", x, true), member("b", dead_id, false)], None, comma);
    let needed = g.members(Order::Any, [member("a", x, true), member("b", dead_id, true)], None, comma);
    let one = g.members(Order::Any, [member("a", x, true)], Some(dead_id), dead_id);
    let two = g.members(Order::Any, [member("a", x, true), member("b", x, true)], None, dead_id);
    let none = g.members(Order::Declared, [member("b", dead_id, false)], Some(dead_id), dead_id);
    let body = g.choice([optional, needed, one, two, none]);
    g.define(root, body);
    let grammar = g.build(root).expect("the grammar is right");
    let productive = analysis::productive(&grammar);
    let nullable = Analysis::new(&grammar, Property::Nullable);
    let of = |analysis: &Analysis| {
        [optional, needed, one, two, none, dead_id, endless].map(|id| analysis.holds(id))
    };
    assert_eq!(of(&productive), [true, false, true, false, true, false, false]);
    assert_eq!(of(&nullable), [false, false, false, false, true, false, false]);
}

#[test]
fn a_fixpoint_goes_on_from_what_it_is_told() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let dead = g.declare("dead");
    let dead_id = g.rule(dead);
    g.define(dead, dead_id);
    let x = g.text("x");
    let pair = g.sequence([dead_id, x, dead_id]);
    let twice = g.repeat(pair, 2, Some(2));
    g.define(root, twice);
    let grammar = g.build(root).expect("the grammar is right");
    let mut productive = Analysis::new(&grammar, Property::Productive);
    assert!(productive.holds(x) && !productive.holds(twice));
    productive.set(&grammar, dead_id);
    assert!(productive.holds(twice));
}

#[test]
fn long_chains_are_linear() {
    // rule i refers to rule i + 1, which is the worst order for passes over the rules
    for reversed in [false, true] {
        let mut g = GrammarBuilder::new();
        let count = 500_000;
        let rules: Vec<_> = (0..count).map(|i| g.declare(format!("r{i}"))).collect();
        for (i, &rule) in rules.iter().enumerate() {
            let next = if reversed { i.checked_sub(1) } else { Some(i + 1).filter(|&n| n < count) };
            let body = match next {
                Some(next) => g.rule(rules[next]),
                None => g.empty(),
            };
            g.define(rule, body);
        }
        let root = if reversed { rules[count - 1] } else { rules[0] };
        let grammar = g.build(root).expect("the grammar is right");
        assert!(analysis::productive(&grammar).holds(grammar.rule(root).body));
        assert!(Analysis::new(&grammar, Property::Nullable).holds(grammar.rule(root).body));
        assert!(analysis::reachable(&grammar).iter().all(|&r| r));
    }
}
