//! Where the words go: results to standard output, everything else to standard error.

mod block;
mod screen;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, IsTerminal, Write};
use std::time::{Duration, Instant};

use testwright_core::Error;

use crate::render::Renderer;
use crate::{ExitStatus, columns};
use block::Block;

pub use screen::{Screen, Size};

/// What is known about the place the words go to.
#[derive(Clone, Copy, Default)]
pub struct Terminal<'a> {
    /// Somebody watches standard error, so lines of progress may be redrawn there.
    pub live: bool,
    /// What they are redrawn on.
    pub screen: Option<&'a dyn Screen>,
    /// How many characters fit into a line.
    pub width: usize,
    /// That is so because there is a screen.
    pub width_is_known: bool,
    /// Standard output understands colours.
    pub colour_out: bool,
    /// Standard error understands colours.
    pub colour_err: bool,
}

impl<'a> Terminal<'a> {
    /// The width for files, pipes and terminals that do not tell theirs.
    const USUAL_WIDTH: usize = 100;

    /// What follows from which streams are terminals and from the environment (`NO_COLOR`, `TERM`). A stream may be
    /// closed.
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
                .unwrap_or(Terminal::USUAL_WIDTH),
            width_is_known: screen.is_some(),
            colour_out: colour && out.is_some_and(File::is_terminal),
            colour_err: colour && screen.is_some(),
        }
    }

    /// Neither colours nor a live line, as in a file.
    pub fn plain() -> Terminal<'a> {
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
    /// What is drawn rather than written.
    Accent,
    /// Not bad yet, but worth a look.
    Wary,
}

impl Look {
    fn code(self) -> &'static str {
        match self {
            Look::Strong => "1",
            Look::Good => "1;32",
            Look::Bad => "1;31",
            Look::Quiet => "2",
            Look::Accent => "36",
            Look::Wary => "33",
        }
    }

    /// Words that stand out where there are colours.
    pub(crate) fn paint(self, words: impl Display, colour: bool) -> String {
        if colour {
            format!("\x1b[{}m{words}\x1b[0m", self.code())
        } else {
            words.to_string()
        }
    }
}

/// The two streams. Writing never fails here: who closed the pipe does not want to hear more, and any other
/// trouble with standard output is told once, at the end.
pub(crate) struct Console<'a> {
    out: BufWriter<&'a mut dyn Write>,
    err: &'a mut dyn Write,
    terminal: Terminal<'a>,
    out_trouble: Option<io::Error>,
    /// Results are not said for now.
    is_quiet: bool,
    /// What is redrawn in place at the moment.
    block: Block,
    /// When it was drawn last.
    drawn: Option<Instant>,
    /// What is to be heard later, if it is not to be heard now.
    held: Option<Vec<Held>>,
}

/// A line that waits.
enum Held {
    /// Of the result.
    Said(String),
    /// Beside it.
    Told(String),
}

impl<'a> Console<'a> {
    pub(crate) fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        terminal: Terminal<'a>,
    ) -> Self {
        Console {
            out: BufWriter::new(out),
            err,
            terminal,
            out_trouble: None,
            is_quiet: false,
            block: Block::default(),
            drawn: None,
            held: None,
        }
    }

    /// Does some work whose words are heard only when it is over: until then it may come to nothing. What is redrawn in
    /// place is seen all the same.
    pub(crate) fn holding<R>(&mut self, work: impl FnOnce(&mut Console<'_>) -> R) -> R {
        let mut nothing = io::sink();
        let mut inner = Console::new(&mut nothing, &mut *self.err, self.terminal);
        inner.held = Some(Vec::new());
        let result = work(&mut inner);
        inner.clear_status();
        let held = inner.held.take();
        drop(inner);
        for line in held.into_iter().flatten() {
            match line {
                Held::Said(line) => self.say(line),
                Held::Told(line) => self.tell(line),
            }
        }
        result
    }

    /// How wide a table may be. Files and pipes take all of it.
    pub(crate) fn table_width(&self) -> usize {
        if self.terminal.width_is_known {
            self.terminal.width
        } else {
            usize::MAX
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
        if let Some(held) = &mut self.held {
            held.push(Held::Said(line.to_string()));
        } else if self.out_trouble.is_none() {
            self.out_trouble = writeln!(self.out, "{line}").err();
        }
    }

    /// A line beside the result.
    pub(crate) fn tell(&mut self, line: impl Display) {
        self.clear_status();
        if let Some(held) = &mut self.held {
            held.push(Held::Told(line.to_string()));
            return;
        }
        self.flush();
        // Nobody is left to tell if this fails.
        let _ = writeln!(self.err, "{line}");
    }

    /// Says no results from now on, for those who want them in another form.
    pub(crate) fn keep_quiet(&mut self, yes: bool) {
        self.is_quiet = yes;
    }

    /// A line of the result in that other form, at once.
    pub(crate) fn hand_out(&mut self, line: impl Display) {
        let was_quiet = std::mem::take(&mut self.is_quiet);
        self.say(line);
        self.is_quiet = was_quiet;
        self.flush();
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
        look.paint(words, self.colour_out())
    }

    /// True once nobody reads standard output any more: the rest of a long list need not be made.
    pub(crate) fn is_closed(&self) -> bool {
        self.out_trouble.is_some()
    }

    /// Whether a status can be shown.
    pub(crate) fn is_live(&self) -> bool {
        self.terminal.live
    }

    /// Redraws the status line, at most ten times a second; nothing without a terminal.
    pub(crate) fn status(&mut self, words: impl FnOnce() -> String) {
        self.panel(|room| {
            let words = words();
            let words = columns::harmless(&words);
            vec![columns::cut(&words, room.columns).into_owned()]
        });
    }

    /// The same for lines that fit into a room. Nothing but text and colours may be in them.
    pub(crate) fn panel(&mut self, lines: impl FnOnce(Size) -> Vec<String>) {
        const PAUSE: Duration = Duration::from_millis(100);
        let due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= PAUSE);
        if !self.terminal.live || !due {
            return;
        }
        self.flush();
        let screen = self.screen_size();
        let lines = lines(Block::room(screen));
        let codes = self.block.redraw(&lines, screen);
        self.draw(&codes);
        self.drawn = Some(Instant::now());
    }

    /// Takes the status away, be it a line or several.
    pub(crate) fn clear_status(&mut self) {
        let screen = self.screen_size();
        if let Some(codes) = self.block.clear(screen) {
            self.draw(&codes);
        }
    }

    /// In one piece, so that nothing comes between. Nobody is left to tell if this fails.
    fn draw(&mut self, codes: &str) {
        let _ = self.err.write_all(codes.as_bytes());
        let _ = self.err.flush();
    }

    fn screen_size(&self) -> Size {
        let screen = self.terminal.screen;
        screen.and_then(Screen::size).unwrap_or(Size::USUAL)
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
