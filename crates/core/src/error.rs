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

/// Describes an error of the operating system for people: in lower case and without its number.
pub fn describe_os_error(error: &impl fmt::Display) -> String {
    let text = error.to_string();
    let text = match text.split_once(" (os error ") {
        Some((before, after)) => {
            let after = after.split_once(')').map_or("", |(_, after)| after);
            format!("{before}{after}")
        }
        None => text,
    };
    let mut letters = text.chars();
    letters
        .next()
        .map(|first| first.to_lowercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_operating_system_have_no_number() {
        let described = |text: &str| describe_os_error(&text);
        assert_eq!(described("File too large (os error 27)"), "file too large");
        assert_eq!(
            described("Is a directory (os error 21) at path \"/x\""),
            "is a directory at path \"/x\""
        );
        assert_eq!(described("Äh"), "äh");
        assert_eq!(described(""), "");
    }
}
