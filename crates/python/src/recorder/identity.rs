//! Identities of objects.
//!
//! The recorder keeps no object of the program alive for longer than a call that uses it, and
//! addresses are reused. So an object is tracked by a weak reference if its type supports them.
//! Otherwise (lists and dictionaries, for example) it is held for as long as a call that uses it
//! lasts. No two objects ever share an identity.

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;
use testwright_capture::ObjectId;

/// Dead weak references are removed when there are more entries than this, and whenever their
/// number has doubled since.
const MIN_CLEANUP_SIZE: usize = 4_096;

/// The maximum number of objects tracked at the same time. An object that was forgotten gets
/// another identity when it is seen again.
const MAX_TRACKED: usize = 200_000;

/// All objects tracked at the moment.
pub(super) struct ObjectIdentities {
    by_address: FxHashMap<usize, TrackedObject>,
    /// The next identity to assign.
    next: u64,
    /// The number of entries above which dead ones are removed.
    cleanup_size: usize,
}

/// An object with its identity.
struct TrackedObject {
    id: ObjectId,
    hold: ObjectHold,
}

/// The reference by which an object is tracked.
enum ObjectHold {
    /// A weak reference.
    Weak(Py<PyAny>),
    /// A strong reference, shared by this number of calls.
    Strong(Py<PyAny>, u32),
}

/// The objects that a call holds strongly, by address, until it ends.
#[derive(Default)]
pub(super) struct HeldObjects {
    addresses: Vec<usize>,
}

impl ObjectIdentities {
    pub(super) fn new() -> ObjectIdentities {
        ObjectIdentities {
            by_address: FxHashMap::default(),
            next: 1,
            cleanup_size: MIN_CLEANUP_SIZE,
        }
    }

    /// Returns the identity of an object. It is valid for as long as the object lives if its type
    /// supports weak references, and until `held` is released otherwise.
    pub(super) fn identify(
        &mut self,
        object: &Bound<'_, PyAny>,
        held: &mut HeldObjects,
    ) -> ObjectId {
        let address = object.as_ptr() as usize;
        if let Some(tracked) = self.by_address.get_mut(&address) {
            match &mut tracked.hold {
                ObjectHold::Weak(reference) => {
                    if refers_to(reference.bind(object.py()), object) {
                        return tracked.id;
                    }
                }
                ObjectHold::Strong(_, calls) => {
                    if !held.addresses.contains(&address) {
                        *calls += 1;
                        held.addresses.push(address);
                    }
                    return tracked.id;
                }
            }
        }
        let id = ObjectId(self.next);
        self.next += 1;
        let hold = match new_weak_reference(object) {
            Some(reference) => ObjectHold::Weak(reference),
            None => {
                held.addresses.push(address);
                ObjectHold::Strong(object.clone().unbind(), 1)
            }
        };
        self.by_address.insert(address, TrackedObject { id, hold });
        id
    }

    /// Releases the objects of a call that has ended. Returns those that no other call holds, to be
    /// dropped once the recorder is unlocked: an object that dies may run code of the program.
    pub(super) fn release(&mut self, held: HeldObjects, python: Python<'_>) -> Vec<Py<PyAny>> {
        let mut pending_drops = Vec::new();
        for address in held.addresses {
            let Some(tracked) = self.by_address.get_mut(&address) else {
                continue;
            };
            if let ObjectHold::Strong(_, calls) = &mut tracked.hold {
                *calls -= 1;
                if *calls == 0
                    && let Some(TrackedObject {
                        hold: ObjectHold::Strong(object, _),
                        ..
                    }) = self.by_address.remove(&address)
                {
                    pending_drops.push(object);
                }
            }
        }
        if self.by_address.len() > self.cleanup_size {
            self.by_address.retain(|_, tracked| match &tracked.hold {
                ObjectHold::Weak(reference) => is_alive(reference.bind(python)),
                ObjectHold::Strong(..) => true,
            });
            if self.by_address.len() > MAX_TRACKED {
                self.by_address
                    .retain(|_, tracked| matches!(tracked.hold, ObjectHold::Strong(..)));
            }
            self.cleanup_size = MIN_CLEANUP_SIZE.max(2 * self.by_address.len());
        }
        pending_drops
    }
}

/// Creates a weak reference without a callback, if the type supports it.
pub(super) fn new_weak_reference(object: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
    // SAFETY: checks the fields of the type, then takes a new reference to a weak reference without
    // a callback, or null with an exception.
    unsafe {
        let class = ffi::Py_TYPE(object.as_ptr());
        // Weak references of types with this offset are made by the interpreter, without running
        // code of the program.
        if (*class).tp_weaklistoffset == 0 {
            return None;
        }
        // These types hand themselves out while they die, for warnings or to be closed by an event
        // loop. A weak reference created at that point would never be cleared.
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

/// Returns the object of a weak reference, without keeping it alive, or null.
fn referent(reference: &Bound<'_, PyAny>) -> *mut ffi::PyObject {
    let mut found = std::ptr::null_mut();
    // SAFETY: it is a weak reference; the result is a new reference, given back at once. The object
    // does not die by that, because another reference to it must exist.
    unsafe {
        if ffi::compat::PyWeakref_GetRef(reference.as_ptr(), &mut found) == 1 {
            ffi::Py_DECREF(found);
            return found;
        }
        ffi::PyErr_Clear();
    }
    std::ptr::null_mut()
}

/// Returns true if a weak reference refers to this object.
fn refers_to(reference: &Bound<'_, PyAny>, object: &Bound<'_, PyAny>) -> bool {
    referent(reference) == object.as_ptr()
}

/// Returns true if the object of a weak reference is alive.
pub(super) fn is_alive(reference: &Bound<'_, PyAny>) -> bool {
    !referent(reference).is_null()
}
