//! What can go wrong: only writing.

use std::fmt;
use std::path::{Path, PathBuf};

/// A report could not be written. What was there before is untouched.
#[derive(Debug)]
pub struct Error {
    /// The file or folder that was to be written.
    pub path: PathBuf,
    /// Why it was not.
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
