//! Errors that are neither failures of the system nor mistakes in the user's text.

use std::fmt;

/// The work cannot continue: the system cannot be set up, or breaks the laws of
/// [`System`](crate::System).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The message: a lower-case phrase without a full stop.
    pub message: String,
    /// Advice on what to do about it, if there is any.
    pub help: Option<String>,
}

impl Error {
    /// Creates an error without advice.
    pub fn new(message: impl Into<String>) -> Error {
        Error {
            message: message.into(),
            help: None,
        }
    }

    /// Adds advice to the error.
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
