//! The states of a model program.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::numbering::Numbering;
use testwright_core::product::Place;

use super::text;
use super::values::{Values, hash, put_varying, take_varying};
use crate::failures::Raised;

/// All states that a model program was met in: the values of its state variables.
pub(crate) struct States<'py> {
    variables: Vec<Bound<'py, PyString>>,
    numbering: Numbering,
    /// The packed values of all states, one state after the other.
    packed: Vec<u8>,
    /// By place: where its packed values end.
    ends: Vec<u64>,
    marks: Vec<Marks>,
    /// Values that cannot be packed.
    kept: Vec<Bound<'py, PyAny>>,
    /// Room to work in.
    state: Vec<u8>,
    keyed: Vec<u8>,
}

/// What predicates say of a state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    pub(crate) accepting: bool,
    pub(crate) safe: bool,
    /// Copies of the process understand its packed values.
    pub(crate) portable: bool,
}

/// Says that a value is packed, or where it is kept.
const PACKED: u8 = 0;
const KEPT: u8 = 1;

impl<'py> States<'py> {
    pub(crate) fn new(variables: Vec<Bound<'py, PyString>>) -> States<'py> {
        States {
            variables,
            numbering: Numbering::default(),
            packed: Vec::new(),
            ends: Vec::new(),
            marks: Vec::new(),
            kept: Vec::new(),
            state: Vec::new(),
            keyed: Vec::new(),
        }
    }

    /// The names of the variables.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.variables.iter();
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// The state that the variables of a module are in now.
    pub(crate) fn take(
        &mut self,
        values: &mut Values<'py>,
        module: &Bound<'py, PyDict>,
    ) -> PyResult<Place> {
        self.state.clear();
        self.keyed.clear();
        values.take_private();
        let mut portable = true;
        for variable in &self.variables {
            let missing = || {
                let name = variable.to_string_lossy();
                let message = format!("the state variable `{name}` does not exist");
                pyo3::exceptions::PyNameError::new_err(message)
            };
            let value = module.get_item(variable)?.ok_or_else(missing)?;
            let before = self.state.len();
            self.state.push(PACKED);
            if values.pack(&value, &mut self.state)? {
                values.write_key(&value, &mut self.keyed, 0)?;
                continue;
            }
            portable = false;
            // The copy is what is compared later; the value itself will change.
            let copy = values.copy(&value).map_err(|error| {
                let name = variable.to_string_lossy();
                let cause = Raised::new(module.py(), &error).summary();
                let message = format!("the state variable `{name}` cannot be copied: {cause}");
                pyo3::exceptions::PyTypeError::new_err(message)
            })?;
            values.write_key(&copy, &mut self.keyed, 0)?;
            self.state.truncate(before);
            self.state.push(KEPT);
            put_varying(&mut self.state, self.kept.len() as u64);
            self.kept.push(copy);
        }
        let key = hash(&self.keyed);
        if let Some(known) = self.numbering.find(key) {
            return Ok(Place(known));
        }
        let Some(number) = self.numbering.add(key) else {
            let message = "there are more states than can be numbered";
            return Err(pyo3::exceptions::PyMemoryError::new_err(message));
        };
        self.packed.extend_from_slice(&self.state);
        self.ends.push(self.packed.len() as u64);
        self.marks.push(Marks {
            portable: portable && !values.take_private(),
            ..Marks::default()
        });
        Ok(Place(number))
    }

    /// A state for a copy of the process.
    pub(crate) fn export(&self, place: Place) -> Option<Vec<u8>> {
        let marks = self.marks(place);
        let key = self.numbering.get(place.0);
        let mut bytes = key.to_le_bytes().to_vec();
        bytes.push(u8::from(marks.accepting) | u8::from(marks.safe) << 1);
        bytes.extend_from_slice(self.packed(place));
        marks.portable.then_some(bytes)
    }

    /// The state that a copy of the process speaks of.
    pub(crate) fn import(&mut self, bytes: &[u8]) -> Option<Place> {
        let (key, rest) = bytes.split_at_checked(size_of::<u128>())?;
        let (marks, packed) = rest.split_at_checked(1)?;
        let key = u128::from_le_bytes(key.try_into().ok()?);
        if let Some(known) = self.numbering.find(key) {
            return Some(Place(known));
        }
        let number = self.numbering.add(key)?;
        self.packed.extend_from_slice(packed);
        self.ends.push(self.packed.len() as u64);
        self.marks.push(Marks {
            accepting: marks[0] & 1 != 0,
            safe: marks[0] & 2 != 0,
            portable: true,
        });
        Some(Place(number))
    }

    /// Gives the variables of a module the values that they had in a state.
    pub(crate) fn restore(
        &self,
        values: &Values<'py>,
        module: &Bound<'py, PyDict>,
        place: Place,
    ) -> PyResult<()> {
        let mut packed = self.packed(place);
        for variable in &self.variables {
            module.set_item(variable, self.next_value(values, &mut packed)?)?;
        }
        Ok(())
    }

    /// The variables of a module as they are, the very objects.
    pub(crate) fn variables(&self, module: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let now = PyDict::new(module.py());
        for variable in &self.variables {
            if let Some(value) = module.get_item(variable)? {
                now.set_item(variable, value)?;
            }
        }
        Ok(now)
    }

    /// The values of a state, new ones each time.
    pub(crate) fn values(
        &self,
        values: &Values<'py>,
        place: Place,
    ) -> PyResult<Bound<'py, PyDict>> {
        let python = values.python();
        let state = PyDict::new(python);
        self.restore(values, &state, place)?;
        Ok(state)
    }

    fn next_value(&self, values: &Values<'py>, packed: &mut &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let (form, rest) = packed.split_at(1);
        *packed = rest;
        match form[0] {
            PACKED => values.unpack(packed),
            _ => values.copy(&self.kept[take_varying(packed) as usize]),
        }
    }

    fn packed(&self, place: Place) -> &[u8] {
        let number = place.0 as usize;
        let start = match number {
            0 => 0,
            later => self.ends[later - 1] as usize,
        };
        &self.packed[start..self.ends[number] as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn mark(&mut self, place: Place, accepting: bool, safe: bool) {
        let marks = &mut self.marks[place.0 as usize];
        (marks.accepting, marks.safe) = (accepting, safe);
    }

    pub(crate) fn marks(&self, place: Place) -> Marks {
        self.marks[place.0 as usize]
    }

    /// A state as source text.
    pub(crate) fn text(&self, values: &Values<'py>, place: Place) -> PyResult<String> {
        let (text, _) = text::literal(&self.values(values, place)?.into_any())?;
        Ok(text)
    }

    /// What the states take in memory, objects that are kept as such not included.
    pub(crate) fn bytes(&self) -> usize {
        self.numbering.bytes()
            + self.packed.capacity()
            + self.ends.capacity() * size_of::<u64>()
            + self.marks.capacity() * size_of::<Marks>()
    }
}
