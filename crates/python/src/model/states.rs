//! The states of a model program.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use testwright_core::fingerprint_set::FingerprintSet;
use testwright_core::product::ModelState;

use super::byte_blobs::ByteBlobs;
use super::packing::{PackContext, PackResult, ValuePacker, hash, put_varint, take_varint};
use super::value_text;
use crate::failures::RaisedException;

/// All known states of a model program: the values of its state variables.
pub(crate) struct ProgramStates<'py> {
    /// The names of the state variables.
    pub(crate) variables: Vec<Bound<'py, PyString>>,
    /// The number of each state, by key.
    numbering: FingerprintSet,
    /// The packed values of each state.
    packed: ByteBlobs,
    /// The flags of each state.
    flags: Vec<StateFlags>,
    /// Values that cannot be packed.
    unpackable_values: Vec<Bound<'py, PyAny>>,
    /// A buffer for the packed values of the state being read.
    packed_buffer: Vec<u8>,
    /// A buffer for the key of the state being read.
    key_buffer: Vec<u8>,
    /// True if a copy of values shares objects with them that can change.
    has_shared_copies: bool,
}

/// A state that was read but not saved. Its packed values and its key are in the buffers of
/// [`ProgramStates`].
pub(crate) struct UnsavedState<'py> {
    /// True if other processes can restore it.
    is_portable: bool,
    /// True if a set in it has several members.
    has_sets: bool,
    /// Copies of the values that cannot be packed.
    copies: Vec<Bound<'py, PyAny>>,
}

/// The predicates that hold in a state, and whether other processes can restore it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StateFlags(u8);

impl StateFlags {
    const ACCEPTING: u8 = 1;
    const SAFE: u8 = 2;
    const PORTABLE: u8 = 4;
    const SETS: u8 = 8;

    fn new(accepting: bool, safe: bool, portable: bool, sets: bool) -> StateFlags {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        StateFlags(
            flag(accepting, StateFlags::ACCEPTING)
                | flag(safe, StateFlags::SAFE)
                | flag(portable, StateFlags::PORTABLE)
                | flag(sets, StateFlags::SETS),
        )
    }

    pub(crate) fn is_accepting(self) -> bool {
        self.0 & StateFlags::ACCEPTING != 0
    }

    pub(crate) fn is_safe(self) -> bool {
        self.0 & StateFlags::SAFE != 0
    }

    fn is_portable(self) -> bool {
        self.0 & StateFlags::PORTABLE != 0
    }
}

/// The tag of a value that is packed.
const PACKED: u8 = 0;
/// The tag of a value that is kept as an object.
const UNPACKABLE: u8 = 1;

impl<'py> ProgramStates<'py> {
    /// Creates a table without any states.
    pub(crate) fn new(variables: Vec<Bound<'py, PyString>>) -> ProgramStates<'py> {
        ProgramStates {
            variables,
            numbering: FingerprintSet::default(),
            packed: ByteBlobs::default(),
            flags: Vec::new(),
            unpackable_values: Vec::new(),
            packed_buffer: Vec::new(),
            key_buffer: Vec::new(),
            has_shared_copies: false,
        }
    }

    /// Returns the names of the state variables.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.variables.iter();
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    /// Reads the present state of a module's variables.
    pub(crate) fn read(
        &mut self,
        packer: &mut ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
    ) -> PyResult<UnsavedState<'py>> {
        self.packed_buffer.clear();
        self.key_buffer.clear();
        packer.take_unshared();
        if packer.is_exact() {
            return self.read_exactly(packer, module);
        }
        let mut copies = Vec::new();
        for variable in &self.variables {
            let value = value_of(module, variable)?;
            let before = self.packed_buffer.len();
            self.packed_buffer.push(PACKED);
            match packer.pack(&value, &mut self.packed_buffer)? {
                PackResult::PackedAsKey => {
                    self.key_buffer
                        .extend_from_slice(&self.packed_buffer[before + 1..]);
                    continue;
                }
                PackResult::Packed => {
                    packer.write_key(&value, &mut self.key_buffer, 0)?;
                    continue;
                }
                PackResult::Impossible => {}
            }
            // Later comparisons use the copy, because the value itself may change.
            let copy = packer.copy(&value);
            let copy = copy.map_err(|error| cannot_copy(variable, Some(&error)))?;
            packer.write_key(&copy, &mut self.key_buffer, 0)?;
            self.packed_buffer.truncate(before);
            self.packed_buffer.push(UNPACKABLE);
            let index = self.unpackable_values.len() + copies.len();
            put_varint(&mut self.packed_buffer, index as u64);
            copies.push(copy);
        }
        Ok(UnsavedState {
            is_portable: copies.is_empty() && !packer.take_unshared(),
            has_sets: false,
            copies,
        })
    }

    /// Reads the present state, to tell it apart exactly. The variables may share objects, so they are
    /// packed or copied together.
    fn read_exactly(
        &mut self,
        packer: &mut ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
    ) -> PyResult<UnsavedState<'py>> {
        packer.has_sets = false;
        let mut shared = PackContext::default();
        let mut packing = PackResult::PackedAsKey;
        self.packed_buffer.push(PACKED);
        for variable in &self.variables {
            let value = value_of(module, variable)?;
            packing = packer.pack_part(&value, &mut self.packed_buffer, &mut shared)?;
            if packing == PackResult::Impossible {
                break;
            }
        }
        if packing == PackResult::PackedAsKey {
            self.key_buffer.extend_from_slice(&self.packed_buffer);
            return Ok(UnsavedState {
                is_portable: !packer.take_unshared(),
                has_sets: packer.has_sets,
                copies: Vec::new(),
            });
        }
        let variables = self.variables.iter();
        let values = variables.map(|variable| value_of(module, variable));
        let values = values.collect::<PyResult<Vec<_>>>()?;
        let (key, objects) = packer.encode(&values);
        self.key_buffer.push(UNPACKABLE);
        self.key_buffer.extend_from_slice(&key.to_le_bytes());
        if packing == PackResult::Packed {
            return Ok(UnsavedState {
                is_portable: !packer.take_unshared(),
                has_sets: packer.has_sets,
                copies: Vec::new(),
            });
        }
        let copy = packer.copy(PyTuple::new(module.py(), &values)?.as_any());
        let copy = match copy {
            Ok(copy) => copy,
            Err(error) => {
                let mut all = self.variables.iter().zip(&values);
                let refused = all.find(|(_, value)| packer.copy(value).is_err());
                let refused = refused.map_or(&self.variables[0], |(variable, _)| variable);
                return Err(cannot_copy(refused, Some(&error)));
            }
        };
        let copies = copy.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        let (key_of_copy, objects_of_copy) = packer.encode(&copies);
        if key_of_copy != key {
            let mut all = self.variables.iter().zip(values.into_iter().zip(copies));
            let differs = all.find(|(_, (value, copy))| {
                let [value, copy] =
                    [value, copy].map(|one| packer.encode(std::slice::from_ref(one)).0);
                value != copy
            });
            let differs = differs.map_or(&self.variables[0], |(variable, _)| variable);
            return Err(cannot_copy(differs, None));
        }
        self.has_shared_copies |= objects.iter().any(|one| objects_of_copy.contains(one));
        self.packed_buffer.clear();
        self.packed_buffer.push(UNPACKABLE);
        put_varint(&mut self.packed_buffer, self.unpackable_values.len() as u64);
        Ok(UnsavedState {
            is_portable: false,
            has_sets: false,
            copies: vec![copy],
        })
    }

    /// Sets the variables of a module to the values of a state that was read exactly.
    fn restore_exactly(
        &self,
        packer: &ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
        packed: &[u8],
    ) -> PyResult<()> {
        let (form, mut packed) = packed.split_at(1);
        if form[0] == PACKED {
            let mut shared = Vec::new();
            for variable in &self.variables {
                module.set_item(variable, packer.unpack_from(&mut packed, &mut shared)?)?;
            }
            return Ok(());
        }
        let copy = &self.unpackable_values[take_varint(&mut packed) as usize];
        let values = packer.copy(copy)?;
        for (variable, value) in self.variables.iter().zip(values.try_iter()?) {
            module.set_item(variable, value?)?;
        }
        Ok(())
    }

    /// Returns an error if the variables of a module, set to a state, are not what they were when it
    /// was read. Some action has changed an object that all copies share.
    pub(crate) fn check_restored(
        &self,
        packer: &mut ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
        id: ModelState,
    ) -> PyResult<()> {
        if !self.has_shared_copies || self.packed(id).first() != Some(&UNPACKABLE) {
            return Ok(());
        }
        let variables = self.variables.iter();
        let values = variables.map(|variable| value_of(module, variable));
        let (key, _) = packer.encode(&values.collect::<PyResult<Vec<_>>>()?);
        let mut bytes = vec![UNPACKABLE];
        bytes.extend_from_slice(&key.to_le_bytes());
        if self.numbering.get(id.0) == hash(&bytes) {
            return Ok(());
        }
        let message = "a state cannot be restored: a copy of a state variable shares an object                        with it, and an action has changed this object";
        Err(pyo3::exceptions::PyTypeError::new_err(message))
    }

    /// Returns the key of the state that was read last.
    pub(crate) fn key_of_read(&self) -> u128 {
        hash(&self.key_buffer)
    }

    /// Saves the state read last, unless it is known. Returns its number.
    pub(crate) fn save(
        &mut self,
        read: UnsavedState<'py>,
        accepting: bool,
        safe: bool,
    ) -> PyResult<ModelState> {
        let key = hash(&self.key_buffer);
        if let Some(known) = self.numbering.find(key) {
            return Ok(ModelState(known));
        }
        let added = self.numbering.add(key);
        let number = added.filter(|_| self.packed.push(&self.packed_buffer));
        let Some(number) = number else {
            let message = "there are more states than can be numbered";
            return Err(pyo3::exceptions::PyMemoryError::new_err(message));
        };
        self.unpackable_values.extend(read.copies);
        self.flags.push(StateFlags::new(
            accepting,
            safe,
            read.is_portable,
            read.has_sets,
        ));
        Ok(ModelState(number))
    }

    /// Exports a state for another process. Returns `None` if only this process can represent it.
    pub(crate) fn export(&self, id: ModelState) -> Option<Vec<u8>> {
        let flags = self.flags(id);
        let key = self.numbering.get(id.0);
        let mut bytes = key.to_le_bytes().to_vec();
        bytes.push(flags.0);
        bytes.extend_from_slice(self.packed(id));
        flags.is_portable().then_some(bytes)
    }

    /// Imports a state that another process has exported.
    pub(crate) fn import(&mut self, bytes: &[u8]) -> Option<ModelState> {
        let (key, rest) = bytes.split_at_checked(size_of::<u128>())?;
        let (flags, packed) = rest.split_at_checked(1)?;
        let key = u128::from_le_bytes(key.try_into().ok()?);
        if let Some(known) = self.numbering.find(key) {
            return Some(ModelState(known));
        }
        let number = self.numbering.add(key)?;
        if !self.packed.push(packed) {
            return None;
        }
        self.flags.push(StateFlags(flags[0]));
        Some(ModelState(number))
    }

    /// Sets the variables of a module to the values of a state.
    pub(crate) fn restore(
        &self,
        packer: &ValuePacker<'py>,
        module: &Bound<'py, PyDict>,
        id: ModelState,
    ) -> PyResult<()> {
        let mut packed = self.packed(id);
        if packer.is_exact() {
            return self.restore_exactly(packer, module, packed);
        }
        for variable in &self.variables {
            module.set_item(variable, self.next_value(packer, &mut packed)?)?;
        }
        Ok(())
    }

    /// Returns the present values of a module's variables, without copying them.
    pub(crate) fn variables(&self, module: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
        let now = PyDict::new(module.py());
        for variable in &self.variables {
            if let Some(value) = module.get_item(variable)? {
                now.set_item(variable, value)?;
            }
        }
        Ok(now)
    }

    /// Returns the values of a state as new objects.
    pub(crate) fn values(
        &self,
        packer: &ValuePacker<'py>,
        id: ModelState,
    ) -> PyResult<Bound<'py, PyDict>> {
        let python = packer.python();
        let state = PyDict::new(python);
        self.restore(packer, &state, id)?;
        Ok(state)
    }

    /// Restores the next value of a packed state.
    fn next_value(
        &self,
        packer: &ValuePacker<'py>,
        packed: &mut &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        let (form, rest) = packed.split_at(1);
        *packed = rest;
        match form[0] {
            PACKED => packer.unpack(packed),
            _ => packer.copy(&self.unpackable_values[take_varint(packed) as usize]),
        }
    }

    /// Returns the packed values of a state.
    fn packed(&self, id: ModelState) -> &[u8] {
        self.packed.get(id.0 as usize)
    }

    /// Returns true if a set in a state has several members, whose order is no part of the state.
    pub(crate) fn has_sets(&self, id: ModelState) -> bool {
        self.flags(id).0 & StateFlags::SETS != 0
    }

    /// Returns the flags of a state.
    pub(crate) fn flags(&self, id: ModelState) -> StateFlags {
        self.flags[id.0 as usize]
    }

    /// Returns a state as source text.
    pub(crate) fn text(&self, packer: &ValuePacker<'py>, id: ModelState) -> PyResult<String> {
        let (text, _) = value_text::literal(&self.values(packer, id)?.into_any())?;
        Ok(text)
    }

    /// Returns the memory use, without values kept as objects.
    pub(crate) fn bytes(&self) -> usize {
        self.numbering.bytes()
            + self.packed.bytes()
            + self.flags.capacity() * size_of::<StateFlags>()
    }
}

/// Returns the value of a state variable.
fn value_of<'py>(
    module: &Bound<'py, PyDict>,
    variable: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    module.get_item(variable)?.ok_or_else(|| {
        let name = variable.to_string_lossy();
        let message = format!("the state variable `{name}` does not exist");
        pyo3::exceptions::PyNameError::new_err(message)
    })
}

/// Returns the error for a state variable that cannot be copied, because of an exception or since the
/// copy differs.
fn cannot_copy(variable: &Bound<'_, PyString>, error: Option<&PyErr>) -> PyErr {
    let name = variable.to_string_lossy();
    let cause = match error {
        Some(error) => RaisedException::new(variable.py(), error).summary(),
        None => "a copy differs from it, so states cannot be restored".to_owned(),
    };
    let message = format!("the state variable `{name}` cannot be copied: {cause}");
    pyo3::exceptions::PyTypeError::new_err(message)
}
