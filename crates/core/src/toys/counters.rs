//! Counters and integers in pools.

use super::{catalog, fingerprint};
use crate::{
    ActionId, Catalog, Equivalence, Error, Failure, FailureKind, Fingerprint, Outcome, SlotRole,
    Snapshot, System,
};

/// Counters and the integers to add to them, in pools as a harness has them: a slot must be filled before it is
/// used, and used before it is filled again. The property says that no counter is above a limit.
#[derive(Clone, Debug)]
pub struct Counters {
    actions: Catalog,
    limit: u64,
    /// By pool, then by slot.
    slots: [Vec<CounterSlot>; 2],
}

/// A slot of a pool: its value, and whether the value was used.
#[derive(Clone, Debug, Default)]
struct CounterSlot {
    value: Option<u64>,
    used: bool,
}

impl Counters {
    /// Creates counters that must not exceed this limit.
    pub fn new(limit: u64) -> Counters {
        let pools = [("int", 3), ("counter", 2)];
        let lines = [
            "<int> := <[1..5]>",
            "<counter> := Counter()",
            "<counter>.add(<int>)",
            "<counter>.read()",
        ];
        Counters {
            actions: catalog(&pools, &lines),
            limit,
            slots: pools.map(|(_, size)| vec![CounterSlot::default(); size as usize]),
        }
    }
}

impl System for Counters {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        for pool in &mut self.slots {
            pool.fill(CounterSlot::default());
        }
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        let slots = self.actions.slots(action);
        slots.iter().all(|(pool, index, role)| {
            let slot = &self.slots[pool.0][*index as usize];
            match role {
                SlotRole::Use | SlotRole::SilentUse => slot.value.is_some(),
                SlotRole::Definition => slot.value.is_none() || slot.used,
                SlotRole::Mention => true,
            }
        })
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let (template, values) = self.actions.values(action);
        let [ints, counters] = &mut self.slots;
        match (template.0, values.as_slice()) {
            (0, [int, choice]) => ints[*int as usize].value = Some(choice + 1),
            (1, [counter]) => counters[*counter as usize].value = Some(0),
            (2, [counter, int]) => {
                let int = ints[*int as usize].value.unwrap_or(0);
                let counter = &mut counters[*counter as usize];
                counter.value = counter.value.map(|value| value + int);
            }
            _ => {}
        }
        for (pool, index, role) in self.actions.slots(action) {
            self.slots[pool.0][index as usize].used = role != SlotRole::Definition;
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        for (index, slot) in self.slots[1].iter().enumerate() {
            if let Some(value) = slot.value.filter(|value| *value > self.limit) {
                return Outcome::Failed(Box::new(Failure {
                    kind: FailureKind::Property,
                    message: format!("property counter{index} <= {} is false", self.limit),
                    signature: "counter <= limit".to_owned(),
                    details: format!("counter{index} is {value}"),
                }));
            }
        }
        Outcome::Passed
    }
}

/// A saved state of [`Counters`].
#[derive(Clone, Debug)]
pub struct CountersState([Vec<CounterSlot>; 2]);

impl Snapshot for Counters {
    type State = CountersState;

    fn snapshot(&mut self) -> Result<CountersState, Error> {
        Ok(CountersState(self.slots.clone()))
    }

    fn restore(&mut self, state: &CountersState) -> Result<(), Error> {
        self.slots.clone_from(&state.0);
        Ok(())
    }
}

impl Fingerprint for Counters {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        let word = |slot: &CounterSlot| {
            slot.value.map_or(0, |value| value + 1) << 1 | u64::from(slot.used)
        };
        let pools = self.slots.iter().map(|pool| {
            let mut words: Vec<u64> = pool.iter().map(word).collect();
            if equivalence == Equivalence::UpToRenaming {
                // No slot refers to another, so renaming only changes their order.
                words.sort_unstable();
            }
            words
        });
        Ok(fingerprint(pools.flatten()))
    }
}
