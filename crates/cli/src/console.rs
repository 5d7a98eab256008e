//! The console: results go to standard output, everything else goes to standard error.
//!
//! [`Console::out`] and [`Console::err`] write lines. [`Console::status`] and [`Console::panel`]
//! redraw lines in place at the foot of a terminal; every other line appears above them.

mod block;
mod screen;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use testwright_core::{Error, describe_os_error};

use crate::render::Renderer;
use crate::{ExitStatus, columns};
use block::LiveBlock;

pub use screen::{Screen, Size};

/// The capabilities of the terminal that the output goes to.
#[derive(Clone, Copy, Default)]
pub struct Terminal<'a> {
    /// True if standard error is a terminal, so that lines of progress can be redrawn there.
    pub live: bool,
    /// The screen that these lines are drawn on.
    pub screen: Option<&'a dyn Screen>,
    /// The number of characters that fit into a line.
    pub width: usize,
    /// True if `width` was read from a screen and is not the default.
    pub width_is_known: bool,
    /// True if standard output understands colors.
    pub colour_out: bool,
    /// True if standard error understands colors.
    pub colour_err: bool,
}

impl<'a> Terminal<'a> {
    /// The width for files, pipes and terminals that do not report theirs.
    const DEFAULT_WIDTH: usize = 100;

    /// Detects the capabilities from the streams and the environment (`NO_COLOR`, `TERM`). A stream
    /// may be closed.
    pub fn detect(out: Option<&File>, err: Option<&'a File>) -> Terminal<'a> {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let colour = !set("NO_COLOR") && !dumb;
        let screen = err.filter(|err| err.is_terminal());
        let width = screen.and_then(Screen::size).map(|size| size.columns);
        Terminal {
            live: screen.is_some() && !dumb,
            screen: screen.map(|screen| screen as &dyn Screen),
            width: width
                .filter(|width| *width >= 20)
                .unwrap_or(Terminal::DEFAULT_WIDTH),
            width_is_known: screen.is_some(),
            colour_out: colour && out.is_some_and(File::is_terminal),
            colour_err: colour && screen.is_some(),
        }
    }

    /// Returns a terminal without colors or live lines, as for a file.
    pub fn plain() -> Terminal<'a> {
        Terminal {
            width: Terminal::DEFAULT_WIDTH,
            ..Terminal::default()
        }
    }
}

/// A way to highlight words on a terminal.
#[derive(Clone, Copy)]
pub(crate) enum TextStyle {
    /// A heading or a name.
    Bold,
    /// A test that passes, or other good news.
    Success,
    /// A test that fails, or other bad news.
    Failure,
    /// Something of minor importance.
    Dim,
    /// A drawing, such as a progress bar or a curve.
    Accent,
    /// Something that is not bad yet but deserves attention.
    Warning,
}

impl TextStyle {
    /// Returns the parameters of the ANSI escape code (`\\x1b[…m`).
    fn code(self) -> &'static str {
        match self {
            TextStyle::Bold => "1",
            TextStyle::Success => "1;32",
            TextStyle::Failure => "1;31",
            TextStyle::Dim => "2",
            TextStyle::Accent => "36",
            TextStyle::Warning => "33",
        }
    }

    /// Wraps words in the codes of this style, or leaves them alone without `colour`.
    pub(crate) fn paint(self, words: impl Display, colour: bool) -> String {
        if colour {
            format!("\x1b[{}m{words}\x1b[0m", self.code())
        } else {
            words.to_string()
        }
    }
}

/// A function that finds better errors than the one that ends a command, if there are any.
pub(crate) type ErrorFinder = Box<dyn Fn() -> Vec<Error>>;

/// The two output streams. Writing never fails here: a closed pipe means that the reader wants no
/// more, and any other error of standard output is reported once, at the end.
pub(crate) struct Console<'a> {
    /// The stream for results, buffered.
    out: BufWriter<&'a mut dyn Write>,
    /// The stream for everything else, unbuffered.
    err: &'a mut dyn Write,
    terminal: Terminal<'a>,
    /// The first error of standard output. Nothing more is written there after it.
    out_error: Option<io::Error>,
    /// True while lines of the result are dropped.
    is_quiet: bool,
    /// The lines that are redrawn in place at the moment.
    block: LiveBlock,
    /// The time of the last drawing.
    drawn: Option<Instant>,
    /// The lines to be printed later, if output is held back.
    held: Option<Vec<HeldLine>>,
    /// Finds the errors that are shown instead of the one that ends the command.
    error_finder: Option<ErrorFinder>,
}

/// A line that is held back.
enum HeldLine {
    /// A line for standard output.
    Out(String),
    /// A line for standard error.
    Err(String),
}

impl<'a> Console<'a> {
    /// Creates a console that writes to these streams.
    pub(crate) fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        terminal: Terminal<'a>,
    ) -> Self {
        Console {
            out: BufWriter::new(out),
            err,
            terminal,
            out_error: None,
            is_quiet: false,
            block: LiveBlock::default(),
            drawn: None,
            held: None,
            error_finder: None,
        }
    }

    /// Runs `work` and prints its lines only when it has ended. Lines that are redrawn in place are
    /// shown at once all the same.
    pub(crate) fn hold_output<R>(&mut self, work: impl FnOnce(&mut Console<'_>) -> R) -> R {
        let mut nothing = io::sink();
        let mut inner = Console::new(&mut nothing, &mut *self.err, self.terminal);
        inner.held = Some(Vec::new());
        let result = work(&mut inner);
        inner.clear_status();
        let held = inner.held.take();
        drop(inner);
        for line in held.into_iter().flatten() {
            match line {
                HeldLine::Out(line) => self.out(line),
                HeldLine::Err(line) => self.err(line),
            }
        }
        result
    }

    /// Returns the maximum width of a table. Files and pipes have no limit.
    pub(crate) fn table_width(&self) -> usize {
        if self.terminal.width_is_known {
            self.terminal.width
        } else {
            usize::MAX
        }
    }

    /// Returns the number of characters that fit into a line.
    pub(crate) fn width(&self) -> usize {
        self.terminal.width
    }

    /// Returns true if standard output understands colors.
    pub(crate) fn colour_out(&self) -> bool {
        self.terminal.colour_out
    }

    /// Returns true if standard error understands colors.
    pub(crate) fn colour_err(&self) -> bool {
        self.terminal.colour_err
    }

    /// Returns the setting for clap, which knows only one for both streams.
    pub(crate) fn colour_choice(&self) -> clap::ColorChoice {
        if self.colour_out() || self.colour_err() {
            clap::ColorChoice::Always
        } else {
            clap::ColorChoice::Never
        }
    }

    /// Writes a line of the result to standard output.
    pub(crate) fn out(&mut self, line: impl Display) {
        if self.is_quiet {
            return;
        }
        self.clear_status();
        if let Some(held) = &mut self.held {
            held.push(HeldLine::Out(line.to_string()));
        } else if self.out_error.is_none() {
            self.out_error = writeln!(self.out, "{line}").err();
        }
    }

    /// Writes a line to standard error, above the status.
    pub(crate) fn err(&mut self, line: impl Display) {
        self.clear_status();
        if let Some(held) = &mut self.held {
            held.push(HeldLine::Err(line.to_string()));
            return;
        }
        self.flush();
        // An error of standard error cannot be reported anywhere.
        let _ = writeln!(self.err, "{line}");
    }

    /// Drops all lines of the result while `yes`, for commands that print JSON instead.
    pub(crate) fn set_quiet(&mut self, yes: bool) {
        self.is_quiet = yes;
    }

    /// Writes a line of the result even while the console is quiet, and flushes it.
    pub(crate) fn out_always(&mut self, line: impl Display) {
        let was_quiet = std::mem::take(&mut self.is_quiet);
        self.out(line);
        self.is_quiet = was_quiet;
        self.flush();
    }

    /// Prints an error with its advice.
    pub(crate) fn error(&mut self, error: &Error) {
        let text = self.renderer().error(error);
        self.err(text);
    }

    /// Sets the function that finds better errors than the one that ends the command.
    pub(crate) fn set_error_finder(&mut self, finder: ErrorFinder) {
        self.error_finder = Some(finder);
    }

    /// Returns the errors to show instead of the one that ends the command, if there are any.
    pub(crate) fn find_better_errors(&self) -> Vec<Error> {
        self.error_finder
            .as_ref()
            .map_or_else(Vec::new, |find| find())
    }

    /// Prints a warning: the work was done, but not as it should be.
    pub(crate) fn warning(&mut self, message: &str, help: Option<&str>) {
        let text = self.renderer().warning(message, help);
        self.err(text);
    }

    /// Returns a renderer for problems in texts, with the width and the colors of standard error.
    pub(crate) fn renderer(&self) -> Renderer {
        Renderer::new(self.terminal.width, self.colour_err())
    }

    /// Highlights words for [`out`](Console::out) where standard output understands colors.
    pub(crate) fn paint(&self, style: TextStyle, words: impl Display) -> String {
        style.paint(words, self.colour_out())
    }

    /// Returns true once standard output has failed: the rest of a long list need not be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.out_error.is_some()
    }

    /// Returns true if a status can be shown.
    pub(crate) fn is_live(&self) -> bool {
        self.terminal.live
    }

    /// Redraws the status line, at most ten times a second; does nothing without a terminal.
    pub(crate) fn status(&mut self, words: impl FnOnce() -> String) {
        self.panel(|room| {
            let words = words();
            let words = columns::escape_control(&words);
            vec![columns::truncate(&words, room.columns).into_owned()]
        });
    }

    /// Redraws several status lines, at most ten times a second; does nothing without a terminal.
    ///
    /// `lines` is given the available size. Its lines may contain nothing but text and colors.
    pub(crate) fn panel(&mut self, lines: impl FnOnce(Size) -> Vec<String>) {
        const PAUSE: Duration = Duration::from_millis(100);
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE);
        if !self.terminal.live || !due {
            return;
        }
        self.flush();
        let screen = self.screen_size();
        let lines = lines(LiveBlock::usable_size(screen));
        let codes = self.block.redraw(&lines, screen);
        self.draw(&codes);
        self.drawn = Some(Instant::now());
    }

    /// Removes the status lines from the screen.
    pub(crate) fn clear_status(&mut self) {
        let screen = self.screen_size();
        if let Some(codes) = self.block.clear(screen) {
            self.draw(&codes);
        }
    }

    /// Writes codes in one piece, so that no other output comes between them. Errors are ignored:
    /// there is no other stream to report them on.
    fn draw(&mut self, codes: &str) {
        let _ = self.err.write_all(codes.as_bytes());
        let _ = self.err.flush();
    }

    /// Returns the current size of the screen, or the default if it is not known.
    fn screen_size(&self) -> Size {
        let screen = self.terminal.screen;
        screen.and_then(Screen::size).unwrap_or(Size::DEFAULT)
    }

    /// Flushes standard output.
    pub(crate) fn flush(&mut self) {
        if self.out_error.is_none() {
            self.out_error = self.out.flush().err();
        }
    }

    /// Removes the status and flushes everything.
    ///
    /// Returns `status`, or an error if results could not be written. A closed pipe is no error.
    pub(crate) fn finish(mut self, status: ExitStatus) -> ExitStatus {
        self.check_output(status)
    }

    /// Does the work of [`finish`](Console::finish), for a process that leaves the console to
    /// another one.
    pub(crate) fn check_output(&mut self, status: ExitStatus) -> ExitStatus {
        self.clear_status();
        self.flush();
        match self.out_error.take() {
            Some(error) if error.kind() != ErrorKind::BrokenPipe => {
                self.error(&Error::new(format!(
                    "cannot write to standard output: {}",
                    describe_os_error(&error)
                )));
                ExitStatus::Error
            }
            _ => status,
        }
    }
}
