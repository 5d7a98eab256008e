//! The error of this crate: a report that cannot be written.

use std::fmt;
use std::path::{Path, PathBuf};

/// A report that could not be written. Existing files are untouched.
#[derive(Debug)]
pub struct Error {
    /// File or folder to be written.
    pub path: PathBuf,
    /// Cause of the failure.
    pub cause: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    pub(crate) fn new(
        path: &Path,
        cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        Error {
            path: path.to_owned(),
            cause: cause.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot write `{}`", self.path.display())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}
