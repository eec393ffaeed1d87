//! Productive, nullable, reachable.

use grammata::grammar::{ExprId, GrammarBuilder, Member, Order, analysis};

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
    let nullable = analysis::nullable(&grammar);
    let of =
        |values: &[bool]| [optional, needed, one, two, none, dead_id, endless].map(|id| values[id.index()]);
    assert_eq!(of(&productive), [true, false, true, false, true, false, false]);
    assert_eq!(of(&nullable), [false, false, false, false, true, false, false]);
}

#[test]
fn complements_are_nullable_when_their_operand_is_not() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let later = g.declare("later");
    let later_id = g.rule(later);
    // the operand is a rule whose body is another complement, which stands after this one in the table
    let not_later = g.complement(later_id);
    let not_not = g.complement(not_later);
    let x = g.text("x");
    let not_x = g.complement(x);
    g.define(later, not_x);
    let both = g.intersection([not_not, not_x]);
    g.define(root, both);
    let grammar = g.build(root).expect("the grammar is right");
    let nullable = analysis::nullable(&grammar);
    let values = [x, not_x, later_id, not_later, not_not, both].map(|id| nullable[id.index()]);
    assert_eq!(values, [false, true, true, false, true, true]);
    assert!(analysis::productive(&grammar)[both.index()]);
}

#[test]
fn a_complement_of_itself_ends() {
    let mut g = GrammarBuilder::new();
    let root = g.declare("root");
    let root_id = g.rule(root);
    let not = g.complement(root_id);
    g.define(root, not);
    let grammar = g.build(root).expect("the grammar is right");
    assert_eq!(analysis::nullable(&grammar).len(), grammar.expressions().len());
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
    let mut productive = analysis::Fixpoint::productive(&grammar);
    assert!(productive.holds(x) && !productive.holds(twice));
    productive.set(dead_id);
    assert!(productive.holds(twice));
}

#[test]
fn long_chains_are_linear() {
    // rule i is rule i + 1: for a pass over the rules in order the worst order there is
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
        assert!(analysis::productive(&grammar)[grammar.rule(root).body.index()]);
        assert!(analysis::nullable(&grammar)[grammar.rule(root).body.index()]);
        assert!(analysis::reachable(&grammar).iter().all(|&r| r));
    }
}
