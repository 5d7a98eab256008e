//! The test vectors of the language description: the actions that the original made of each line.
//!
//! Each action is written as `statement | conditions | effects`, in the notation of that table:
//! `u(x0)` is the used flag.

use std::collections::BTreeMap;

use testwright_core::{ActionId, Axis, PoolId, SlotRole};
use testwright_lang::harness::{ActionTemplate, CodePart, Fragment, Harness};
use testwright_lang::{Severity, parse};

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let (harness, diagnostics) = parse(source);
    let errors: Vec<_> = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == Severity::Error)
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    let shown: Vec<String> = (0..harness.catalog.len())
        .map(|id| show(&harness, ActionId(id)))
        .collect();
    assert_eq!(shown, expected);
}

fn show(harness: &Harness, id: ActionId) -> String {
    let (template, values) = harness.catalog.values(id);
    let action = &harness.actions[template.0];
    let statement = render(harness, action, &values, &action.statement);
    let mut conditions = conditions(harness, action, &values);
    conditions.extend(
        action
            .guard
            .as_ref()
            .map(|guard| render(harness, action, &values, guard)),
    );
    let mut shown = format!(
        "{statement} | {} | {}",
        conditions.join(" and "),
        effects(harness, action, &values).join(", ")
    );
    if let Some(post) = &action.post {
        shown += &format!(" | {}", render(harness, action, &values, post));
    }
    shown
}

fn render(
    harness: &Harness,
    action: &ActionTemplate,
    values: &[u64],
    fragment: &Fragment,
) -> String {
    fragment.render(|part| match part {
        CodePart::Slot {
            axis, in_string, ..
        } => {
            let (pool, _) = slot(action, *axis);
            let name = &harness.pool(pool).name;
            if *in_string {
                format!("self.p_{name}[{}]", values[*axis])
            } else {
                format!("{name}[{}]", values[*axis])
            }
        }
        CodePart::Choice { axis, .. } => match &action.axes[*axis] {
            Axis::Choice(choice) => choice.text(values[*axis]).into_owned(),
            other => panic!("{other:?} is no choice"),
        },
        CodePart::Pre(index) => format!("pre{index}"),
        CodePart::Text(text) => text.clone(),
    })
}

fn slot(action: &ActionTemplate, axis: usize) -> (PoolId, SlotRole) {
    match &action.axes[axis] {
        Axis::Slot { pool, role } => (*pool, *role),
        other => panic!("{other:?} is no slot"),
    }
}

/// Renders the conditions on slots, pool by pool, uses before definitions.
fn conditions(harness: &Harness, action: &ActionTemplate, values: &[u64]) -> Vec<String> {
    let mut by_pool: BTreeMap<PoolId, (Vec<String>, Vec<String>)> = BTreeMap::new();
    for (axis, value) in action.axes.iter().zip(values) {
        let Axis::Slot { pool, role } = axis else {
            continue;
        };
        let name = format!("{}{value}", harness.pool(*pool).name);
        let (uses, definitions) = by_pool.entry(*pool).or_default();
        let (list, term) = match role {
            SlotRole::Use | SlotRole::SilentUse => (uses, format!("{name} ≠ None")),
            SlotRole::Definition => (definitions, format!("(u({name}) or {name} None)")),
            SlotRole::Mention => continue,
        };
        if !list.contains(&term) {
            list.push(term);
        }
    }
    by_pool
        .into_values()
        .flat_map(|(uses, definitions)| [uses, definitions].concat())
        .collect()
}

/// Renders the effects on slots. A use marks its slot unless the first use of it in the line is
/// silent; a definition makes it fresh.
fn effects(harness: &Harness, action: &ActionTemplate, values: &[u64]) -> Vec<String> {
    let mut first: BTreeMap<String, SlotRole> = BTreeMap::new();
    let mut effects = Vec::new();
    for definitions in [false, true] {
        for (axis, value) in action.axes.iter().zip(values) {
            let Axis::Slot { pool, role } = axis else {
                continue;
            };
            let name = format!("{}{value}", harness.pool(*pool).name);
            let effect = match (definitions, role) {
                (false, SlotRole::Use | SlotRole::SilentUse) => {
                    match first.entry(name.clone()).or_insert(*role) {
                        SlotRole::Use => format!("{name} used"),
                        _ => continue,
                    }
                }
                (true, SlotRole::Definition) => {
                    effects.retain(|effect| *effect != format!("{name} used"));
                    format!("{name} fresh")
                }
                _ => continue,
            };
            if !effects.contains(&effect) {
                effects.push(effect);
            }
        }
    }
    effects
}

#[test]
fn definition_with_a_range() {
    check(
        "pool: <int> 2\n<int> := <[1..2]>\n",
        &[
            "int[0] = 1 | (u(int0) or int0 None) | int0 fresh",
            "int[0] = 2 | (u(int0) or int0 None) | int0 fresh",
            "int[1] = 1 | (u(int1) or int1 None) | int1 fresh",
            "int[1] = 2 | (u(int1) or int1 None) | int1 fresh",
        ],
    );
}

#[test]
fn silent_use() {
    check(
        "pool: <int> 2\npool: <s> 1\n~<s>.add(<int>)\n",
        &[
            "s[0].add(int[0]) | int0 ≠ None and s0 ≠ None | int0 used",
            "s[0].add(int[1]) | int1 ≠ None and s0 ≠ None | int1 used",
        ],
    );
}

#[test]
fn definition_from_the_same_pool() {
    check(
        "pool: <int> 2\n<int> := <int> + <int>\n",
        &[
            "int[0] = int[0] + int[0] | int0 ≠ None and (u(int0) or int0 None) | int0 fresh",
            "int[0] = int[0] + int[1] | int0 ≠ None and int1 ≠ None and (u(int0) or int0 None) | int1 used, int0 fresh",
            "int[0] = int[1] + int[0] | int1 ≠ None and int0 ≠ None and (u(int0) or int0 None) | int1 used, int0 fresh",
            "int[0] = int[1] + int[1] | int1 ≠ None and (u(int0) or int0 None) | int1 used, int0 fresh",
            "int[1] = int[0] + int[0] | int0 ≠ None and (u(int1) or int1 None) | int0 used, int1 fresh",
            "int[1] = int[0] + int[1] | int0 ≠ None and int1 ≠ None and (u(int1) or int1 None) | int0 used, int1 fresh",
            "int[1] = int[1] + int[0] | int1 ≠ None and int0 ≠ None and (u(int1) or int1 None) | int0 used, int1 fresh",
            "int[1] = int[1] + int[1] | int1 ≠ None and (u(int1) or int1 None) | int1 fresh",
        ],
    );
}

const X_AND_Y: &str = "pool: <x> 1\npool: <y> 1\n";

#[test]
fn guard_before_a_definition_counts_as_definition() {
    check(
        &format!("{X_AND_Y}len(<x>) > 3 -> <y> := 2\n"),
        &[
            "y[0] = 2 | (u(x0) or x0 None) and (u(y0) or y0 None) and len(x[0]) > 3 | x0 fresh, y0 fresh",
        ],
    );
}

#[test]
fn guard_with_back_reference() {
    check(
        &format!("{X_AND_Y}len(<x,1>) > 3 -> <y> := f(<x>)\n"),
        &[
            "y[0] = f(x[0]) | x0 ≠ None and (u(y0) or y0 None) and len(x[0]) > 3 | x0 used, y0 fresh",
        ],
    );
}

#[test]
fn guard_before_an_assignment() {
    check(
        &format!("{X_AND_Y}len(<x>) > 3 -> <y> = 2\n"),
        &["y[0] = 2 | x0 ≠ None and y0 ≠ None and len(x[0]) > 3 | x0 used, y0 used"],
    );
}

#[test]
fn the_first_use_decides_about_silence() {
    check(
        "pool: <x> 1\nf(~<x>, <x>)\n",
        &["f(x[0], x[0]) | x0 ≠ None | "],
    );
    check(
        "pool: <x> 1\nf(<x>, ~<x>)\n",
        &["f(x[0], x[0]) | x0 ≠ None | x0 used"],
    );
}

#[test]
fn definition_and_back_reference() {
    check(
        "pool: <x> 2\npool: <y> 1\n<x> := 1; <y>.append(<x,1>)\n",
        &[
            "x[0] = 1; y[0].append(x[0]) | (u(x0) or x0 None) and y0 ≠ None | y0 used, x0 fresh",
            "x[1] = 1; y[0].append(x[1]) | (u(x1) or x1 None) and y0 ≠ None | y0 used, x1 fresh",
        ],
    );
}

#[test]
fn placeholder_in_a_string() {
    check(
        "pool: <x> 2\nprint(\"<x>\")\n",
        &[
            "print(\"self.p_x[0]\") | x0 ≠ None | x0 used",
            "print(\"self.p_x[1]\") | x1 ≠ None | x1 used",
        ],
    );
}

#[test]
fn choices_with_double_commas_vary_slowest() {
    check(
        "f(<,[1,2,,3],>, <[7..8]>)\n",
        &[
            "f(1,2, 7) |  | ",
            "f(1,2, 8) |  | ",
            "f(3, 7) |  | ",
            "f(3, 8) |  | ",
        ],
    );
    check(
        "pool: <x> 2\nf(<x><,[,a=1,,],>)\n",
        &[
            "f(x[0],a=1) | x0 ≠ None | x0 used",
            "f(x[1],a=1) | x1 ≠ None | x1 used",
            "f(x[0]) | x0 ≠ None | x0 used",
            "f(x[1]) | x1 ≠ None | x1 used",
        ],
    );
}

#[test]
fn back_reference_to_the_last() {
    check(
        "pool: <x> 2\nf(<x>, <x,0>, <x>)\n",
        &[
            "f(x[0], x[0], x[0]) | x0 ≠ None | x0 used",
            "f(x[0], x[1], x[1]) | x0 ≠ None and x1 ≠ None | x0 used, x1 used",
            "f(x[1], x[0], x[0]) | x1 ≠ None and x0 ≠ None | x1 used, x0 used",
            "f(x[1], x[1], x[1]) | x1 ≠ None | x1 used",
        ],
    );
}

#[test]
fn placeholders_in_the_post_condition_multiply() {
    check(
        "pool: <x> 2\n<x>.f() => <x> == 1\n",
        &[
            "x[0].f() | x0 ≠ None | x0 used | x[0] == 1",
            "x[0].f() | x0 ≠ None and x1 ≠ None | x0 used, x1 used | x[1] == 1",
            "x[1].f() | x1 ≠ None and x0 ≠ None | x1 used, x0 used | x[0] == 1",
            "x[1].f() | x1 ≠ None | x1 used | x[1] == 1",
        ],
    );
}

#[test]
fn only_the_first_two_pieces_count() {
    check(
        "pool: <x> 1\n<x>.a() -> <x,1>.b() => <x,1>.c() -> <x,1>.d()\n",
        &["x[0].b() | x0 ≠ None and x[0].a() | x0 used | x[0].c()"],
    );
}

#[test]
fn repeated_lines() {
    let source = "pool: <x> 1\n*3 <x> := 1\n<x,1> is None -> <x> := 1\n";
    let line = "x[0] = 1 | (u(x0) or x0 None) | x0 fresh";
    let guarded = "x[0] = 1 | (u(x0) or x0 None) and x[0] is None | x0 fresh";
    check(source, &[line, line, line, guarded]);
    let (harness, _) = parse(source);
    assert_eq!(harness.actions[0].class, "*3 <x> := 1");
}

#[test]
fn a_choice_of_one_is_kept() {
    check(
        "pool: <x> 1\n<x> := <[5]>\n",
        &["x[0] = 5 | (u(x0) or x0 None) | x0 fresh"],
    );
}

/// Checks the data that a backend gets for comparisons with a reference.
#[test]
fn references_and_comparisons() {
    let source = "pool: <c> 1 REF\npool: <int> 1\nreference: C ==> set\nreference: find ==> __contains__\n\
                  reference: METHOD(get) ==> CALL(sorted)\ncompare: find\ncompare: get\n<c>.find(<int>)\nv = <c>.get(); print(v)\n";
    check(
        source,
        &[
            "c[0].find(int[0]) | c0 ≠ None and int0 ≠ None | c0 used, int0 used",
            "v = c[0].get(); print(v) | c0 ≠ None | c0 used",
        ],
    );
    let (harness, _) = parse(source);
    let references: Vec<(&str, &str)> = harness
        .references
        .iter()
        .map(|reference| (reference.pattern.as_str(), reference.replacement.as_str()))
        .collect();
    let expected = [
        ("C", "set"),
        ("find", "__contains__"),
        (r"(\S+)\.get\(\)", r"sorted(\1)"),
    ];
    assert_eq!(references, expected);
    assert!(harness.pools[0].reference);
    assert_eq!(harness.compares[1].text, "get");
}
