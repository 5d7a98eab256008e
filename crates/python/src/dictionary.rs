//! Detection of changes to a dictionary without looking at its entries.

use pyo3::ffi;

/// Returns the version of a dictionary: a number that changes with every modification. `None` from
/// Python 3.14 on, which has no versions.
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
