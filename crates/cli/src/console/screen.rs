//! The screen that standard error is shown on.

use std::fs::File;

/// A screen. It is asked for its size whenever something is drawn, for its window may be smaller than a moment ago.
pub trait Screen {
    /// How much fits, if the screen knows.
    fn size(&self) -> Option<Size>;
}

/// How much fits on a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters of usual width in a line.
    pub columns: usize,
    /// Lines.
    pub rows: usize,
}

impl Size {
    /// For screens that do not know theirs.
    pub(crate) const USUAL: Size = Size {
        columns: 80,
        rows: 24,
    };
}

/// The terminal that an open file is, if it is one.
impl Screen for File {
    #[cfg(unix)]
    fn size(&self) -> Option<Size> {
        let size = rustix::termios::tcgetwinsize(self).ok()?;
        let (columns, rows) = (size.ws_col.into(), size.ws_row.into());
        // Some terminals, those of build servers among them, say that they have no room at all.
        (columns > 0 && rows > 0).then_some(Size { columns, rows })
    }

    #[cfg(not(unix))]
    fn size(&self) -> Option<Size> {
        None
    }
}
