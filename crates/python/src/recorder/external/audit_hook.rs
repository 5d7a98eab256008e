//! An audit hook for interactions that bypass all wrapped functions.
//!
//! The interpreter raises audit events for some of its operations. They do not include results. But
//! if an operation was not recorded otherwise, the recording of the call can state that something
//! is missing. An audit hook cannot be removed, so it is installed once, and costs next to nothing
//! while nothing is recorded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use pyo3::ffi;
use pyo3::prelude::*;

use super::super::calls;
use super::super::with_recorder;
use super::DEPTH;

/// Audit events that show an interaction with the outside, sorted.
const AUDITED_EVENTS: [&str; 22] = [
    "ctypes.dlopen",
    "ftplib.connect",
    "mmap.__new__",
    "os.chdir",
    "os.chmod",
    "os.exec",
    "os.link",
    "os.mkdir",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.spawn",
    "os.symlink",
    "os.system",
    "os.truncate",
    "smtplib.connect",
    "socket.bind",
    "socket.connect",
    "socket.sendto",
    "sqlite3.connect",
    "subprocess.Popen",
];

/// The signature of an audit hook in C.
type AuditHook = unsafe extern "C" fn(*const c_char, *mut ffi::PyObject, *mut c_void) -> c_int;

unsafe extern "C" {
    fn PySys_AddAuditHook(hook: AuditHook, data: *mut c_void) -> c_int;
}

/// Installs the audit hook, once per process.
pub(in crate::recorder) fn install_audit_hook(_python: Python<'_>) {
    static ONCE: Once = Once::new();
    // SAFETY: the lock is held, and the function has the right type and lives forever.
    ONCE.call_once(|| unsafe {
        if PySys_AddAuditHook(on_audit_event, std::ptr::null_mut()) != 0 {
            ffi::PyErr_Clear();
        }
    });
}

/// Notes an audit event as uncaptured in all calls being recorded in this thread.
unsafe extern "C" fn on_audit_event(
    name: *const c_char,
    _arguments: *mut ffi::PyObject,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the interpreter passes the name, a string that lives as long as the call.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if DEPTH.get() == 0 && AUDITED_EVENTS.binary_search(&name).is_ok() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(|| {
            Python::attach(|python| {
                with_recorder(python, |recorder| {
                    let thread = recorder.threads.get_mut(&calls::thread_id());
                    for active in thread.into_iter().flat_map(|thread| &mut thread.stack) {
                        let known = &mut active.call.uncaptured;
                        if !known.iter().any(|known| known == name) {
                            known.push(name.to_owned());
                        }
                    }
                })
            })
        });
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_can_be_searched() {
        assert!(AUDITED_EVENTS.is_sorted());
    }
}
