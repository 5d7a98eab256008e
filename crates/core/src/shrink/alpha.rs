//! Alpha conversion: slots numbered in the order of their first definition in a test.
//!
//! Random tests use slots at random. `int2 = 5` before `int0 = 7` is no simpler or harder than the
//! other way round, but two tests that differ only in this look like two bugs, and a reader of
//! `int2` looks for `int0` and `int1`. So slots are exchanged throughout the test, until the first
//! one defined of each pool is number 0, the next number 1, and so on.
//!
//! The renaming works on the choices of the catalog, not on text, so pools called `c1` or `p_int`
//! are no problem. It keeps the meaning of a test if all slots of a pool are alike, which the
//! caller has to confirm by a run.

use std::collections::BTreeMap;

use crate::{ActionId, Catalog, PoolId, SlotRole, Step, Test};

/// Renumbers the slots of a test, pool by pool, in order of first definition. Nothing is run.
pub fn alpha_convert(catalog: &Catalog, test: &Test) -> Test {
    let numbering = SlotNumbering::for_steps(catalog, &test.steps);
    Test {
        steps: numbering.apply(catalog, &test.steps),
        remarks: test.remarks.clone(),
    }
}

/// New numbers for slots: a permutation for each pool.
pub(super) struct SlotNumbering {
    /// By pool: the slots that change, as (old, new), in order. Empty for a pool that stays the
    /// same.
    permutations: Vec<Vec<(u32, u32)>>,
}

impl SlotNumbering {
    /// Computes the numbering that puts the first definitions in `steps` in order.
    pub(super) fn for_steps(catalog: &Catalog, steps: &[Step]) -> SlotNumbering {
        let mut defined: Vec<Vec<u32>> = vec![Vec::new(); catalog.pools().len()];
        for step in steps {
            let Step::Act(action) = step else { continue };
            for (pool, slot, role) in catalog.slots(*action) {
                if role == SlotRole::Definition && !defined[pool.0].contains(&slot) {
                    defined[pool.0].push(slot);
                }
            }
        }
        let permutations = defined.iter().map(|slots| permutation(slots)).collect();
        SlotNumbering { permutations }
    }

    /// Returns true if no slot changes.
    pub(super) fn is_identity(&self) -> bool {
        self.permutations.iter().all(Vec::is_empty)
    }

    /// Splits the numbering into one for each pool that changes.
    pub(super) fn by_pool(&self) -> Vec<SlotNumbering> {
        let count = self.permutations.len();
        let changed = (0..count).filter(|pool| !self.permutations[*pool].is_empty());
        changed
            .map(|pool| {
                let mut permutations = vec![Vec::new(); count];
                permutations[pool] = self.permutations[pool].clone();
                SlotNumbering { permutations }
            })
            .collect()
    }

    /// Applies the numbering to steps.
    pub(super) fn apply(&self, catalog: &Catalog, steps: &[Step]) -> Vec<Step> {
        let act = |action: ActionId| {
            catalog.rename(action, |PoolId(pool), slot| {
                let permutations = &self.permutations[pool];
                match permutations.binary_search_by_key(&slot, |(old, _)| *old) {
                    Ok(index) => permutations[index].1,
                    Err(_) => slot,
                }
            })
        };
        let step = |step: &Step| match step {
            Step::Act(action) => Step::Act(act(*action)),
            Step::Restart => Step::Restart,
        };
        steps.iter().map(step).collect()
    }
}

/// Computes the permutation that turns these slots into 0, 1, 2, … in this order. Each slot is
/// swapped with the one that has its new number.
fn permutation(defined: &[u32]) -> Vec<(u32, u32)> {
    let mut new_of: BTreeMap<u32, u32> = BTreeMap::new();
    let mut old_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (wanted, slot) in (0..).zip(defined) {
        let now = *new_of.get(slot).unwrap_or(slot);
        let displaced = *old_of.get(&wanted).unwrap_or(&wanted);
        new_of.extend([(*slot, wanted), (displaced, now)]);
        old_of.extend([(wanted, *slot), (now, displaced)]);
    }
    new_of.retain(|old, new| old != new);
    new_of.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::toys;

    fn check(pools: &[(&str, u32)], lines: &[&str], test: &[&str], expected: Expect) {
        let catalog = toys::catalog(pools, lines);
        let find = |text: &&str| catalog.find(text)[0];
        let test = alpha_convert(&catalog, &Test::from_actions(test.iter().map(find)));
        let texts: Vec<String> = test
            .steps
            .iter()
            .map(|step| match step {
                Step::Act(action) => catalog.text(*action),
                Step::Restart => "<<RESTART>>".to_owned(),
            })
            .collect();
        expected.assert_eq(&texts.join("; "));
        assert_eq!(alpha_convert(&catalog, &test), test);
    }

    #[test]
    fn slots_are_numbered_in_order_of_definition() {
        let pools = [("int", 4), ("set", 2)];
        let lines = ["<int> := <[1..9]>", "<set> := set()", "<set>.add(<int>)"];
        check(
            &pools,
            &lines,
            &[
                "int3 = 5",
                "set1 = set()",
                "int1 = 7",
                "set1.add(int1)",
                "set1.add(int3)",
            ],
            expect!["int0 = 5; set0 = set(); int1 = 7; set0.add(int1); set0.add(int0)"],
        );
        check(
            &pools,
            &lines,
            &["int1 = 5", "int0 = 7", "int3 = 7", "int0 = 8", "int1 = 9"],
            expect!["int0 = 5; int1 = 7; int2 = 7; int1 = 8; int0 = 9"],
        );
    }

    #[test]
    fn pools_may_have_digits_in_their_names() {
        check(
            &[("c1", 12), ("p_1x", 3)],
            &["<c1> := <p_1x>", "<p_1x> := 1"],
            &[
                "p_1x2 = 1",
                "c1_11 = p_1x2",
                "c1_1 = p_1x2",
                "c1_11 = p_1x2",
            ],
            expect!["p_1x0 = 1; c1_0 = p_1x0; c1_1 = p_1x0; c1_0 = p_1x0"],
        );
    }

    #[test]
    fn slots_that_are_never_defined_give_way_and_are_left_alone_otherwise() {
        let lines = ["<x> := 1", "go(<x>)"];
        check(
            &[("x", 5)],
            &lines,
            &["go(x3)", "go(x1)"],
            expect!["go(x3); go(x1)"],
        );
        check(
            &[("x", 5)],
            &lines,
            &["go(x0)", "x2 = 1", "go(x0)", "go(x2)"],
            expect!["go(x2); x0 = 1; go(x2); go(x0)"],
        );
    }

    #[test]
    fn a_numbering_is_a_permutation() {
        assert_eq!(permutation(&[]), []);
        assert_eq!(permutation(&[0, 1, 2]), []);
        assert_eq!(permutation(&[1, 0]), [(0, 1), (1, 0)]);
        assert_eq!(permutation(&[2, 0]), [(0, 1), (1, 2), (2, 0)]);
        assert_eq!(permutation(&[u32::MAX]), [(0, u32::MAX), (u32::MAX, 0)]);
    }
}
