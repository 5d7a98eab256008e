//! Fingerprints: short keys of states.
//!
//! The key of a state is a hash of its [encoding](crate::walker::encoder): first the modules under
//! test, then the slots in order. Two states have the same key only if no action, guard or check can
//! tell them apart, except by what [`caveats`](Fingerprint::caveats) names.

use pyo3::prelude::*;
use testwright_core::verdict::Caveat;
use testwright_core::{Equivalence, Error, Fingerprint, PoolId};

use crate::failures::RaisedException;
use crate::interrupt;
use crate::state_tracker::ObjectTracker;
use crate::system::PythonSystem;
use crate::walker::encoder::{Encoder, EncodingGap, StateRoot};

/// The values of a slot and its twin, with its position and whether it is used.
struct SlotContent<'py> {
    position: usize,
    is_used: bool,
    values: Vec<Bound<'py, PyAny>>,
}

impl<'py> PythonSystem<'py> {
    /// Returns the values of a slot and its twin, with the pool's abstraction applied.
    fn slot_content(&self, pool: PoolId, slot: u32) -> PyResult<SlotContent<'py>> {
        let declared = self.context.harness.pool(pool);
        let position = self.context.layout.position(pool, slot);
        let mut values = vec![self.context.slots.get_item(position)?];
        if declared.reference {
            let twin = position + self.context.layout.twin_distance(pool);
            values.push(self.context.slots.get_item(twin)?);
        }
        if let Some(abstraction) = &declared.abstraction {
            let function = self.evaluate(abstraction)?;
            for value in &mut values {
                if !value.is_none() {
                    *value = function.call1((&*value,))?;
                }
            }
        }
        Ok(SlotContent {
            position,
            is_used: self.states.is_used(pool, slot),
            values,
        })
    }

    /// Returns the contents of all slots, by pool.
    fn slot_contents(&self) -> PyResult<Vec<Vec<SlotContent<'py>>>> {
        let pools = self.context.harness.pools.iter().enumerate();
        pools
            .map(|(number, declared)| {
                (0..declared.size)
                    .map(|slot| self.slot_content(PoolId(number), slot))
                    .collect()
            })
            .collect()
    }

    /// Encodes the whole state.
    fn encode_state(&mut self, equivalence: Equivalence) -> PyResult<u128> {
        self.start_tracking()?;
        let pools = self.slot_contents()?;
        let random = self
            .process_state
            .as_ref()
            .and_then(|state| state.random().state());
        let Some(tracker) = &mut self.states_seen else {
            return Ok(0);
        };
        let ObjectTracker { context, base, .. } = &mut **tracker;
        let modules = base.encode(context, false);
        let numbers = modules.numbers.as_ref().unwrap_or_else(|| base.numbers());
        let mut encoder = Encoder::new(context, StateRoot::Modules).after(numbers);
        encoder.write_bytes(b'm', &modules.key.to_le_bytes());
        if let Some(random) = random {
            encoder.write_bytes(b'r', &random.to_bytes());
        }
        for slots in pools {
            encode_pool(&mut encoder, slots, equivalence);
        }
        encoder.write_number(b'a', u64::from(self.assumption_violated));
        for state in self
            .guide
            .iter()
            .flat_map(|guide| guide.states().iter().flatten())
        {
            encoder.write_number(b'g', u64::from(state.0));
        }
        Ok(encoder.finish())
    }
}

/// Encodes the slots of a pool: in order, or in the order of their own encodings if their names do not
/// matter.
fn encode_pool<'py>(
    encoder: &mut Encoder<'_, 'py>,
    slots: Vec<SlotContent<'py>>,
    equivalence: Equivalence,
) {
    let mut keyed = Vec::with_capacity(slots.len());
    for slot in slots {
        encoder.root = StateRoot::Slot(slot.position);
        let keys: Vec<u128> = match equivalence {
            Equivalence::Equal => Vec::new(),
            Equivalence::UpToRenaming => slot
                .values
                .iter()
                .map(|value| encoder.independent_key(value))
                .collect(),
        };
        keyed.push(((slot.is_used, keys), slot));
    }
    if equivalence == Equivalence::UpToRenaming {
        keyed.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    for (_, slot) in keyed {
        encoder.root = StateRoot::Slot(slot.position);
        encoder.write_number(b'u', u64::from(slot.is_used));
        for value in slot.values {
            encoder.encode(value);
        }
    }
}

impl PythonSystem<'_> {
    /// Returns the caveats about code that asks for what no state contains, or was seen to act outside.
    fn code_caveats(&self, tracker: &ObjectTracker<'_>) -> PyResult<Vec<Caveat>> {
        let python = self.context.python;
        let functions = tracker.base.functions(python);
        let found: Vec<(bool, String, String, usize)> = self
            .context
            .support
            .call_method1("code_outside_state", (functions,))?
            .extract()?;
        let seen = tracker.outside.found(python)?.into_iter();
        let seen = seen.map(|(what, file, line)| (what == "id(…)", what, file, line));
        let caveat = |(is_identity, what, file, line): (bool, String, String, usize)| {
            let place = format!("`{what}` in {file}, line {line}");
            if is_identity {
                Caveat::Identity { place }
            } else {
                Caveat::OutsideState { what: place }
            }
        };
        Ok(found.into_iter().chain(seen).map(caveat).collect())
    }

    /// Returns the name of the slot at a position, or of its pool if it is a twin.
    fn slot_name(&self, position: usize) -> String {
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = PoolId(number);
            let first = self.context.layout.position(pool, 0);
            let size = declared.size as usize;
            let catalog_pool = self.context.harness.catalog.pool(pool);
            match position.checked_sub(first) {
                Some(slot) if slot < size => return catalog_pool.slot_name(slot as u32),
                Some(slot) if declared.reference && slot < 2 * size => {
                    return catalog_pool.twin_name((slot - size) as u32);
                }
                _ => {}
            }
        }
        String::from("a slot")
    }
}

impl Fingerprint for PythonSystem<'_> {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        let mut key = self.encode_state(equivalence);
        if let Err(error) = &key
            && interrupt::is_interrupt(self.context.python, error)
        {
            // The interrupt is noted already; the results so far should not be lost because of it.
            key = self.encode_state(equivalence);
        }
        interrupt::mark_progress();
        key.map_err(|error| {
            let cause = RaisedException::new(self.context.python, &error).summary();
            Error::new(format!("states cannot be told apart: {cause}"))
                .with_help("give the pool an `ABSTRACT` function that returns plain data")
        })
    }

    fn caveats(&self) -> Vec<Caveat> {
        let mut caveats = Vec::new();
        let pools = self.context.harness.pools.iter();
        caveats.extend(pools.filter(|pool| pool.abstraction.is_some()).map(|pool| {
            Caveat::Abstraction {
                pool: pool.name.clone(),
            }
        }));
        let Some(tracker) = &self.states_seen else {
            return caveats;
        };
        for (root, gap) in &tracker.context.gaps {
            let place = match root {
                StateRoot::Slot(position) => format!("in `{}`", self.slot_name(*position)),
                StateRoot::Modules => String::from("in a module under test"),
            };
            caveats.push(match gap {
                EncodingGap::Unseen(class) => Caveat::OutsideState {
                    what: format!("a `{class}` {place}"),
                },
                EncodingGap::HashOrder => Caveat::HashOrder {
                    what: format!("a set {place}"),
                },
                EncodingGap::AddressOrder => Caveat::AddressOrder {
                    what: format!("a set {place}"),
                },
            });
        }
        caveats.extend(self.code_caveats(tracker).unwrap_or_default());
        let changed = tracker
            .foreign
            .changed(self.context.python, &tracker.context.ignored);
        caveats.extend(changed.into_iter().map(|name| Caveat::OutsideState {
            what: format!("what is set in `{name}`"),
        }));
        let packages = tracker.unseen_packages.iter();
        caveats.extend(packages.map(|package| Caveat::OutsideState {
            what: format!("the package `{package}`"),
        }));
        caveats
    }
}
