//! The generator behind the functions of the `random` module, which starts every test with the same seed.
//!
//! Seeding it takes longer than many a test. What seeding does is always the same, so the state that it leads to is
//! kept, and put into the generator where it differs.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// The words of the state, then how many of them were used.
const WORDS: usize = 625;

/// The generator, as the interpreter's C code lays it out. It has been so since Python 2.3; but since nobody promises
/// it, it is compared with what the generator says of itself before it is relied on.
#[repr(C)]
struct Layout {
    head: pyo3::ffi::PyObject,
    used: i32,
    words: [u32; WORDS - 1],
}

/// The shared generator of the `random` module.
pub(crate) struct Chance<'py> {
    generator: Bound<'py, PyAny>,
    seed: Bound<'py, PyAny>,
    /// Where it remembers half of a pair of numbers, and its state right after seeding; `None` if its layout is not
    /// the one that we know.
    seeded: Option<(Bound<'py, PyDict>, Box<[u32; WORDS - 1]>, i32)>,
}

impl<'py> Chance<'py> {
    /// Seeds the generator.
    pub(crate) fn new(python: Python<'py>) -> PyResult<Chance<'py>> {
        let module = python.import("random")?;
        let generator = module.getattr("_inst")?;
        let seed = module.getattr("seed")?;
        seed.call1((0,))?;
        let mut chance = Chance {
            generator,
            seed,
            seeded: None,
        };
        if chance.has_known_layout()? {
            let attributes = chance.generator.getattr("__dict__")?.cast_into()?;
            // SAFETY: the layout was just compared.
            let layout = unsafe { &*chance.generator.as_ptr().cast::<Layout>() };
            chance.seeded = Some((attributes, Box::new(layout.words), layout.used));
        }
        Ok(chance)
    }

    fn has_known_layout(&self) -> PyResult<bool> {
        let python = self.generator.py();
        let class = python.import("_random")?.getattr("Random")?;
        let size: usize = class.getattr("__basicsize__")?.extract()?;
        if size != size_of::<Layout>() || !self.generator.is_instance(&class)? {
            return Ok(false);
        }
        let state = self.generator.call_method0("getstate")?.get_item(1)?;
        let state: Vec<u32> = state.cast_into::<PyTuple>()?.extract()?;
        // SAFETY: the object is an instance of a class whose objects have this size, so all of it can be read, and
        // any bytes are valid for its fields.
        let layout = unsafe { &*self.generator.as_ptr().cast::<Layout>() };
        Ok(state.len() == WORDS
            && state[..WORDS - 1] == layout.words
            && i64::from(state[WORDS - 1]) == i64::from(layout.used))
    }

    /// Brings the generator into the state it has right after seeding.
    pub(crate) fn put_back(&self) -> PyResult<()> {
        let python = self.generator.py();
        let Some((attributes, words, used)) = &self.seeded else {
            return self.seed.call1((0,)).map(|_| ());
        };
        // SAFETY: the layout was compared when `seeded` was made. Nobody else can use the generator while the
        // interpreter is held, and the fields written are plain numbers.
        let layout = unsafe { &mut *self.generator.as_ptr().cast::<Layout>() };
        if layout.used != *used || layout.words != **words {
            layout.used = *used;
            layout.words = **words;
        }
        let pair = pyo3::intern!(python, "gauss_next");
        match attributes.get_item(pair)? {
            Some(value) if value.is_none() => Ok(()),
            _ => attributes.set_item(pair, python.None()),
        }
    }
}
