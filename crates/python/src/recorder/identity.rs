//! Which object is which.
//!
//! The recorder keeps no object of the program alive for longer than a call that it is watching. An address alone
//! says little, then: another object may come to lie there. So an object is known by a weak reference where it allows
//! one, and is held as long as a call that saw it lasts where it does not (lists and dictionaries do not). Whoever has
//! an identity here has never shared it with another object.

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use testwright_capture::ObjectId;

/// Dead weak references are looked for when there are more than this, and whenever their number has doubled since.
const FIRST_CLEANING: usize = 4_096;

/// More objects than this are not known at the same time. An object that is seen again after it was forgotten gets
/// another identity.
const MOST_KNOWN: usize = 200_000;

/// All objects that are known at the moment.
pub(super) struct Identities {
    by_address: FxHashMap<usize, Known>,
    next: u64,
    cleaning: usize,
}

struct Known {
    id: ObjectId,
    tie: Tie,
}

enum Tie {
    Weak(Py<PyAny>),
    /// Held, for this number of calls.
    Held(Py<PyAny>, u32),
}

/// The objects that a call holds, and that are to be let go when it ends.
#[derive(Default)]
pub(super) struct Window {
    held: Vec<usize>,
}

impl Identities {
    pub(super) fn new() -> Identities {
        Identities {
            by_address: FxHashMap::default(),
            next: 1,
            cleaning: FIRST_CLEANING,
        }
    }

    /// The identity of an object, for as long as it lives if it allows weak references, or else for as long as the
    /// window is open.
    pub(super) fn of(&mut self, object: &Bound<'_, PyAny>, window: &mut Window) -> ObjectId {
        let address = object.as_ptr() as usize;
        if let Some(known) = self.by_address.get_mut(&address) {
            match &mut known.tie {
                Tie::Weak(reference) => {
                    if refers_to(reference.bind(object.py()), object) {
                        return known.id;
                    }
                }
                Tie::Held(_, calls) => {
                    if !window.held.contains(&address) {
                        *calls += 1;
                        window.held.push(address);
                    }
                    return known.id;
                }
            }
        }
        let id = ObjectId(self.next);
        self.next += 1;
        let tie = match weak_reference(object) {
            Some(reference) => Tie::Weak(reference),
            None => {
                window.held.push(address);
                Tie::Held(object.clone().unbind(), 1)
            }
        };
        self.by_address.insert(address, Known { id, tie });
        id
    }

    /// A call has ended. What nobody holds any more is handed over, to be let go when the recorder is at rest: an
    /// object that dies may run code of the program.
    pub(super) fn close(&mut self, window: Window, python: Python<'_>) -> Vec<Py<PyAny>> {
        let mut released = Vec::new();
        for address in window.held {
            let Some(known) = self.by_address.get_mut(&address) else {
                continue;
            };
            if let Tie::Held(_, calls) = &mut known.tie {
                *calls -= 1;
                if *calls == 0
                    && let Some(Known {
                        tie: Tie::Held(object, _),
                        ..
                    }) = self.by_address.remove(&address)
                {
                    released.push(object);
                }
            }
        }
        if self.by_address.len() > self.cleaning {
            self.by_address.retain(|_, known| match &known.tie {
                Tie::Weak(reference) => is_alive(reference.bind(python)),
                Tie::Held(..) => true,
            });
            if self.by_address.len() > MOST_KNOWN {
                self.by_address
                    .retain(|_, known| matches!(known.tie, Tie::Held(..)));
            }
            self.cleaning = FIRST_CLEANING.max(2 * self.by_address.len());
        }
        released
    }
}

pub(super) fn weak_reference(object: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    // SAFETY: a check of the type's fields, then a new reference to a weak reference without a callback, or null with
    // an exception.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        // A class may keep its own weak references in ways that run code; those made in Python and in C do not.
        if (*class).tp_weaklistoffset == 0 {
            return None;
        }
        // These hand themselves out while they die, to warn that nobody waited for them or to be closed by a loop, and a
        // weak reference that is made by then would never hear of their end.
        if class == &raw mut ffi::PyCoro_Type || class == &raw mut ffi::PyAsyncGen_Type {
            return None;
        }
        let reference = ffi::PyWeakref_NewRef(object.as_ptr(), std::ptr::null_mut());
        match Bound::from_owned_ptr_or_opt(object.py(), reference) {
            Some(reference) => Some(reference.unbind()),
            None => {
                ffi::PyErr_Clear();
                None
            }
        }
    }
}

/// What a weak reference refers to, without making it live longer.
fn target(reference: &Bound<'_, PyAny>) -> *mut ffi::PyObject {
    let mut found = std::ptr::null_mut();
    // SAFETY: it is a weak reference; the answer is a new reference, given back at once. Nothing dies by that, as
    // somebody else has one: the object would not be found otherwise.
    unsafe {
        if ffi::compat::PyWeakref_GetRef(reference.as_ptr(), &mut found) == 1 {
            ffi::Py_DECREF(found);
            return found;
        }
        ffi::PyErr_Clear();
    }
    std::ptr::null_mut()
}

fn refers_to(reference: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
    target(reference) == object.as_ptr()
}

pub(super) fn is_alive(reference: &Bound<'_, PyAny>) -> bool {
    !target(reference).is_null()
}
