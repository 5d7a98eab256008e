//! Lines of a log that may still be written: a file, a pipe, or standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::thread;
use std::time::Duration;

use testwright_core::Error;

/// Maximum number of lines that are read ahead.
const MAX_AHEAD: usize = 1024;

/// Interval at which a wait for a line is interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The lines of a log, as they come.
pub(crate) struct LogStream {
    /// The name of the log in messages.
    pub(crate) name: String,
    lines: Receiver<io::Result<Vec<u8>>>,
}

/// The next line of a log.
pub(crate) enum NextLine {
    /// A line without its end.
    Line(Vec<u8>),
    /// There is no line yet.
    NotYet,
    /// The log has ended.
    End,
}

impl LogStream {
    /// Opens a log; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<LogStream, Error> {
        let (name, source): (String, Box<dyn Read + Send>) = if path == Path::new("-") {
            ("standard input".to_owned(), Box::new(io::stdin()))
        } else {
            let name = path.display().to_string();
            let file = File::open(path)
                .map_err(|error| Error::new(format!("cannot read `{name}`: {error}")))?;
            (name, Box::new(file))
        };
        let (send, lines) = sync_channel(MAX_AHEAD);
        // A blocked read would not notice Ctrl-C.
        thread::spawn(move || {
            let mut source = BufReader::new(source);
            loop {
                let mut line = Vec::new();
                let read = source.read_until(b'\n', &mut line);
                let is_end = matches!(read, Ok(0) | Err(_));
                if let Err(error) = read {
                    let _reader_is_gone = send.send(Err(error));
                } else if !is_end && send.send(Ok(line)).is_err() {
                    return;
                }
                if is_end {
                    return;
                }
            }
        });
        Ok(LogStream { name, lines })
    }

    /// Returns the next line if it was read already.
    pub(crate) fn try_next(&self) -> Result<NextLine, Error> {
        match self.lines.try_recv() {
            Ok(line) => self.line(line),
            Err(TryRecvError::Empty) => Ok(NextLine::NotYet),
            Err(TryRecvError::Disconnected) => Ok(NextLine::End),
        }
    }

    /// Waits for the next line, but only for a moment.
    pub(crate) fn wait(&self) -> Result<NextLine, Error> {
        match self.lines.recv_timeout(POLL_INTERVAL) {
            Ok(line) => self.line(line),
            Err(RecvTimeoutError::Timeout) => Ok(NextLine::NotYet),
            Err(RecvTimeoutError::Disconnected) => Ok(NextLine::End),
        }
    }

    /// Returns a line, or the error of reading it.
    fn line(&self, line: io::Result<Vec<u8>>) -> Result<NextLine, Error> {
        line.map(NextLine::Line)
            .map_err(|error| Error::new(format!("cannot read `{}`: {error}", self.name)))
    }
}
