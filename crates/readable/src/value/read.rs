//! Reading phrases of values back (3.3).

use super::Value;

/// Why a phrase cannot be read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// How many characters could be read.
    pub position: usize,
    /// What was expected there.
    pub message: String,
}

/// The value that a phrase with its kind (P) stands for.
///
/// # Errors
/// Where and why it cannot be read.
pub fn read(phrase: &str) -> Result<Value, ReadError> {
    let _ = phrase;
    Err(ReadError {
        position: 0,
        message: String::new(),
    })
}

/// The value that bare notation (N) stands for.
///
/// # Errors
/// Where and why it cannot be read.
pub fn read_notation(text: &str) -> Result<Value, ReadError> {
    read(text)
}
