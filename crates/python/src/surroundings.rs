//! Noticing whether a system under test has changed its process.
//!
//! `support.py` knows how to put everything back, and takes its time: there are signal handlers to set and a hundred
//! and fifty builtins to compare. Most systems touch nothing of it in most tests. So this looks first, and runs no
//! Python for it.

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
use crate::imprint::Imprint;

const SIGNALS: [c_int; 2] = [libc::SIGINT, libc::SIGTERM];

/// The process as it was right after it was put back.
pub(crate) struct Surroundings<'py> {
    builtins: Imprint,
    system: Bound<'py, PyDict>,
    /// `sys.modules`, with at least this many entries.
    modules: (Bound<'py, PyDict>, usize),
    /// A module that is there if any is.
    warnings: Bound<'py, PyAny>,
    /// Standard input, output and error, by their names in `sys`.
    streams: Vec<(Bound<'py, PyString>, Bound<'py, PyAny>)>,
    recursion_limit: c_int,
    directory: CString,
    signals: Option<Signals<'py>>,
}

impl<'py> Surroundings<'py> {
    /// Remembers the process as it is now. `signals` tells on which descriptor signals are announced, if anywhere;
    /// `None` if signals are somebody else's business.
    pub(crate) fn new(
        python: Python<'py>,
        directory: &Path,
        signals: Option<Option<c_int>>,
    ) -> PyResult<Surroundings<'py>> {
        let system: Bound<'py, PyDict> = python.import("sys")?.getattr("__dict__")?.cast_into()?;
        let modules: Bound<'py, PyDict> = system.as_any().get_item("modules")?.cast_into()?;
        let builtins = python
            .import("builtins")?
            .getattr("__dict__")?
            .cast_into()?;
        let mut surroundings = Surroundings {
            builtins: Imprint::of_entries(&builtins),
            modules: (modules.clone(), modules.len()),
            warnings: python.import("warnings")?.into_any(),
            streams: Vec::new(),
            // SAFETY: needs nothing but the interpreter.
            recursion_limit: unsafe { ffi::Py_GetRecursionLimit() },
            directory: CString::new(directory.as_os_str().as_bytes())?,
            signals: signals
                .map(|announced_on| Signals::new(python, announced_on))
                .transpose()?,
            system,
        };
        surroundings.renew_streams()?;
        Ok(surroundings)
    }

    /// Another directory is the one to be in.
    pub(crate) fn set_directory(&mut self, directory: &Path) -> PyResult<()> {
        self.directory = CString::new(directory.as_os_str().as_bytes())?;
        Ok(())
    }

    /// Streams that were closed have been replaced.
    pub(crate) fn renew_streams(&mut self) -> PyResult<()> {
        self.streams.clear();
        for name in ["stdin", "stdout", "stderr"] {
            let name = PyString::intern(self.system.py(), name);
            let stream = self.system.as_any().get_item(&name)?;
            self.streams.push((name, stream));
        }
        Ok(())
    }

    /// Whether everything that a system may have changed is as it was. The current directory is put back at once.
    pub(crate) fn are_unchanged(&self) -> bool {
        // SAFETY: needs nothing but the interpreter.
        let recursion_limit = unsafe { ffi::Py_GetRecursionLimit() };
        self.is_in_directory()
            && recursion_limit == self.recursion_limit
            && self.builtins.is_unchanged(self.system.py())
            && self.modules_are_there()
            && self.streams_are_open()
            && self.signals.as_ref().is_none_or(Signals::are_unchanged)
    }

    /// Asks first, which takes half the time: there is no path to follow.
    fn is_in_directory(&self) -> bool {
        let mut current = [MaybeUninit::<c_char>::uninit(); libc::PATH_MAX as usize];
        let start = current.as_mut_ptr().cast();
        // SAFETY: the buffer is as long as is said. The answer is null, or there is a text in it that ends with a null byte.
        let is_there = unsafe {
            !libc::getcwd(start, current.len()).is_null()
                && CStr::from_ptr(start) == self.directory.as_c_str()
        };
        // SAFETY: the path is a text that ends with a null byte.
        is_there || unsafe { libc::chdir(self.directory.as_ptr()) } == 0
    }

    fn modules_are_there(&self) -> bool {
        let python = self.system.py();
        let (modules, count) = &self.modules;
        holds(&self.system, pyo3::intern!(python, "modules"), modules)
            && modules.len() >= *count
            && holds(modules, pyo3::intern!(python, "warnings"), &self.warnings)
    }

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

/// Whether a dictionary has this very object under this name.
fn holds(
    dictionary: &Bound<'_, PyDict>,
    name: &Bound<'_, PyString>,
    object: &Bound<'_, PyAny>,
) -> bool {
    matches!(dictionary.get_item(name), Ok(Some(found)) if found.is(object))
}

/// The signals that ask the process to end, and who is told of them.
struct Signals<'py> {
    /// How to be told of them at once, if anybody wants to know.
    announce: Option<Announce<'py>>,
    get_handler: Bound<'py, PyAny>,
    /// The number of each, and its handler.
    handlers: Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>,
}

impl<'py> Signals<'py> {
    fn new(python: Python<'py>, announced_on: Option<c_int>) -> PyResult<Signals<'py>> {
        // The module behind `signal`, whose functions do not wrap their answers.
        let module = python.import("_signal")?;
        let get_handler = module.getattr("getsignal")?;
        let mut handlers = Vec::new();
        for signal in SIGNALS {
            let number = signal.into_pyobject(python)?.into_any();
            let handler = get_handler.call1((&number,))?;
            handlers.push((number, handler));
        }
        let announce = match announced_on {
            Some(descriptor) => Some(Announce::new(&module, descriptor)?),
            None => None,
        };
        Ok(Signals {
            announce,
            get_handler,
            handlers,
        })
    }

    fn are_unchanged(&self) -> bool {
        let is_set = |(number, handler): &(Bound<'py, PyAny>, Bound<'py, PyAny>)| {
            call::call(&self.get_handler, std::slice::from_ref(number))
                .is_ok_and(|found| found.is(handler))
        };
        self.handlers.iter().all(is_set)
            && self.announce.as_ref().is_none_or(Announce::is_unchanged)
    }
}

/// How signals reach the tool, past the interpreter.
///
/// Asking costs several calls of the operating system. No test can notice the difference, only a person who wants to
/// stop, so it is done now and then.
struct Announce<'py> {
    set_descriptor: Bound<'py, PyAny>,
    descriptor: Bound<'py, PyAny>,
    options: Bound<'py, PyDict>,
    /// The functions that the operating system calls.
    addresses: [libc::sighandler_t; 2],
    looked: Cell<Instant>,
}

impl<'py> Announce<'py> {
    fn new(module: &Bound<'py, PyModule>, descriptor: c_int) -> PyResult<Announce<'py>> {
        let python = module.py();
        let options = PyDict::new(python);
        options.set_item("warn_on_full_buffer", false)?;
        Ok(Announce {
            set_descriptor: module.getattr("set_wakeup_fd")?,
            descriptor: descriptor.into_pyobject(python)?.into_any(),
            options,
            addresses: SIGNALS.map(handler_address),
            looked: Cell::new(Instant::now()),
        })
    }

    /// A person does not notice that stopping takes so much longer.
    const NOW_AND_THEN: Duration = Duration::from_millis(100);

    fn is_unchanged(&self) -> bool {
        if self.looked.get().elapsed() < Announce::NOW_AND_THEN {
            return true;
        }
        self.looked.set(Instant::now());
        let before = self
            .set_descriptor
            .call((&self.descriptor,), Some(&self.options));
        before.is_ok_and(|before| before.eq(&self.descriptor).unwrap_or(false))
            && SIGNALS.map(handler_address) == self.addresses
    }
}

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
