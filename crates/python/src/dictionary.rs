//! How to tell that a dictionary was not touched without looking at what is in it.

use pyo3::ffi;

/// A number that the interpreter gives a dictionary anew whenever it changes, where it has one (up to 3.13).
///
/// # Safety
///
/// The object must be a dictionary, and alive.
#[inline]
pub(crate) unsafe fn version(dictionary: *mut ffi::PyObject) -> Option<u64> {
    #[cfg(not(Py_3_14))]
    {
        #[allow(
            deprecated,
            reason = "the versions in which it is missing are excluded"
        )]
        // SAFETY: the object is a dictionary, as the caller says, so it has this layout.
        Some(unsafe { (*dictionary.cast::<ffi::PyDictObject>()).ma_version_tag })
    }
    #[cfg(Py_3_14)]
    {
        let _has_none = dictionary;
        None
    }
}
