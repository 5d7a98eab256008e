//! A system that outlives a call from Python.

use std::mem::transmute;

use pyo3::Python;

use crate::PythonSystem;

/// A system that is stored between calls from Python and used only while the interpreter is held.
pub struct DetachedSystem(PythonSystem<'static>);

// SAFETY: all that a system has of its own is reached through `with`, which asks for a proof that
// this thread holds the interpreter, and no two threads hold it at once: the extension module says
// that it needs the lock. It is dropped by the object that owns it, which the interpreter does.
unsafe impl Send for DetachedSystem {}
// SAFETY: as above; shared references give access to nothing.
unsafe impl Sync for DetachedSystem {}

impl DetachedSystem {
    /// Stores a system.
    pub fn new(system: PythonSystem<'_>) -> DetachedSystem {
        // SAFETY: the lifetime stands for holding the interpreter and nothing else. `with` gives
        // the right one back.
        DetachedSystem(unsafe { transmute::<PythonSystem<'_>, PythonSystem<'static>>(system) })
    }

    /// Runs `work` on the system while the interpreter is held.
    pub fn with<'py, R>(
        &mut self,
        _held: Python<'py>,
        work: impl FnOnce(&mut PythonSystem<'py>) -> R,
    ) -> R {
        // SAFETY: shortens the lifetime to that for which the interpreter is held. A system of that
        // lifetime that `work` may leave here in its place is as good as one made by `new`.
        work(unsafe {
            transmute::<&mut PythonSystem<'static>, &mut PythonSystem<'py>>(&mut self.0)
        })
    }
}
