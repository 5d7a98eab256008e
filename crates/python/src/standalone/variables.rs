//! Variable names for slots in a standalone test.

use std::collections::BTreeMap;

use testwright_core::PoolId;
use testwright_lang::Harness;

/// A slot, or its reference twin: pool, index, and whether it is the twin.
pub(super) type Slot = (PoolId, u32, bool);

/// The variable of each slot that occurs in a test.
pub(super) struct Variables {
    /// The name of each slot and of its twin.
    names: BTreeMap<Slot, String>,
}

/// The scheme for variable names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// By pool: `stack`, or `stack1` and `stack2`.
    Short,
    /// By slot, as the harness displays it: `stack0`.
    AsInHarness,
}

impl Variables {
    /// Names `slots`, given in order of first mention, such that no name is in `taken`.
    ///
    /// By pool: the only slot of its pool is called like the pool, several are numbered from 1 in
    /// order of mention. A name that already means something, such as `int` or an imported module,
    /// gets a number too.
    pub(super) fn new(
        harness: &Harness,
        slots: &[(PoolId, u32)],
        naming: Naming,
        taken: impl Fn(&str) -> bool,
    ) -> Variables {
        let mut names: BTreeMap<Slot, String> = BTreeMap::new();
        for (number, pool) in harness.pools.iter().enumerate() {
            let pool_id = PoolId(number);
            let own: Vec<u32> = slots
                .iter()
                .filter(|slot| slot.0 == pool_id)
                .map(|slot| slot.1)
                .collect();
            let base = identifier(&pool.name);
            let used = |candidate: &str, names: &BTreeMap<Slot, String>| {
                taken(candidate)
                    || testwright_source::is_keyword(candidate)
                    || names.values().any(|name| name == candidate)
            };
            let joint = if base.ends_with(|last: char| last.is_ascii_digit()) {
                "_"
            } else {
                ""
            };
            let mut counter = u32::from(own.len() > 1);
            let numbered = |counter| match counter {
                0 => base.clone(),
                _ => format!("{base}{joint}{counter}"),
            };
            for slot in &own {
                let shown = harness.catalog.pool(pool_id).slot_name(*slot);
                if naming == Naming::AsInHarness && !used(&shown, &names) {
                    names.insert((pool_id, *slot, true), twin(&shown));
                    names.insert((pool_id, *slot, false), shown);
                    continue;
                }
                while used(&numbered(counter), &names) || used(&twin(&numbered(counter)), &names) {
                    counter += 1;
                }
                let candidate = numbered(counter);
                names.insert((pool_id, *slot, true), twin(&candidate));
                names.insert((pool_id, *slot, false), candidate);
            }
        }
        Variables { names }
    }

    /// Returns the variable of a slot, or `None` as code for a slot that the test does not name.
    pub(super) fn name(&self, pool: PoolId, slot: u32, twin: bool) -> String {
        self.names
            .get(&(pool, slot, twin))
            .cloned()
            .unwrap_or_else(|| String::from("None"))
    }
}

/// Returns the variable of the reference twin.
fn twin(name: &str) -> String {
    format!("{name}_reference")
}

/// Returns the pool's name in lower case, as Python's conventions for variables demand.
fn identifier(pool: &str) -> String {
    let name = pool.to_lowercase();
    if name.starts_with(|first: char| first.is_numeric()) {
        format!("_{name}")
    } else {
        name
    }
}
