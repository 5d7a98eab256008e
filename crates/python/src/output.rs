//! Where the output of the system under test goes.
//!
//! Redirection is done on file descriptors, so that it also covers C code and child processes. The tool's own
//! messages go to duplicates of the original descriptors, made before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use testwright_core::Error;

/// What becomes of what the system under test prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// It is shown where the tool itself writes.
    Show,
    /// It is kept, to be asked for.
    Capture,
    /// It is thrown away.
    #[default]
    Drop,
}

const STANDARD: [RawFd; 3] = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO];

/// The output of models, or of anything else that prints in this process, in our hands.
pub struct Printed(Redirection);

impl Printed {
    /// From now on, and until this is dropped.
    pub fn start(output: Output) -> Result<Printed, Error> {
        Redirection::start(output)
            .map(Printed)
            .map_err(unredirected)
    }

    /// Changes what becomes of it.
    pub fn set(&mut self, output: Output) -> Result<(), Error> {
        self.0.set(output).map_err(unredirected)
    }

    /// What was captured since the last call.
    pub fn take(&mut self) -> String {
        self.0.take()
    }
}

/// That output cannot be redirected.
pub(crate) fn unredirected(error: io::Error) -> Error {
    Error::new(format!("cannot redirect the output: {error}"))
}

/// The standard descriptors while a system under test owns them; dropping it gives them back.
pub(crate) struct Redirection {
    originals: [Option<OwnedFd>; 3],
    nothing: File,
    captured: Option<File>,
    output: Output,
}

impl Redirection {
    /// Hands the standard descriptors to the system under test. Its input is always empty: a test that waits
    /// for a person would wait for ever.
    pub(crate) fn start(output: Output) -> io::Result<Redirection> {
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let originals = STANDARD.map(duplicate);
        let mut redirection = Redirection {
            originals,
            nothing,
            captured: None,
            output,
        };
        redirection.set(output)?;
        Ok(redirection)
    }

    /// The standard output and error that the process was started with.
    pub(crate) fn originals(&self) -> io::Result<(File, File)> {
        let original = |descriptor: RawFd| match &self.originals[descriptor as usize] {
            Some(original) => Ok(File::from(original.try_clone()?)),
            None => self.nothing.try_clone(),
        };
        Ok((
            original(libc::STDOUT_FILENO)?,
            original(libc::STDERR_FILENO)?,
        ))
    }

    /// Changes what becomes of the output from now on.
    pub(crate) fn set(&mut self, output: Output) -> io::Result<()> {
        self.output = output;
        if output == Output::Capture && self.captured.is_none() {
            self.captured = Some(temporary_file()?);
        }
        self.renew();
        Ok(())
    }

    /// Puts the descriptors in place again, whatever the system did to them.
    pub(crate) fn renew(&self) {
        let nothing = self.nothing.as_raw_fd();
        replace(nothing, libc::STDIN_FILENO);
        for standard in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            let target = match self.output {
                Output::Show => self.originals[standard as usize]
                    .as_ref()
                    .map_or(nothing, AsRawFd::as_raw_fd),
                Output::Capture => self.captured.as_ref().map_or(nothing, AsRawFd::as_raw_fd),
                Output::Drop => nothing,
            };
            replace(target, standard);
        }
    }

    /// What was captured since the last call.
    pub(crate) fn take(&mut self) -> String {
        let mut bytes = Vec::new();
        if let Some(file) = &mut self.captured {
            let read = file
                .seek(SeekFrom::Start(0))
                .and_then(|_| file.read_to_end(&mut bytes));
            let emptied = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0)));
            if read.is_err() || emptied.is_err() {
                bytes.extend_from_slice(b"(the captured output could not be read)\n");
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Redirection {
    fn drop(&mut self) {
        for (original, standard) in self.originals.iter().zip(STANDARD) {
            if let Some(original) = original {
                replace(original.as_raw_fd(), standard);
            }
        }
    }
}

/// A copy of a descriptor that child processes do not inherit; `None` if it is not open.
fn duplicate(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: fcntl on any number is defined; a failure is reported as -1.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: the descriptor was just made, so nobody else owns it.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

fn replace(source: RawFd, target: RawFd) {
    // SAFETY: both are descriptors that this module owns or the standard ones, which live as long as the process.
    // A failure leaves the target as it was, which is the best that can be had.
    unsafe { libc::dup2(source, target) };
}

/// A file without a name that grows with what is written to it, whoever writes.
fn temporary_file() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("testwright-output-{}", std::process::id()));
    let file = File::options()
        .read(true)
        .append(true)
        .create(true)
        .open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}
