//! A short key of what the slots hold.
//!
//! Values are walked in an order that does not depend on addresses or on the order in which sets and dictionaries were
//! filled, and what is seen goes into a hash of 128 bits. Values that are equal in Python and of a built-in type look
//! alike, `1` and `1.0` and `True` for example. Objects look alike if their classes and attributes do. Two slots that
//! share a list look different from two that hold equal lists, since an action on one of them shows the difference.
//!
//! Objects that are no plain data are asked what they would be pickled as (`__reduce_ex__`); nothing is pickled. Those
//! that cannot say it (a socket, a running generator) cannot be told apart, and an error says so.

use std::hash::{DefaultHasher, Hasher};

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyCFunction, PyDict, PyFloat, PyFrozenSet, PyInt, PyList,
    PyModule, PySet, PyString, PyTuple, PyType,
};
use rustc_hash::FxHashMap;
use testwright_core::{Error, Fingerprint, Likeness, PoolId};

use crate::failures::Raised;
use crate::interrupt;
use crate::system::PythonSystem;

/// How deep keys and members of sets may be nested in each other.
const DEEPEST: u32 = 50;

/// Walks values and hashes what it sees.
struct Walk<'py> {
    python: Python<'py>,
    halves: [DefaultHasher; 2],
    /// The number of each object that can be changed, in order of first sight.
    seen: FxHashMap<usize, u64>,
    /// Keeps objects alive that exist for the walk only, so that no other takes their address.
    kept: Vec<Bound<'py, PyAny>>,
    /// What is still to be looked at, the next last. A list of our own, because values may be nested without limit.
    pending: Vec<Bound<'py, PyAny>>,
    depth: u32,
}

impl<'py> Walk<'py> {
    fn new(python: Python<'py>, depth: u32) -> Walk<'py> {
        let mut halves = [DefaultHasher::new(), DefaultHasher::new()];
        halves[1].write_u8(1);
        Walk {
            python,
            halves,
            seen: FxHashMap::default(),
            kept: Vec::new(),
            pending: Vec::new(),
            depth,
        }
    }

    fn finish(&self) -> u128 {
        let [low, high] = self.halves.each_ref().map(Hasher::finish);
        u128::from(high) << 64 | u128::from(low)
    }

    fn note(&mut self, kind: u8, bytes: &[u8]) {
        for half in &mut self.halves {
            half.write_u8(kind);
            half.write_usize(bytes.len());
            half.write(bytes);
        }
    }

    fn note_number(&mut self, kind: u8, number: u64) {
        self.note(kind, &number.to_le_bytes());
    }

    /// Walks a value and everything in it.
    fn walk(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        self.pending.push(value);
        while let Some(value) = self.pending.pop() {
            self.look(&value)?;
            self.kept.push(value);
        }
        Ok(())
    }

    fn look(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_none() {
            self.note(b'N', &[]);
        } else if let Ok(text) = value.cast_exact::<PyString>() {
            // Lone surrogates have no place in UTF-8; their escapes will do.
            self.note(b's', text.to_string_lossy().as_bytes());
        } else if value.cast_exact::<PyInt>().is_ok() || value.cast_exact::<PyBool>().is_ok() {
            self.whole_number(value)?;
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            let plain = number.value();
            if plain.is_finite() && plain.fract() == 0.0 {
                self.whole_number(&value.call_method0(intern!(self.python, "__int__"))?)?;
            } else {
                self.note_number(b'f', plain.to_bits());
            }
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.note(b'b', bytes.as_bytes());
        } else if let Ok(tuple) = value.cast_exact::<PyTuple>() {
            self.note_number(b't', tuple.len() as u64);
            self.pending.extend(tuple.iter().rev());
        } else if let Ok(set) = value.cast_exact::<PyFrozenSet>() {
            self.members(set.iter())?;
        } else if is_named(value) {
            self.by_name(value)?;
        } else if !self.is_known(value) {
            self.look_inside(value)?;
        }
        Ok(())
    }

    /// What can be changed, seen for the first time.
    fn look_inside(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if let Ok(list) = value.cast_exact::<PyList>() {
            self.note_number(b'l', list.len() as u64);
            self.pending.extend(list.iter().rev());
        } else if let Ok(dictionary) = value.cast_exact::<PyDict>() {
            self.entries(dictionary)?;
        } else if let Ok(set) = value.cast_exact::<PySet>() {
            self.members(set.iter())?;
        } else if let Ok(bytes) = value.cast_exact::<PyByteArray>() {
            self.note(b'B', &bytes.to_vec());
        } else {
            self.by_parts(value)?;
        }
        Ok(())
    }

    fn whole_number(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        match value.extract::<i64>() {
            Ok(number) => self.note_number(b'i', number as u64),
            Err(_) => self.note(b'I', value.str()?.to_string_lossy().as_bytes()),
        }
        Ok(())
    }

    /// Whether an object was seen before; if so, that is noted.
    fn is_known(&mut self, value: &Bound<'py, PyAny>) -> bool {
        let next = self.seen.len() as u64;
        let number = *self.seen.entry(value.as_ptr() as usize).or_insert(next);
        if number != next {
            self.note_number(b'&', number);
        }
        number != next
    }

    /// Classes, functions and modules are what they are called.
    fn by_name(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        for name in ["__module__", "__qualname__", "__name__"] {
            if let Ok(found) = value.getattr(name) {
                self.note(b'n', found.str()?.to_string_lossy().as_bytes());
            }
        }
        Ok(())
    }

    /// The key of a value by itself.
    fn alone(&self, value: Bound<'py, PyAny>) -> PyResult<u128> {
        if self.depth == DEEPEST {
            let message = "keys or members of sets are nested too deeply";
            return Err(PyTypeError::new_err(message));
        }
        let mut walk = Walk::new(self.python, self.depth + 1);
        walk.walk(value)?;
        Ok(walk.finish())
    }

    fn members(&mut self, members: impl Iterator<Item = Bound<'py, PyAny>>) -> PyResult<()> {
        let mut keys = members
            .map(|member| self.alone(member))
            .collect::<PyResult<Vec<u128>>>()?;
        keys.sort_unstable();
        self.note_number(b'S', keys.len() as u64);
        keys.iter()
            .for_each(|key| self.note(b'k', &key.to_le_bytes()));
        Ok(())
    }

    fn entries(&mut self, dictionary: &Bound<'py, PyDict>) -> PyResult<()> {
        let mut entries = Vec::new();
        for (key, value) in dictionary.iter() {
            entries.push((self.alone(key)?, value));
        }
        entries.sort_by_key(|(key, _)| *key);
        self.note_number(b'd', entries.len() as u64);
        for (key, _) in &entries {
            self.note(b'k', &key.to_le_bytes());
        }
        let values = entries.into_iter().map(|(_, value)| value);
        self.pending.extend(values.rev());
        Ok(())
    }

    /// What an object would be pickled as: registered functions come first, as for pickle.
    fn reduced(&self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let registered = self.python.import("copyreg")?.getattr("dispatch_table")?;
        match registered.get_item(value.get_type()) {
            Ok(function) => function.call1((value,)),
            Err(_) => value.call_method1(intern!(self.python, "__reduce_ex__"), (4,)),
        }
    }

    /// An object by its class and by what it would be pickled as.
    fn by_parts(&mut self, value: &Bound<'py, PyAny>) -> PyResult<()> {
        if value.is_callable() && value.getattr("__code__").is_ok() {
            self.by_name(value)?;
            // A function inside another one may keep something of it.
            let closure = value.getattr("__closure__")?;
            if let Ok(cells) = closure.cast::<PyTuple>() {
                let contents = cells
                    .iter()
                    .filter_map(|cell| cell.getattr("cell_contents").ok());
                self.pending.extend(contents);
            }
            return Ok(());
        }
        let parts = self.reduced(value)?;
        let Ok(parts) = parts.cast_into::<PyTuple>() else {
            // The name of some object that there is only once.
            self.by_name(value.get_type().as_any())?;
            return self.by_name(value);
        };
        self.by_name(value.get_type().as_any())?;
        let mut inner = Vec::new();
        for (place, part) in parts.iter().enumerate().skip(1) {
            // What the fourth and fifth part give one by one are the items of a list, and of a dictionary.
            match (place, part.is_none()) {
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
        self.note_number(b'o', inner.len() as u64);
        self.pending.extend(inner.into_iter().rev());
        Ok(())
    }
}

/// Whether an object is what its name says: there is no other one of that name.
fn is_named(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyType>()
        || value.is_instance_of::<PyModule>()
        || (value.is_instance_of::<PyCFunction>()
            && value
                .getattr(intern!(value.py(), "__self__"))
                .is_ok_and(|owner| owner.is_none() || owner.is_instance_of::<PyModule>()))
}

impl<'py> PythonSystem<'py> {
    /// What a slot and its twin look like to whoever tells states apart.
    fn views(&self, pool: PoolId, slot: u32) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let declared = self.context.harness.pool(pool);
        let place = self.context.layout.place(pool, slot);
        let mut values = vec![self.context.slots.get_item(place)?];
        if declared.reference {
            let twin = place + self.context.layout.twin_distance(pool);
            values.push(self.context.slots.get_item(twin)?);
        }
        let Some(abstraction) = &declared.abstraction else {
            return Ok(values);
        };
        let function = self.evaluate(abstraction)?;
        let view = |value: Bound<'py, PyAny>| {
            if value.is_none() {
                Ok(value)
            } else {
                function.call1((value,))
            }
        };
        values.into_iter().map(view).collect()
    }

    fn walk_slots(&self, likeness: Likeness) -> PyResult<u128> {
        let python = self.context.python;
        let mut whole = Walk::new(python, 0);
        for (number, declared) in self.context.harness.pools.iter().enumerate() {
            let pool = PoolId(number);
            let mut slots = Vec::new();
            for slot in 0..declared.size {
                let views = self.views(pool, slot)?;
                let is_used = self.states.is_used(pool, slot);
                let key = match likeness {
                    Likeness::Equal => 0,
                    Likeness::UpToRenaming => {
                        let mut alone = Walk::new(python, 0);
                        alone.note(b'u', &[u8::from(is_used)]);
                        for view in &views {
                            alone.walk(view.clone())?;
                        }
                        alone.finish()
                    }
                };
                slots.push((key, is_used, views));
            }
            // Stable, so that nothing changes where names count.
            slots.sort_by_key(|(key, ..)| *key);
            for (_, is_used, views) in slots {
                whole.note(b'u', &[u8::from(is_used)]);
                for view in views {
                    whole.walk(view)?;
                }
            }
        }
        whole.note(b'a', &[u8::from(self.assumption_violated)]);
        for place in self
            .guidance
            .iter()
            .flat_map(|guidance| guidance.states().iter().flatten())
        {
            whole.note_number(b'g', u64::from(place.0));
        }
        Ok(whole.finish())
    }
}

impl Fingerprint for PythonSystem<'_> {
    fn fingerprint(&mut self, likeness: Likeness) -> Result<u128, Error> {
        let mut walked = self.walk_slots(likeness);
        if let Err(error) = &walked
            && interrupt::is_interrupt(self.context.python, error)
        {
            // The wish to stop is noted; what was found until now should not be lost for it.
            walked = self.walk_slots(likeness);
        }
        interrupt::sign_of_life();
        walked.map_err(|error| {
            let cause = Raised::new(self.context.python, &error).summary();
            Error::new(format!("states cannot be told apart: {cause}"))
                .with_help("give the pool an `ABSTRACT` function that returns plain data")
        })
    }
}
