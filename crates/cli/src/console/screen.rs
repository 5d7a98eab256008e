//! The screen that shows standard error.

use std::fs::File;

/// A screen with a size. The size is read at every drawing because the window may have changed.
pub trait Screen {
    /// Returns the current size, if it is known.
    fn size(&self) -> Option<Size>;
}

/// The size of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// The number of characters of usual width in a line.
    pub columns: usize,
    /// The number of lines.
    pub rows: usize,
}

impl Size {
    /// The size for screens that do not report theirs.
    pub(crate) const DEFAULT: Size = Size {
        columns: 80,
        rows: 24,
    };
}

/// Asks the terminal behind an open file, if it is one.
impl Screen for File {
    #[cfg(unix)]
    fn size(&self) -> Option<Size> {
        let size = rustix::termios::tcgetwinsize(self).ok()?;
        let (columns, rows) = (size.ws_col.into(), size.ws_row.into());
        // Some terminals, for instance those of build servers, report a size of zero.
        (columns > 0 && rows > 0).then_some(Size { columns, rows })
    }

    #[cfg(not(unix))]
    fn size(&self) -> Option<Size> {
        None
    }
}
