//! What happens outside and past everything that is replaced.
//!
//! The interpreter announces some of what it does to whoever listens. That tells nothing of answers, but if nobody
//! noted it otherwise, the recording of a call can say that something is missing. Listening cannot be ended again, so
//! it begins once, and costs next to nothing while nothing is recorded.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Once;

use pyo3::ffi;
use pyo3::prelude::*;

use super::super::calls;
use super::super::with;
use super::DEPTH;

/// Announcements that say that the outside is involved.
const ALARMING: [&str; 22] = [
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

type Hook = unsafe extern "C" fn(*const c_char, *mut ffi::PyObject, *mut c_void) -> c_int;

unsafe extern "C" {
    fn PySys_AddAuditHook(hook: Hook, data: *mut c_void) -> c_int;
}

/// Listens from now on.
pub(in crate::recorder) fn listen(_python: Python<'_>) {
    static ONCE: Once = Once::new();
    // SAFETY: the lock is held, and the function is of the right kind and stays where it is.
    ONCE.call_once(|| unsafe {
        if PySys_AddAuditHook(on_announcement, std::ptr::null_mut()) != 0 {
            ffi::PyErr_Clear();
        }
    });
}

unsafe extern "C" fn on_announcement(
    name: *const c_char,
    _arguments: *mut ffi::PyObject,
    _data: *mut c_void,
) -> c_int {
    // SAFETY: the interpreter gives the name, a text that lives as long as the call.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default();
    if DEPTH.get() == 0 && ALARMING.binary_search(&name).is_ok() {
        // No panic may cross into C.
        let _ = std::panic::catch_unwind(|| {
            Python::attach(|python| {
                with(python, |recorder| {
                    let thread = recorder.threads.get_mut(&calls::thread());
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
        assert!(ALARMING.is_sorted());
    }
}
