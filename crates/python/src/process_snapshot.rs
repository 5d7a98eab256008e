//! Detection of changes that a system under test made to its process.
//!
//! `support.py` can restore everything but takes time: there are signal handlers to set and a
//! hundred and fifty builtins to compare. Most systems change nothing in most tests. So this code
//! checks first, and runs no Python for it.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyModule, PyString};

use crate::call;
use crate::module_snapshot::ModuleSnapshot;

/// The signals that ask a process to end.
const SIGNALS: [c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// The state of the process right after it was restored.
pub(crate) struct ProcessSnapshot<'py> {
    /// The entries of `builtins`.
    builtins: ModuleSnapshot,
    /// The namespace of `sys`.
    system: Bound<'py, PyDict>,
    /// `sys.modules` and its number of entries.
    modules: (Bound<'py, PyDict>, usize),
    /// The module `warnings`, as a sample: if it is still there, `sys.modules` was not cleared.
    warnings: Bound<'py, PyAny>,
    /// Standard input, output and error, by their names in `sys`.
    streams: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
    /// The recursion limit.
    recursion_limit: c_int,
    /// The current directory.
    directory: CString,
    /// Signal handlers, if the tool has set them.
    signals: Option<SignalHandlers<'py>>,
}

impl<'py> ProcessSnapshot<'py> {
    /// Records the current state. `signals` has the descriptor on which signals are announced, if
    /// any; it is `None` if the tool does not handle signals.
    pub(crate) fn new(
        python: Python<'py>,
        directory: &Path,
        signals: Option<Option<c_int>>,
    ) -> PyResult<ProcessSnapshot<'py>> {
        let system: Bound<'py, PyDict> = python.import("sys")?.getattr("__dict__")?.cast_into()?;
        let modules: Bound<'py, PyDict> = system.as_any().get_item("modules")?.cast_into()?;
        let builtins = python
            .import("builtins")?
            .getattr("__dict__")?
            .cast_into()?;
        let mut snapshot = ProcessSnapshot {
            builtins: ModuleSnapshot::from_entries(&builtins),
            modules: (modules.clone(), modules.len()),
            warnings: python.import("warnings")?.into_any(),
            streams: Vec::new(),
            // SAFETY: needs nothing but the interpreter.
            recursion_limit: unsafe { ffi::Py_GetRecursionLimit() },
            directory: CString::new(directory.as_os_str().as_bytes())?,
            signals: signals
                .map(|descriptor| SignalHandlers::new(python, descriptor))
                .transpose()?,
            system,
        };
        snapshot.renew_streams()?;
        Ok(snapshot)
    }

    /// Sets the directory that must be the current one.
    pub(crate) fn set_directory(&mut self, directory: &Path) -> PyResult<()> {
        self.directory = CString::new(directory.as_os_str().as_bytes())?;
        Ok(())
    }

    /// Records the standard streams again after closed ones were replaced.
    pub(crate) fn renew_streams(&mut self) -> PyResult<()> {
        self.streams.clear();
        for name in ["stdin", "stdout", "stderr"] {
            let name = PyString::intern(self.system.py(), name);
            let stream = self.system.as_any().get_item(&name)?;
            self.streams.push((name, stream));
        }
        Ok(())
    }

    /// Returns true if nothing that a system may change has changed. A changed directory is
    /// restored at once.
    pub(crate) fn is_unchanged(&self) -> bool {
        // SAFETY: needs nothing but the interpreter.
        let recursion_limit = unsafe { ffi::Py_GetRecursionLimit() };
        self.is_in_directory()
            && recursion_limit == self.recursion_limit
            && self.builtins.is_unchanged(self.system.py())
            && self.modules_are_there()
            && self.streams_are_open()
            && self
                .signals
                .as_ref()
                .is_none_or(SignalHandlers::is_unchanged)
    }

    /// Returns true if the process is in its directory, after changing to it if necessary. Asking
    /// first takes half the time, because there is no path to follow.
    fn is_in_directory(&self) -> bool {
        let mut current = [MaybeUninit::<c_char>::uninit(); libc::PATH_MAX as usize];
        let start = current.as_mut_ptr().cast();
        // SAFETY: the buffer is as long as is said. The answer is null, or there is a text in it
        // that ends with a null byte.
        let is_there = unsafe {
            !libc::getcwd(start, current.len()).is_null()
                && CStr::from_ptr(start) == self.directory.as_c_str()
        };
        // SAFETY: the path is a text that ends with a null byte.
        is_there || unsafe { libc::chdir(self.directory.as_ptr()) } == 0
    }

    /// Returns true if `sys.modules` was neither replaced nor cleared.
    fn modules_are_there(&self) -> bool {
        let python = self.system.py();
        let (modules, count) = &self.modules;
        holds(&self.system, pyo3::intern!(python, "modules"), modules)
            && modules.len() >= *count
            && holds(modules, pyo3::intern!(python, "warnings"), &self.warnings)
    }

    /// Returns true if the standard streams are the same and open.
    fn streams_are_open(&self) -> bool {
        let closed = pyo3::intern!(self.system.py(), "closed");
        let is_open = |stream: &Bound<'py, PyAny>| {
            stream
                .getattr(closed)
                .is_ok_and(|closed| !closed.is_truthy().unwrap_or(true))
        };
        self.streams
            .iter()
            .all(|(name, stream)| holds(&self.system, name, stream) && is_open(stream))
    }
}

/// Returns true if a dictionary has this very object under this name.
fn holds(
    dictionary: &Bound<'_, PyDict>,
    name: &Bound<'_, PyString>,
    object: &Bound<'_, PyAny>,
) -> bool {
    matches!(dictionary.get_item(name), Ok(Some(found)) if found.is(object))
}

/// The handlers of the signals that ask the process to end.
struct SignalHandlers<'py> {
    /// The wake-up descriptor, if signals are announced on one.
    wakeup: Option<WakeupDescriptor<'py>>,
    /// The function `signal.getsignal`.
    get_handler: Bound<'py, PyAny>,
    /// The number of each signal and its handler.
    handlers: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'py> SignalHandlers<'py> {
    fn new(python: Python<'py>, descriptor: Option<c_int>) -> PyResult<SignalHandlers<'py>> {
        // The module behind `signal`, whose functions do not convert their results to enums.
        let module = python.import("_signal")?;
        let get_handler = module.getattr("getsignal")?;
        let mut handlers = Vec::new();
        for signal in SIGNALS {
            let number = signal.into_pyobject(python)?.into_any();
            let handler = get_handler.call1((&number,))?;
            handlers.push((number, handler));
        }
        let wakeup = match descriptor {
            Some(descriptor) => Some(WakeupDescriptor::new(&module, descriptor)?),
            None => None,
        };
        Ok(SignalHandlers {
            wakeup,
            get_handler,
            handlers,
        })
    }

    /// Returns true if all handlers are still set.
    fn is_unchanged(&self) -> bool {
        let is_set = |(number, handler): &(Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            call::call(&self.get_handler, std::slice::from_ref(number))
                .is_ok_and(|found| found.is(handler))
        };
        self.handlers.iter().all(is_set)
            && self
                .wakeup
                .as_ref()
                .is_none_or(WakeupDescriptor::is_unchanged)
    }
}

/// The wake-up descriptor by which signals reach the tool, independent of Python code.
///
/// Checking it costs several system calls. No test can notice a difference, only a user who wants
/// to stop, so it is checked now and then.
struct WakeupDescriptor<'py> {
    /// The function `signal.set_wakeup_fd`.
    set_descriptor: Bound<'py, PyAny>,
    /// The descriptor.
    descriptor: Bound<'py, PyAny>,
    /// Keyword arguments for setting it.
    options: Bound<'py, PyDict>,
    /// The handlers that the operating system calls.
    addresses: [libc::sighandler_t; 2],
    /// The time of the last check.
    last_check: Cell<Instant>,
}

impl<'py> WakeupDescriptor<'py> {
    fn new(module: &Bound<'py, PyModule>, descriptor: c_int) -> PyResult<WakeupDescriptor<'py>> {
        let python = module.py();
        let options = PyDict::new(python);
        options.set_item("warn_on_full_buffer", false)?;
        Ok(WakeupDescriptor {
            set_descriptor: module.getattr("set_wakeup_fd")?,
            descriptor: descriptor.into_pyobject(python)?.into_any(),
            options,
            addresses: SIGNALS.map(handler_address),
            last_check: Cell::new(Instant::now()),
        })
    }

    /// The time between two checks. A user does not notice that stopping takes this much longer.
    const CHECK_INTERVAL: Duration = Duration::from_millis(100);

    /// Returns true if descriptor and handlers are still set, as far as checked.
    fn is_unchanged(&self) -> bool {
        if self.last_check.get().elapsed() < WakeupDescriptor::CHECK_INTERVAL {
            return true;
        }
        self.last_check.set(Instant::now());
        let before = self
            .set_descriptor
            .call((&self.descriptor,), Some(&self.options));
        before.is_ok_and(|before| before.eq(&self.descriptor).unwrap_or(false))
            && SIGNALS.map(handler_address) == self.addresses
    }
}

/// Returns the address of the handler that the operating system calls for a signal.
fn handler_address(signal: c_int) -> libc::sighandler_t {
    let mut action = MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: asking without setting; the structure is read only if it was written.
    unsafe {
        if libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0 {
            action.assume_init().sa_sigaction
        } else {
            libc::SIG_ERR
        }
    }
}
