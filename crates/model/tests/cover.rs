//! Covering suites of products, through the public API.

use expect_test::{Expect, expect};
use testwright_core::product::{ModelState, Product};
use testwright_core::toys::ToyMachine;
use testwright_model::{
    CoverGoal, CoverPlan, CoveringSuite, Fsm, FsmEdge, GraphLimits, ProductGraph, RunSuite,
    compute_suite, count_pairs, explore,
};

/// Explores a product. Returns its graph, and the text of each transition's action.
fn explored(mut product: Product<'_>) -> (ProductGraph, Vec<String>) {
    let graph = explore(&mut product, &GraphLimits::default(), &mut |_| true).graph;
    let interner = product.interner();
    let names = graph.transitions.iter().map(|transition| {
        let label = graph.labels[transition.label as usize];
        let arguments = interner.value_text(label.arguments).plain();
        format!("{}{arguments}", interner.name_text(label.name)).replace("()", "")
    });
    let names = names.collect();
    (graph, names)
}

fn text(names: &[String], suite: &CoveringSuite) -> String {
    let mut text = format!(
        "{} of {}, cost {}\n",
        suite.covered, suite.total, suite.cost
    );
    for run in &suite.runs {
        let steps: Vec<&str> = run
            .iter()
            .map(|step| names[*step as usize].as_str())
            .collect();
        text += &format!("{}\n", steps.join(" "));
    }
    for lost in &suite.unreachable {
        text += &format!("{:?}: {:?}\n", lost.target, lost.reason);
    }
    text
}

/// Builds a door that can be opened and closed, and locked with either of two keys.
fn door() -> (ProductGraph, Vec<String>) {
    let mut interner = ToyMachine::interner();
    let lines = [
        "closed open opened",
        "opened close closed",
        "closed lock(1) locked",
        "closed lock(2) locked",
        "locked unlock closed",
    ];
    let door = ToyMachine::program(&mut interner, "door", &lines);
    explored(Product::new(interner, vec![Box::new(door)]))
}

fn check(goal: CoverGoal, expected: Expect) {
    let (graph, names) = door();
    let suite = compute_suite(&graph, &CoverPlan::new(goal));
    expected.assert_eq(&text(&names, &suite));
}

#[test]
fn every_goal_has_its_suite() {
    check(
        CoverGoal::Actions,
        expect![[r#"
        4 of 4, cost 5
        open close lock(1) unlock
    "#]],
    );
    check(
        CoverGoal::Labels,
        expect![[r#"
        5 of 5, cost 6
        open close lock(1) unlock lock(2)
    "#]],
    );
    check(
        CoverGoal::States,
        expect![[r#"
        3 of 3, cost 4
        open
        lock(1)
    "#]],
    );
    check(
        CoverGoal::Transitions,
        expect![[r#"
        5 of 5, cost 6
        open close lock(1) unlock lock(2)
    "#]],
    );
    check(
        CoverGoal::Pairs,
        expect![[r#"
        9 of 9, cost 14
        open close open close lock(1) unlock open close lock(2) unlock lock(1) unlock lock(2)
    "#]],
    );
    check(
        CoverGoal::Shortest,
        expect![[r#"
        3 of 3, cost 4
        open
        lock(1)
    "#]],
    );
    check(
        CoverGoal::Random { runs: 2, steps: 5 },
        expect![[r#"
        5 of 5, cost 12
        lock(2) unlock lock(2) unlock lock(1)
        open close lock(2) unlock lock(1)
    "#]],
    );
}

#[test]
fn runs_are_cut_where_they_may_end() {
    let (graph, names) = door();
    let plan = CoverPlan {
        max_steps: Some(4),
        ..CoverPlan::new(CoverGoal::Pairs)
    };
    expect![[r#"
        9 of 9, cost 26
        open close open
        open close lock(1) unlock
        lock(1) unlock open
        open close lock(2) unlock
        lock(1) unlock lock(1)
        lock(1) unlock lock(2)
    "#]]
    .assert_eq(&text(&names, &compute_suite(&graph, &plan)));
}

#[test]
fn a_product_with_a_suite_begins_at_each_of_its_runs() {
    let mut interner = ToyMachine::interner();
    let lines = ["off on lit", "lit off off", "lit dim dark", "dark off off"];
    let lamp = ToyMachine::program(&mut interner, "lamp", &lines);
    // The labels of the lamp, in its own order.
    let mut alone = Product::new(interner.clone(), vec![Box::new(lamp.clone())]);
    let labels = explore(&mut alone, &GraphLimits::default(), &mut |_| true)
        .graph
        .labels;
    let runs = vec![
        vec![labels[0], labels[1]],
        vec![labels[0], labels[2], labels[1]],
    ];
    let suite = RunSuite::new("suite", runs);
    let product = Product::new(interner, vec![Box::new(lamp), Box::new(suite)]);
    let (graph, names) = explored(product);
    assert_eq!(graph.starts.len(), 2);
    let suite = compute_suite(&graph, &CoverPlan::new(CoverGoal::Transitions));
    expect![[r#"
        5 of 5, cost 7
        on off
        on dim off
    "#]]
    .assert_eq(&text(&names, &suite));
}

#[test]
fn states_without_an_end_are_named() {
    let mut interner = ToyMachine::interner();
    let lines = ["a go b", "b back a", "b fall c"];
    let machine = ToyMachine::program(&mut interner, "machine", &lines);
    let mut product = Product::new(interner.clone(), vec![Box::new(machine)]);
    let labels = explore(&mut product, &GraphLimits::default(), &mut |_| true)
        .graph
        .labels;
    let edge = |from: u32, label: usize, to: u32| FsmEdge {
        from: ModelState(from),
        label: labels[label],
        to: ModelState(to),
    };
    let states = ["a", "b", "c"].map(String::from).to_vec();
    let edges = vec![edge(0, 0, 1), edge(1, 1, 0), edge(1, 2, 2)];
    let fsm = Fsm::new(
        "fsm",
        states,
        ModelState(0),
        vec![true, false, false],
        edges,
    );
    let (graph, names) = explored(Product::new(interner, vec![Box::new(fsm)]));
    let suite = compute_suite(&graph, &CoverPlan::new(CoverGoal::Transitions));
    expect![[r#"
        2 of 3, cost 3
        go back
        Transition(2): NoEnd
    "#]]
    .assert_eq(&text(&names, &suite));
}

#[test]
fn pairs_are_counted_before_they_are_covered() {
    let (graph, _) = door();
    let all = || graph.transitions.iter();
    let followed = all().flat_map(|one| all().filter(move |next| one.to == next.from));
    assert_eq!(count_pairs(&graph), followed.count() as u64);
    assert_eq!(
        count_pairs(&graph),
        compute_suite(&graph, &CoverPlan::new(CoverGoal::Pairs)).total as u64
    );
}
