use super::slots::SlotHistory;
use super::*;
use crate::{SlotComparison, toys};

/// Returns an identity with a culprit, from names separated by blanks.
fn blamed(shape: &str, lines: &str, evidence: &str) -> BugIdentity {
    let set = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    BugIdentity {
        kind: FailureKind::ReferenceMismatch,
        signature: "line 1".to_owned(),
        step: "get()".to_owned(),
        culprit: Some(Culprit {
            shape: shape.to_owned(),
            lines: set(lines),
            evidence: set(evidence),
            ..Culprit::default()
        }),
    }
}

#[test]
fn bugs_differ_by_step_by_way_and_by_consequences() {
    let bug = blamed("put()", "1 2 3", "get size");
    assert!(bug.is_same_bug(&blamed("put()", "1 2", "size")));
    assert!(!bug.is_same_bug(&blamed("add()", "1 2 3", "size")));
    assert!(!bug.is_same_bug(&blamed("put()", "1 2 4", "size")));
    assert!(!bug.is_same_bug(&blamed("put()", "1 2 3", "top")));
    let unknown = BugIdentity {
        culprit: None,
        ..bug.clone()
    };
    assert!(!bug.is_same_bug(&unknown));
    assert!(unknown.is_same_bug(&unknown.clone()));
}

#[test]
fn the_slots_that_differ_tell_bugs_apart() {
    let spoiling = |parts: &str, evidence: &str| {
        let mut bug = blamed("put()", "1", evidence);
        let culprit = bug.culprit.as_mut().expect("there is a culprit");
        culprit.spoiled = parts.split_whitespace().map(str::to_owned).collect();
        bug
    };
    let bug = spoiling("b.items", "get");
    assert!(bug.is_same_bug(&spoiling("b.items b.size", "size")));
    assert!(!bug.is_same_bug(&spoiling("b.size", "get")));
    assert!(bug.is_same_bug(&spoiling("", "get")));
}

#[test]
fn a_difference_begins_where_a_slot_was_right_before() {
    let catalog = toys::catalog(&[("b", 2)], &["<b> := f()", "g(<b>)"]);
    let test = ["b0 = f()", "g(b0)", "g(b0)", "g(b0)"].map(|text| catalog.find(text)[0]);
    let test = Test::from_actions(test);
    let slot = (PoolId(0), 0);
    let begin = |differs: [Option<bool>; 3], is_comparable: bool| {
        let compared = |differs: &Option<bool>| {
            let comparison = differs.map(|differs| SlotComparison {
                pool: slot.0,
                slot: slot.1,
                differences: vec!["x".to_owned(); usize::from(differs)],
                is_comparable,
            });
            comparison.into_iter().map(|one| (slot, one)).collect()
        };
        let history = SlotHistory {
            slots: differs.iter().map(compared).collect(),
            states: Vec::new(),
        };
        history.begin_of_difference(&catalog, &test, slot, 3)
    };
    let (right, wrong) = (Some(false), Some(true));
    assert_eq!(begin([right, right, right], true), None);
    assert_eq!(begin([right, wrong, wrong], true), Some(1));
    // What differed for some time only is not to blame.
    assert_eq!(begin([wrong, right, wrong], true), Some(2));
    assert_eq!(begin([wrong, wrong, wrong], true), Some(0));
    // Values of different make prove nothing, unless they have been equal.
    assert_eq!(begin([wrong, wrong, wrong], false), None);
    assert_eq!(begin([right, wrong, wrong], false), Some(1));
    assert_eq!(begin([None, wrong, wrong], false), None);
}

#[test]
fn groups_do_not_depend_on_the_order() {
    let narrow = blamed("put()", "1", "get");
    let wide = blamed("put()", "1 2", "get size");
    let far = blamed("put()", "1 2 3", "size");
    let other = blamed("add()", "1", "get");
    let cases = [narrow.clone(), other.clone(), far.clone(), wide.clone()];
    assert_eq!(group_bugs(&cases), [vec![0, 2, 3], vec![1]]);
    assert_eq!(
        group_bugs(&[wide, far, other, narrow]),
        [vec![0, 1, 3], vec![2]]
    );
}

#[test]
fn shapes_keep_the_pattern_of_slots_only() {
    let catalog = toys::catalog(&[("b", 3)], &["<b>.merge(<b>)", "<b>.add(<[1..9]>)"]);
    let shape_of = |text: &str| shape(&catalog, catalog.find(text)[0], &[]);
    assert_eq!(shape_of("b2.merge(b2)"), "b0.merge(b0)");
    assert_eq!(shape_of("b2.merge(b0)"), "b0.merge(b1)");
    assert_eq!(shape_of("b1.add(7)"), shape_of("b2.add(3)"));
    let of_constants = |text: &str| shape(&catalog, catalog.find(text)[0], &[PoolId(0)]);
    assert_eq!(of_constants("b2.merge(b0)"), of_constants("b1.merge(b1)"));
}
