//! Where the words go: results to standard output, everything else to standard error.

use std::fmt::Display;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::time::{Duration, Instant};

use testwright_core::Error;

use crate::ExitStatus;
use crate::render::Renderer;

/// What is known about the place the words go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Somebody watches standard error, so a line of progress may be redrawn there.
    pub live: bool,
    /// How many characters fit into a line.
    pub width: usize,
    /// That is so because there is a screen of that width.
    pub width_is_known: bool,
    /// Standard output understands colours.
    pub colour_out: bool,
    /// Standard error understands colours.
    pub colour_err: bool,
}

impl Terminal {
    /// The width for files, pipes and terminals that do not tell theirs.
    const USUAL_WIDTH: usize = 100;

    /// What follows from which streams are terminals and from the environment (`NO_COLOR`, `TERM`).
    pub fn detect(out_is_terminal: bool, err_is_terminal: bool, width: Option<usize>) -> Terminal {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|name| name == "dumb");
        let colour = !set("NO_COLOR") && !dumb;
        Terminal {
            live: err_is_terminal && !dumb,
            width: width
                .filter(|width| *width >= 20)
                .unwrap_or(Terminal::USUAL_WIDTH),
            width_is_known: width.is_some(),
            colour_out: colour && out_is_terminal,
            colour_err: colour && err_is_terminal,
        }
    }

    /// Neither colours nor a live line, as in a file.
    pub fn plain() -> Terminal {
        Terminal {
            width: Terminal::USUAL_WIDTH,
            ..Terminal::default()
        }
    }
}

/// A way to make words stand out.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    Strong,
    Good,
    Bad,
    Quiet,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Look::Strong => "1",
            Look::Good => "1;32",
            Look::Bad => "1;31",
            Look::Quiet => "2",
        }
    }
}

/// The two streams. Writing never fails here: who closed the pipe does not want to hear more, and any other
/// trouble with standard output is told once, at the end.
pub(crate) struct Console<'a> {
    out: BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    terminal: Terminal,
    out_trouble: Option<io::Error>,
    /// Results are not said for now.
    is_quiet: bool,
    /// A status line is on the screen.
    status_shown: bool,
    status_drawn: Option<Instant>,
}

impl<'a> Console<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, err: &'a mut dyn Write, terminal: Terminal) -> Self {
        Console {
            out: BufWriter::new(out),
            err,
            terminal,
            out_trouble: None,
            is_quiet: false,
            status_shown: false,
            status_drawn: None,
        }
    }

    /// How wide a table may be. Files and pipes take all of it.
    pub(crate) fn table_width(&self) -> usize {
        match self.terminal.width_is_known {
            true => self.terminal.width,
            false => usize::MAX,
        }
    }

    /// How many characters fit into a line.
    pub(crate) fn width(&self) -> usize {
        self.terminal.width
    }

    pub(crate) fn colour_out(&self) -> bool {
        self.terminal.colour_out
    }

    pub(crate) fn colour_err(&self) -> bool {
        self.terminal.colour_err
    }

    pub(crate) fn colour_choice(&self) -> clap::ColorChoice {
        if self.colour_out() || self.colour_err() {
            clap::ColorChoice::Always
        } else {
            clap::ColorChoice::Never
        }
    }

    /// A line of the result.
    pub(crate) fn say(&mut self, line: impl Display) {
        if self.is_quiet {
            return;
        }
        self.clear_status();
        if self.out_trouble.is_none() {
            self.out_trouble = writeln!(self.out, "{line}").err();
        }
    }

    /// A line beside the result.
    pub(crate) fn tell(&mut self, line: impl Display) {
        self.clear_status();
        self.flush();
        // Nobody is left to tell if this fails.
        let _ = writeln!(self.err, "{line}");
    }

    /// Says no results from now on, for those who want them in another form.
    pub(crate) fn keep_quiet(&mut self, yes: bool) {
        self.is_quiet = yes;
    }

    /// Something that could not be done, with advice.
    pub(crate) fn error(&mut self, error: &Error) {
        let text = self.renderer().error(error);
        self.tell(text);
    }

    /// Something that was done, but not as it should be.
    pub(crate) fn warning(&mut self, message: &str, help: Option<&str>) {
        let text = self.renderer().warning(message, help);
        self.tell(text);
    }

    /// Draws problems with texts.
    pub(crate) fn renderer(&self) -> Renderer {
        Renderer::new(self.terminal.width, self.colour_err())
    }

    /// Words for [`say`](Console::say) that stand out on a terminal.
    pub(crate) fn paint(&self, look: Look, words: impl Display) -> String {
        if self.colour_out() {
            format!("\x1b[{}m{words}\x1b[0m", look.code())
        } else {
            words.to_string()
        }
    }

    /// True once nobody reads standard output any more: the rest of a long list need not be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.out_trouble.is_some()
    }

    /// Whether a status line can be shown.
    pub(crate) fn is_live(&self) -> bool {
        self.terminal.live
    }

    /// Redraws the status line, at most ten times a second; nothing without a terminal.
    pub(crate) fn status(&mut self, words: impl FnOnce() -> String) {
        const PAUSE: Duration = Duration::from_millis(100);
        let due = self
            .status_drawn
            .is_none_or(|drawn| drawn.elapsed() >= PAUSE);
        if !self.terminal.live || !due {
            return;
        }
        self.flush();
        let line: String = words().chars().take(self.terminal.width - 1).collect();
        let _ = write!(self.err, "\r\x1b[K{line}");
        let _ = self.err.flush();
        self.status_shown = true;
        self.status_drawn = Some(Instant::now());
    }

    /// Takes the status line away.
    pub(crate) fn clear_status(&mut self) {
        if self.status_shown {
            let _ = write!(self.err, "\r\x1b[K");
            let _ = self.err.flush();
            self.status_shown = false;
        }
    }

    /// Brings everything said so far to its reader.
    pub(crate) fn flush(&mut self) {
        if self.out_trouble.is_none() {
            self.out_trouble = self.out.flush().err();
        }
    }

    /// Ends the conversation. Results that could not be written were not delivered, unless nobody wanted them.
    pub(crate) fn finish(mut self, status: ExitStatus) -> ExitStatus {
        self.clear_status();
        self.flush();
        match self.out_trouble.take() {
            Some(trouble) if trouble.kind() != ErrorKind::BrokenPipe => {
                self.error(&Error::new(format!(
                    "cannot write to standard output: {trouble}"
                )));
                ExitStatus::CouldNot
            }
            _ => status,
        }
    }
}
