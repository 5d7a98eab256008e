//! The states of a model program.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::numbering::Numbering;
use testwright_core::product::Place;

use super::pieces::Pieces;
use super::text;
use super::values::{Packing, Values, hash, put_varying, take_varying};
use crate::failures::Raised;

/// All states that a model program was met in: the values of its state variables.
pub(crate) struct States<'py> {
    variables: Vec<Bound<'py, PyString>>,
    numbering: Numbering,
    /// The packed values of all states, one state after the other.
    packed: Pieces,
    /// By place.
    marks: Vec<Marks>,
    /// Values that cannot be packed.
    kept: Vec<Bound<'py, PyAny>>,
    /// Room to work in.
    state: Vec<u8>,
    keyed: Vec<u8>,
}

/// The state that variables were in, of which nothing is kept yet. Its packed values and its key are in the room to work
/// in.
pub(crate) struct Read<'py> {
    is_portable: bool,
    /// The values that cannot be packed.
    copies: Vec<Bound<'py, PyAny>>,
}

/// What predicates say of a state, and whether copies of the process understand its packed values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks(u8);

impl Marks {
    const ACCEPTING: u8 = 1;
    const SAFE: u8 = 2;
    const PORTABLE: u8 = 4;

    fn new(accepting: bool, safe: bool, portable: bool) -> Marks {
        let mark = |is_set: bool, mark: u8| if is_set { mark } else { 0 };
        Marks(
            mark(accepting, Marks::ACCEPTING)
                | mark(safe, Marks::SAFE)
                | mark(portable, Marks::PORTABLE),
        )
    }

    pub(crate) fn is_accepting(self) -> bool {
        self.0 & Marks::ACCEPTING != 0
    }

    pub(crate) fn is_safe(self) -> bool {
        self.0 & Marks::SAFE != 0
    }

    fn is_portable(self) -> bool {
        self.0 & Marks::PORTABLE != 0
    }
}

/// Says that a value is packed, or where it is kept.
const PACKED: u8 = 0;
const KEPT: u8 = 1;

impl<'py> States<'py> {
    pub(crate) fn new(variables: Vec<Bound<'py, PyString>>) -> States<'py> {
        States {
            variables,
            numbering: Numbering::default(),
            packed: Pieces::default(),
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

    /// Reads the state that the variables of a module are in now.
    pub(crate) fn read(
        &mut self,
        values: &mut Values<'py>,
        module: &Bound<'py, PyDict>,
    ) -> PyResult<Read<'py>> {
        self.state.clear();
        self.keyed.clear();
        values.take_private();
        let mut copies = Vec::new();
        for variable in &self.variables {
            let missing = || {
                let name = variable.to_string_lossy();
                let message = format!("the state variable `{name}` does not exist");
                pyo3::exceptions::PyNameError::new_err(message)
            };
            let value = module.get_item(variable)?.ok_or_else(missing)?;
            let before = self.state.len();
            self.state.push(PACKED);
            match values.pack(&value, &mut self.state)? {
                Packing::AsKey => {
                    self.keyed.extend_from_slice(&self.state[before + 1..]);
                    continue;
                }
                Packing::Done => {
                    values.write_key(&value, &mut self.keyed, 0)?;
                    continue;
                }
                Packing::Impossible => {}
            }
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
            let place = self.kept.len() + copies.len();
            put_varying(&mut self.state, place as u64);
            copies.push(copy);
        }
        Ok(Read {
            is_portable: copies.is_empty() && !values.take_private(),
            copies,
        })
    }

    /// Keeps the state that was read last, unless it is known, with what predicates say of it.
    pub(crate) fn keep(&mut self, read: Read<'py>, accepting: bool, safe: bool) -> PyResult<Place> {
        let key = hash(&self.keyed);
        if let Some(known) = self.numbering.find(key) {
            return Ok(Place(known));
        }
        let added = self.numbering.add(key);
        let number = added.filter(|_| self.packed.push(&self.state));
        let Some(number) = number else {
            let message = "there are more states than can be numbered";
            return Err(pyo3::exceptions::PyMemoryError::new_err(message));
        };
        self.kept.extend(read.copies);
        self.marks
            .push(Marks::new(accepting, safe, read.is_portable));
        Ok(Place(number))
    }

    /// A state for a copy of the process.
    pub(crate) fn export(&self, place: Place) -> Option<Vec<u8>> {
        let marks = self.marks(place);
        let key = self.numbering.get(place.0);
        let mut bytes = key.to_le_bytes().to_vec();
        bytes.push(marks.0);
        bytes.extend_from_slice(self.packed(place));
        marks.is_portable().then_some(bytes)
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
        if !self.packed.push(packed) {
            return None;
        }
        self.marks.push(Marks(marks[0]));
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
        self.packed.get(place.0 as usize)
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
        self.numbering.bytes() + self.packed.bytes() + self.marks.capacity() * size_of::<Marks>()
    }
}
