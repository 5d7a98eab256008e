//! Observation of what code under test does outside of its state: with files, processes, threads, the
//! clock, or settings of the interpreter.
//!
//! Two things tell: audit events of the interpreter, which cost nothing, and the functions written in C
//! that are called. Those are seen by a profiling function, which is set for the first steps of each
//! line of the harness, and for some of the later ones. `support.py` knows which functions matter.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use pyo3::ffi;
use pyo3::prelude::*;
use rustc_hash::FxHashMap;

/// The number of calls of a line that are always observed.
const FIRST_CALLS: u32 = 200;

/// Of the later calls, one of so many is observed.
const LATER_CALLS: u32 = 16;

/// The beginnings of audit events that show an effect outside, or a look there.
const EVENTS: [&str; 26] = [
    "_thread.start",
    "builtins.id",
    "builtins.input",
    "ctypes.dl",
    "fcntl.",
    "ftplib.",
    "gc.",
    "http.client.",
    "imaplib.",
    "mmap.",
    "open",
    "os.",
    "poplib.",
    "pty.",
    "resource.",
    "shutil.",
    "signal.",
    "smtplib.",
    "socket.",
    "sqlite3.",
    "subprocess.",
    "syslog.",
    "telnetlib.",
    "tempfile.",
    "urllib.",
    "webbrowser.",
];

thread_local! {
    /// The observer of the code that runs now; `None` between steps.
    static CURRENT: RefCell<Option<Py<PyAny>>> = const { RefCell::new(None) };
    /// The observer itself is running.
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    /// For functions in C, by the address of their definition, the name of each that matters.
    static NAMES: RefCell<FxHashMap<usize, Option<String>>> = RefCell::default();
}

/// Observes what code under test does outside of its state.
pub(crate) struct OutsideWatch {
    /// The `OutsideWatch` of `support.py`.
    observer: Py<PyAny>,
    /// The number of calls of each line, by its number.
    calls: FxHashMap<usize, u32>,
}

/// The end of the observation, when it is dropped.
pub(crate) struct WatchedCall {
    has_profile: bool,
}

impl OutsideWatch {
    /// Creates an observer that has seen nothing.
    pub(crate) fn new(support: &Bound<'_, PyModule>) -> PyResult<OutsideWatch> {
        install_audit_hook();
        Ok(OutsideWatch {
            observer: support.call_method0("OutsideWatch")?.unbind(),
            calls: FxHashMap::default(),
        })
    }

    /// Starts to observe a call of the code of a line.
    pub(crate) fn start(&mut self, python: Python<'_>, line: usize) -> WatchedCall {
        let calls = self.calls.entry(line).or_default();
        *calls = calls.wrapping_add(1);
        let wants_profile = *calls <= FIRST_CALLS || calls.is_multiple_of(LATER_CALLS);
        CURRENT.set(Some(self.observer.clone_ref(python)));
        let has_profile = wants_profile && !is_profiled(python);
        if has_profile {
            // SAFETY: the lock is held, and the function has the right type and lives forever.
            unsafe { ffi::PyEval_SetProfile(Some(on_profile_event), std::ptr::null_mut()) };
        }
        WatchedCall { has_profile }
    }

    /// Returns what was found: names and places, such as `time.time` in `clock.py`, line 7.
    pub(crate) fn found(&self, python: Python<'_>) -> PyResult<Vec<(String, String, usize)>> {
        let found = self.observer.bind(python).getattr("found")?;
        found.try_iter()?.map(|one| one?.extract()).collect()
    }
}

impl Drop for WatchedCall {
    fn drop(&mut self) {
        if self.has_profile {
            // SAFETY: the lock is held: this ends a call of code under test.
            unsafe { ffi::PyEval_SetProfile(None, std::ptr::null_mut()) };
        }
        let observer = CURRENT.take();
        drop(observer);
    }
}

/// Returns true if code under test has set a profiling function of its own.
fn is_profiled(python: Python<'_>) -> bool {
    let profile = python
        .import(pyo3::intern!(python, "sys"))
        .and_then(|sys| sys.call_method0(pyo3::intern!(python, "getprofile")));
    !profile.is_ok_and(|profile| profile.is_none())
}

/// Tells the observer about an effect.
fn note(python: Python<'_>, name: &str) {
    let observer =
        CURRENT.with_borrow(|current| current.as_ref().map(|observer| observer.clone_ref(python)));
    let Some(observer) = observer else { return };
    IS_NOTING.set(true);
    // An exception of the code that is observed is put aside meanwhile.
    let raised = PyErr::take(python);
    let _less_is_known = observer.call_method1(python, "note", (name,));
    if let Some(raised) = raised {
        raised.restore(python);
    }
    IS_NOTING.set(false);
}

/// The signature of an audit hook in C.
type AuditHook = unsafe extern "C" fn(*const c_char, *mut ffi::PyObject, *mut c_void) -> c_int;

unsafe extern "C" {
    fn PySys_AddAuditHook(hook: AuditHook, data: *mut c_void) -> c_int;
}

/// Installs the audit hook, once per process: it cannot be removed.
fn install_audit_hook() {
    static ONCE: Once = Once::new();
    // SAFETY: the lock is held, and the function has the right type and lives forever.
    ONCE.call_once(|| unsafe {
        if PySys_AddAuditHook(on_audit_event, std::ptr::null_mut()) != 0 {
            ffi::PyErr_Clear();
        }
    });
}

/// Returns true if nothing is observed in this thread at the moment.
fn is_idle() -> bool {
    IS_NOTING.get() || CURRENT.with_borrow(Option::is_none)
}

/// Notes an audit event.
unsafe extern "C" fn on_audit_event(
    name: *const c_char,
    _arguments: *mut ffi::PyObject,
    _data: *mut c_void,
) -> c_int {
    // No panic may cross into C.
    let _ = std::panic::catch_unwind(|| {
        if is_idle() {
            return;
        }
        // SAFETY: the interpreter passes the name, a string that lives as long as the call.
        let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
        if EVENTS.iter().any(|event| name.starts_with(event)) {
            Python::attach(|python| note(python, name));
        }
    });
    0
}

/// Notes a call of a function in C that matters.
extern "C" fn on_profile_event(
    _argument: *mut ffi::PyObject,
    _frame: *mut ffi::PyFrameObject,
    event: c_int,
    function: *mut ffi::PyObject,
) -> c_int {
    if event != ffi::PyTrace_C_CALL || function.is_null() {
        return 0;
    }
    // No panic may cross into C.
    let _ = std::panic::catch_unwind(|| {
        // SAFETY: the interpreter passes an object that is alive.
        if is_idle() || unsafe { ffi::PyCFunction_Check(function) } == 0 {
            return;
        }
        // SAFETY: the object is a function in C, so it has this layout. Its definition stays where it is.
        let definition = unsafe { (*function.cast::<ffi::PyCFunctionObject>()).m_ml } as usize;
        let known = NAMES.with_borrow(|names| names.get(&definition).cloned());
        // SAFETY: the interpreter calls this with the lock held.
        let python = unsafe { Python::assume_attached() };
        let name = known.unwrap_or_else(|| {
            // SAFETY: as above.
            let function = unsafe { Bound::from_borrowed_ptr(python, function) };
            let name = name_of(&function);
            NAMES.with_borrow_mut(|names| names.insert(definition, name.clone()));
            name
        });
        if let Some(name) = name {
            note(python, &name);
        }
    });
    0
}

/// Returns the name of a function in C that may look or act outside; `None` for others.
fn name_of(function: &Bound<'_, PyAny>) -> Option<String> {
    let python = function.py();
    let observer = CURRENT.with_borrow(|current| {
        current
            .as_ref()
            .map(|observer| observer.bind(python).clone())
    })?;
    IS_NOTING.set(true);
    let name = observer.call_method1("name", (function,));
    IS_NOTING.set(false);
    name.ok()?.extract().ok().flatten()
}
