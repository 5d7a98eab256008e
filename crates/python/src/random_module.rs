//! The generator behind the functions of Python's `random` module. Every test starts with the same
//! seed.
//!
//! Seeding takes longer than many a test and always leads to the same state. So that state is kept,
//! and copied into the generator where it differs.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The length of the generator's state: its words, then the number of words used.
const WORDS: usize = 625;

/// The memory layout of the generator in the interpreter's C code. It has been the same since
/// Python 2.3 but is not documented, so it is verified before it is relied on.
#[repr(C)]
struct GeneratorLayout {
    /// The object header.
    head: pyo3::ffi::PyObject,
    /// The number of words used.
    used: i32,
    /// The state itself.
    words: [u32; WORDS - 1],
}

/// The shared generator of the `random` module.
pub(crate) struct RandomModule<'py> {
    /// The generator object.
    generator: Bound<'py, PyAny>,
    /// The function `random.seed`.
    seed: Bound<'py, PyAny>,
    /// The generator's attributes (one of them buffers half of a pair of Gaussian numbers), and its
    /// state right after seeding. `None` if the layout is unknown.
    seeded: Option<(Bound<'py, PyDict>, Box<[u32; WORDS - 1]>, i32)>,
}

/// A state of the generator.
#[derive(Clone, PartialEq)]
pub(crate) struct GeneratorState {
    words: Box<[u32; WORDS - 1]>,
    used: i32,
    /// The second of a pair of Gaussian numbers, if only one was used.
    gauss_next: Option<f64>,
}

impl GeneratorState {
    /// Returns the state as bytes.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        bytes.extend(self.used.to_le_bytes());
        bytes.extend(self.gauss_next.unwrap_or(f64::NAN).to_bits().to_le_bytes());
        bytes
    }
}

impl<'py> RandomModule<'py> {
    /// Seeds the generator.
    pub(crate) fn new(python: Python<'py>) -> PyResult<RandomModule<'py>> {
        let module = python.import("random")?;
        let generator = module.getattr("_inst")?;
        let seed = module.getattr("seed")?;
        seed.call1((0,))?;
        let mut module_state = RandomModule {
            generator,
            seed,
            seeded: None,
        };
        if module_state.has_known_layout()? {
            let attributes = module_state.generator.getattr("__dict__")?.cast_into()?;
            // SAFETY: the layout was just compared.
            let layout = unsafe { &*module_state.generator.as_ptr().cast::<GeneratorLayout>() };
            module_state.seeded = Some((attributes, Box::new(layout.words), layout.used));
        }
        Ok(module_state)
    }

    /// Returns true if the memory of the generator matches its `getstate()`.
    fn has_known_layout(&self) -> PyResult<bool> {
        let python = self.generator.py();
        let class = python.import("_random")?.getattr("Random")?;
        let size: usize = class.getattr("__basicsize__")?.extract()?;
        if size != size_of::<GeneratorLayout>() || !self.generator.is_instance(&class)? {
            return Ok(false);
        }
        let state = self.generator.call_method0("getstate")?.get_item(1)?;
        let state: Vec<u32> = state.cast_into::<PyTuple>()?.extract()?;
        // SAFETY: the object is an instance of a class whose objects have this size, so all of it
        // can be read, and any bytes are valid for its fields.
        let layout = unsafe { &*self.generator.as_ptr().cast::<GeneratorLayout>() };
        Ok(state.len() == WORDS
            && state[..WORDS - 1] == layout.words
            && i64::from(state[WORDS - 1]) == i64::from(layout.used))
    }

    /// Returns the present state of the generator; `None` if it is the one right after seeding.
    pub(crate) fn state(&self) -> Option<GeneratorState> {
        let (attributes, words, used) = self.seeded.as_ref()?;
        // SAFETY: the layout was compared when `seeded` was made.
        let layout = unsafe { &*self.generator.as_ptr().cast::<GeneratorLayout>() };
        let gauss_next = pyo3::intern!(self.generator.py(), "gauss_next");
        let gauss_next = attributes.get_item(gauss_next).ok().flatten();
        let gauss_next = gauss_next.and_then(|next| next.extract::<f64>().ok());
        let is_seeded = layout.used == *used && layout.words == **words && gauss_next.is_none();
        (!is_seeded).then(|| GeneratorState {
            words: Box::new(layout.words),
            used: layout.used,
            gauss_next,
        })
    }

    /// Returns to an earlier state of the generator, or to the one right after seeding.
    pub(crate) fn set_state(&self, state: Option<&GeneratorState>) -> PyResult<()> {
        self.restore()?;
        let (Some(state), Some((attributes, ..))) = (state, &self.seeded) else {
            return Ok(());
        };
        // SAFETY: as in `restore`.
        let layout = unsafe { &mut *self.generator.as_ptr().cast::<GeneratorLayout>() };
        layout.used = state.used;
        layout.words = *state.words;
        match state.gauss_next {
            Some(next) => attributes.set_item("gauss_next", next),
            None => Ok(()),
        }
    }

    /// Restores the state right after seeding.
    pub(crate) fn restore(&self) -> PyResult<()> {
        let python = self.generator.py();
        let Some((attributes, words, used)) = &self.seeded else {
            return self.seed.call1((0,)).map(|_| ());
        };
        // SAFETY: the layout was compared when `seeded` was made. No other code can use the
        // generator while the interpreter is held, and the fields written are plain numbers.
        let layout = unsafe { &mut *self.generator.as_ptr().cast::<GeneratorLayout>() };
        if layout.used != *used || layout.words != **words {
            layout.used = *used;
            layout.words = **words;
        }
        let gauss_next = pyo3::intern!(python, "gauss_next");
        match attributes.get_item(gauss_next)? {
            Some(value) if value.is_none() => Ok(()),
            _ => attributes.set_item(gauss_next, python.None()),
        }
    }
}
