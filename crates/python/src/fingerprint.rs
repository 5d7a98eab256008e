//! Fingerprints: short keys of the values in the slots.
//!
//! Values are visited in an order that does not depend on addresses, or on the order in which sets
//! and dictionaries were filled, and hashed to 128 bits. Values of built-in types that are equal in
//! Python have equal keys, `1`, `1.0` and `True` for example. Objects have equal keys if their
//! classes and attributes do. Two slots that share a list differ from two that hold equal lists,
//! because an action on one of them shows the difference.
//!
//! Other objects are reduced as for pickling (`__reduce_ex__`); nothing is pickled. Objects that
//! cannot be reduced (a socket, a running generator) cannot be told apart, and cause an error.

use std::hash::{DefaultHasher, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyInt, PyList,
    PyModule, PySet, PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;
use testwright_core::{Equivalence, Error, Fingerprint, PoolId};

use crate::failures::RaisedException;
use crate::interrupt;
use crate::system::PythonSystem;

/// The maximum depth of nested keys and members of sets.
const MAX_KEY_DEPTH: u32 = 50;

/// Visits values and hashes them.
struct ValueHasher<'py> {
    python: Python<'py>,
    /// Two hashers with different seeds, for 128 bits.
    halves: [DefaultHasher; 2],
    /// The number of each mutable object, in the order of first visit.
    object_numbers: FxHashMap<usize, u64>,
    /// Temporary objects, kept alive so that their addresses stay unique.
    kept_alive: Vec<Bound<'py, PyAny>>,
    /// Values still to be visited, the next one last. An explicit stack, because values may be
    /// nested without limit.
    pending: Vec<Bound<'py, PyAny>>,
    /// The depth of nested keys.
    depth: u32,
}

impl<'py> ValueHasher<'py> {
    /// Creates a hasher without any values.
    fn new(python: Python<'py>, depth: u32) -> ValueHasher<'py> {
        let mut halves = [DefaultHasher::new(), DefaultHasher::new()];
        halves[1].write_u8(1);
        ValueHasher {
            python,
            halves,
            object_numbers: FxHashMap::default(),
            kept_alive: Vec::new(),
            pending: Vec::new(),
            depth,
        }
    }

    /// Returns the key.
    fn finish(&self) -> u128 {
        let [low, high] = self.halves.each_ref().map(Hasher::finish);
        u128::from(high) << 64 | u128::from(low)
    }

    /// Hashes bytes, with a tag for their kind.
    fn hash_bytes(&mut self, kind: u8, bytes: &[u8]) {
        for half in &mut self.halves {
            half.write_u8(kind);
            half.write_usize(bytes.len());
            half.write(bytes);
        }
    }

    /// Hashes a number, with a tag for its kind.
    fn hash_number(&mut self, kind: u8, number: u64) {
        self.hash_bytes(kind, &number.to_le_bytes());
    }

    /// Hashes a value and everything in it.
    fn hash(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        self.pending.push(value);
        while let Some(value) = self.pending.pop() {
            self.hash_value(&value)?;
            self.kept_alive.push(value);
        }
        Ok(())
    }

    /// Hashes one value, and queues its parts.
    fn hash_value(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.hash_bytes(b'N', &[]);
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            // Lone surrogates are not valid in UTF-8; their escapes suffice.
            self.hash_bytes(b's', text.to_string_lossy().as_bytes());
        } else if value.cast_exact::<PyInt>().is_ok() || value.cast_exact::<PyBool>().is_ok() {
            self.hash_integer(value)?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let plain = number.value();
            if plain.is_finite() && plain.fract() == 0.0 {
                self.hash_integer(&value.call_method0(intern!(self.python, "__int__"))?)?;
            } else {
                self.hash_number(b'f', plain.to_bits());
            }
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.hash_bytes(b'b', bytes.as_bytes());
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.hash_number(b't', tuple.len() as u64);
            self.pending.extend(tuple.iter().rev());
        } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
            self.hash_members(set.iter())?;
        } else if is_named(value) {
            self.hash_names(value)?;
        } else if !self.is_repeated(value) {
            self.hash_mutable(value)?;
        }
        Ok(())
    }

    /// Hashes a mutable object on its first visit.
    fn hash_mutable(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(list) = value.cast_exact::<PyList>() {
            self.hash_number(b'l', list.len() as u64);
            self.pending.extend(list.iter().rev());
        } else if let Ok(dictionary) = value.cast_exact::<PyDict>() {
            self.hash_entries(dictionary)?;
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            self.hash_members(set.iter())?;
        } else if let Ok(bytes) = value.cast_exact::<PyByteArray>() {
            self.hash_bytes(b'B', &bytes.to_vec());
        } else {
            self.hash_object(value)?;
        }
        Ok(())
    }

    /// Hashes an integer of any size.
    fn hash_integer(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) => self.hash_number(b'i', number as u64),
            Err(_) => self.hash_bytes(b'I', value.str()?.to_string_lossy().as_bytes()),
        }
        Ok(())
    }

    /// Returns true if an object was visited before, and hashes its number then.
    fn is_repeated(&mut self, value: &Bound<'py, PyAny>) -> bool {
        let next = self.object_numbers.len() as u64;
        let number = *self
            .object_numbers
            .entry(value.as_ptr() as usize)
            .or_insert(next);
        if number != next {
            self.hash_number(b'&', number);
        }
        number != next
    }

    /// Hashes the names of a class, function or module, which identify it.
    fn hash_names(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        for name in ["__module__", "__qualname__", "__name__"] {
            if let Ok(found) = value.getattr(name) {
                self.hash_bytes(b'n', found.str()?.to_string_lossy().as_bytes());
            }
        }
        Ok(())
    }

    /// Returns the key of a value on its own.
    fn independent_key(&self, value: Bound<'py, PyAny>) -> PyResult<u128> {
        if self.depth == MAX_KEY_DEPTH {
            let message = "keys or members of sets are nested too deeply";
            return Err(PyTypeError::new_err(message));
        }
        let mut hasher = ValueHasher::new(self.python, self.depth + 1);
        hasher.hash(value)?;
        Ok(hasher.finish())
    }

    /// Hashes the members of a set, in the order of their keys.
    fn hash_members(&mut self, members: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        let mut keys = members
            .map(|member| self.independent_key(member))
            .collect::<PyResult<Vec<u128>>>()?;
        keys.sort_unstable();
        self.hash_number(b'S', keys.len() as u64);
        keys.iter()
            .for_each(|key| self.hash_bytes(b'k', &key.to_le_bytes()));
        Ok(())
    }

    /// Hashes the entries of a dictionary, in the order of their keys, and queues the values.
    fn hash_entries(&mut self, dictionary: &Bound<'py, PyDict>) -> PyResult<()> {
        let mut entries = Vec::new();
        for (key, value) in dictionary.iter() {
            entries.push((self.independent_key(key)?, value));
        }
        entries.sort_by_key(|(key, _)| *key);
        self.hash_number(b'd', entries.len() as u64);
        for (key, _) in &entries {
            self.hash_bytes(b'k', &key.to_le_bytes());
        }
        let values = entries.into_iter().map(|(_, value)| value);
        self.pending.extend(values.rev());
        Ok(())
    }

    /// Reduces an object as for pickling; registered functions take precedence.
    fn reduce(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let registered = self.python.import("copyreg")?.getattr("dispatch_table")?;
        match registered.get_item(value.get_type()) {
            Ok(function) => function.call1((value,)),
            Err(_) => value.call_method1(intern!(self.python, "__reduce_ex__"), (4,)),
        }
    }

    /// Hashes an object by its class and its reduction.
    fn hash_object(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_callable() && value.getattr("__code__").is_ok() {
            self.hash_names(value)?;
            // An inner function may hold values of the outer one.
            let closure = value.getattr("__closure__")?;
            if let Ok(cells) = closure.cast::<PyTuple>() {
                let contents = cells
                    .iter()
                    .filter_map(|cell| cell.getattr("cell_contents").ok());
                self.pending.extend(contents);
            }
            return Ok(());
        }
        let parts = self.reduce(value)?;
        let Ok(parts) = parts.cast_into::<PyTuple>() else {
            // The object is a singleton, reduced to its name.
            self.hash_names(value.get_type().as_any())?;
            return self.hash_names(value);
        };
        self.hash_names(value.get_type().as_any())?;
        let mut inner = Vec::new();
        for (index, part) in parts.iter().enumerate().skip(1) {
            // The fourth and fifth part are iterators over the items of a list, and of a
            // dictionary.
            match (index, part.is_none()) {
                (_, true) => {}
                (3, _) => inner.extend(part.try_iter()?.collect::<PyResult<Vec<_>>>()?),
                (4, _) => {
                    let entries = PyDict::new(self.python);
                    for entry in part.try_iter()? {
                        let (key, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) =
                            entry?.extract()?;
                        entries.set_item(key, value)?;
                    }
                    inner.push(entries.into_any());
                }
                _ => inner.push(part),
            }
        }
        self.hash_number(b'o', inner.len() as u64);
        self.pending.extend(inner.into_iter().rev());
        Ok(())
    }
}

/// Returns true if an object is identified by its name.
fn is_named(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyType>()
        || value.is_instance_of::<PyModule>()
        || (value.is_instance_of::<PyCFunction>()
            && value
                .getattr(intern!(value.py(), "__self__"))
                .is_ok_and(|owner| owner.is_none() || owner.is_instance_of::<PyModule>()))
}

impl<'py> PythonSystem<'py> {
    /// Returns the values of a slot and its twin, with the pool's abstraction applied.
    fn slot_values(&self, pool: PoolId, slot: u32) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let declared = self.context.harness.pool(pool);
        let index = self.context.layout.position(pool, slot);
        let mut values = vec![self.context.slots.get_item(index)?];
        if declared.reference {
            let twin = index + self.context.layout.twin_distance(pool);
            values.push(self.context.slots.get_item(twin)?);
        }
        let Some(abstraction) = &declared.abstraction else {
            return Ok(values);
        };
        let function = self.evaluate(abstraction)?;
        let abstracted = |value: Bound<'py, PyAny>| {
            if value.is_none() {
                Ok(value)
            } else {
                function.call1((value,))
            }
        };
        values.into_iter().map(abstracted).collect()
    }

    /// Hashes all slots and the rest of the state.
    fn hash_slots(&self, equivalence: Equivalence) -> PyResult<u128> {
        let python = self.context.python;
        let mut hasher = ValueHasher::new(python, 0);
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = PoolId(number);
            let mut slots = Vec::new();
            for slot in 0..declared.size {
                let values = self.slot_values(pool, slot)?;
                let is_used = self.states.is_used(pool, slot);
                let key = match equivalence {
                    Equivalence::Equal => 0,
                    Equivalence::UpToRenaming => {
                        let mut alone = ValueHasher::new(python, 0);
                        alone.hash_bytes(b'u', &[u8::from(is_used)]);
                        for value in &values {
                            alone.hash(value.clone())?;
                        }
                        alone.finish()
                    }
                };
                slots.push((key, is_used, values));
            }
            // The sort is stable, so the order stays if names matter.
            slots.sort_by_key(|(key, ..)| *key);
            for (_, is_used, values) in slots {
                hasher.hash_bytes(b'u', &[u8::from(is_used)]);
                for value in values {
                    hasher.hash(value)?;
                }
            }
        }
        hasher.hash_bytes(b'a', &[u8::from(self.assumption_violated)]);
        for state in self
            .guide
            .iter()
            .flat_map(|guide| guide.states().iter().flatten())
        {
            hasher.hash_number(b'g', u64::from(state.0));
        }
        Ok(hasher.finish())
    }
}

impl Fingerprint for PythonSystem<'_> {
    fn fingerprint(&mut self, equivalence: Equivalence) -> Result<u128, Error> {
        let mut key = self.hash_slots(equivalence);
        if let Err(error) = &key
            && interrupt::is_interrupt(self.context.python, error)
        {
            // The interrupt is noted already; the results so far should not be lost because of it.
            key = self.hash_slots(equivalence);
        }
        interrupt::mark_progress();
        key.map_err(|error| {
            let cause = RaisedException::new(self.context.python, &error).summary();
            Error::new(format!("states cannot be told apart: {cause}"))
                .with_help("give the pool an `ABSTRACT` function that returns plain data")
        })
    }
}
