//! Knowledge of encoders about classes, code and the modules under test.

use std::collections::BTreeSet;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyType;
use rustc_hash::{FxHashMap, FxHashSet};

use super::encoder::Encoder;
use super::layout::{self, ObjectContent, ObjectLayout, ObjectLayouts};
use super::node::UntrackedNames;

/// The place from which an object is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StateRoot {
    /// The slot at this position.
    Slot(usize),
    /// The modules under test.
    Modules,
}

/// Something about an object that its encoding does not tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EncodingGap {
    /// Objects of this class cannot be seen.
    Unseen(String),
    /// The order of a set depends on addresses.
    AddressOrder,
    /// The order of a set depends on the seed of hashes. The encoding tells the order under this seed.
    HashOrder,
}

/// All that is known about classes and code, for encoders.
pub(crate) struct EncodingContext<'py> {
    pub(crate) python: Python<'py>,
    pub(crate) layouts: ObjectLayouts,
    pub(crate) ignored: UntrackedNames,
    /// The namespaces of the modules under test, by address.
    pub(crate) namespaces: FxHashSet<usize>,
    /// The names of the modules under test.
    pub(crate) modules: FxHashSet<String>,
    /// Numbers of functions, classes and namespaces of the base, by address.
    pub(crate) anchors: FxHashMap<usize, u32>,
    /// Encodings of code objects, which are kept alive.
    codes: FxHashMap<usize, (u128, Py<PyAny>)>,
    /// True if the order of sets is not encoded.
    pub(crate) ignores_set_order: bool,
    /// The gaps found so far.
    pub(crate) gaps: BTreeSet<(StateRoot, EncodingGap)>,
}

impl<'py> EncodingContext<'py> {
    /// Creates a context that knows no modules.
    pub(crate) fn new(python: Python<'py>) -> PyResult<EncodingContext<'py>> {
        Ok(EncodingContext {
            python,
            layouts: ObjectLayouts::new(python)?,
            ignored: UntrackedNames::new(python),
            namespaces: FxHashSet::default(),
            modules: FxHashSet::default(),
            anchors: FxHashMap::default(),
            codes: FxHashMap::default(),
            ignores_set_order: false,
            gaps: BTreeSet::new(),
        })
    }

    /// Returns true if a function or class of the modules under test, or one that holds values of a
    /// function around it, has a state of its own. Others are known by name.
    pub(crate) fn has_own_state(&self, object: &Bound<'py, PyAny>, layout: &ObjectLayout) -> bool {
        match layout.content {
            ObjectContent::Function => {
                // SAFETY: the object is a function, so it has this layout.
                let function = unsafe { &*object.as_ptr().cast::<ffi::PyFunctionObject>() };
                !function.func_closure.is_null()
                    || self.namespaces.contains(&(function.func_globals as usize))
            }
            ObjectContent::Class => object.cast::<PyType>().is_ok_and(|class| {
                self.layouts.is_python_class(class)
                    && layout::namespace(class)
                        .and_then(|names| names.get_item("__module__").ok().flatten())
                        .is_some_and(|name| self.modules.contains(&name.to_string()))
            }),
            _ => false,
        }
    }

    /// Returns the encoding of a code object: its name, line, instructions and constants.
    pub(super) fn code_key(&mut self, code: &Bound<'py, PyAny>) -> u128 {
        let address = code.as_ptr() as usize;
        if let Some((key, _)) = self.codes.get(&address) {
            return *key;
        }
        let mut encoder = Encoder::new(self, StateRoot::Modules);
        for name in [
            "co_name",
            "co_firstlineno",
            "co_code",
            "co_names",
            "co_consts",
        ] {
            if let Ok(part) = code.getattr(name) {
                encoder.encode(part);
            }
        }
        let key = encoder.finish();
        self.codes.insert(address, (key, code.clone().unbind()));
        key
    }
}
