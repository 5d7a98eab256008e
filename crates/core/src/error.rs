//! What can go wrong that is neither the system's fault nor the user's text.

use std::fmt;

/// The work cannot go on: the system cannot be set up, or does not keep the laws of [`System`](crate::System).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// A lower-case phrase without a full stop: what went wrong.
    pub message: String,
    /// What to do about it, if anybody knows.
    pub help: Option<String>,
}

impl Error {
    /// An error without advice.
    pub fn new(message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            help: None,
        }
    }

    /// The same error with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Error {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
