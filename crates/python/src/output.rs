//! Redirection of the output of the system under test.
//!
//! Redirection works on file descriptors, so it also covers C code and child processes. The tool's
//! own messages go to duplicates of the original descriptors, made before.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use testwright_core::{Error, describe_os_error};

/// The handling of output that the system under test prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputMode {
    /// Print it where the tool itself writes.
    Show,
    /// Keep it for later requests.
    Capture,
    /// Discard it.
    #[default]
    Drop,
}

/// The standard descriptors, in numerical order.
const STANDARD: [RawFd; 3] = [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO];

/// Control over everything that is printed in this process, for example by models. Dropping it ends
/// the redirection.
pub struct OutputCapture(Redirection);

impl OutputCapture {
    /// Starts the redirection.
    pub fn start(output: OutputMode) -> Result<OutputCapture, Error> {
        Redirection::start(output)
            .map(OutputCapture)
            .map_err(redirect_error)
    }

    /// Changes the handling of output.
    pub fn set(&mut self, output: OutputMode) -> Result<(), Error> {
        self.0.set(output).map_err(redirect_error)
    }

    /// Takes the output captured since the last call.
    pub fn take(&mut self) -> String {
        self.0.take()
    }
}

/// Returns the error for output that cannot be redirected.
pub(crate) fn redirect_error(error: io::Error) -> Error {
    Error::new(format!(
        "cannot redirect the output: {}",
        describe_os_error(&error)
    ))
}

/// The standard descriptors while a system under test owns them. Dropping it restores them.
pub(crate) struct Redirection {
    /// Duplicates of the descriptors before the redirection; `None` for one that was closed.
    originals: [Option<OwnedFd>; 3],
    /// `/dev/null`.
    null: File,
    /// The file for captured output, if any was captured.
    captured: Option<File>,
    /// The current handling.
    output: OutputMode,
}

impl Redirection {
    /// Redirects the standard descriptors for the system under test. Its input is always empty: a
    /// test that waits for a user would wait forever.
    pub(crate) fn start(output: OutputMode) -> io::Result<Redirection> {
        let null = File::options().read(true).write(true).open("/dev/null")?;
        let originals = STANDARD.map(duplicate);
        let mut redirection = Redirection {
            originals,
            null,
            captured: None,
            output,
        };
        redirection.set(output)?;
        Ok(redirection)
    }

    /// Returns the standard output and error that the process was started with.
    pub(crate) fn originals(&self) -> io::Result<(File, File)> {
        let original = |descriptor: RawFd| match &self.originals[descriptor as usize] {
            Some(original) => Ok(File::from(original.try_clone()?)),
            None => self.null.try_clone(),
        };
        Ok((
            original(libc::STDOUT_FILENO)?,
            original(libc::STDERR_FILENO)?,
        ))
    }

    /// Changes the handling of output from now on.
    pub(crate) fn set(&mut self, output: OutputMode) -> io::Result<()> {
        self.output = output;
        if output == OutputMode::Capture && self.captured.is_none() {
            self.captured = Some(temporary_file()?);
        }
        self.reapply();
        Ok(())
    }

    /// Sets the descriptors again, whatever the system did to them.
    pub(crate) fn reapply(&self) {
        let null = self.null.as_raw_fd();
        replace(null, libc::STDIN_FILENO);
        for standard in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
            let target = match self.output {
                OutputMode::Show => self.originals[standard as usize]
                    .as_ref()
                    .map_or(null, AsRawFd::as_raw_fd),
                OutputMode::Capture => self.captured.as_ref().map_or(null, AsRawFd::as_raw_fd),
                OutputMode::Drop => null,
            };
            replace(target, standard);
        }
    }

    /// Takes the output captured since the last call.
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

/// Duplicates a descriptor such that child processes do not inherit it. `None` if it is not open.
fn duplicate(descriptor: RawFd) -> Option<OwnedFd> {
    // SAFETY: fcntl on any number is defined; a failure is reported as -1.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: the descriptor was just made, so it has no other owner.
    (copy >= 0).then(|| unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Makes `target` refer to the same file as `source`.
fn replace(source: RawFd, target: RawFd) {
    // SAFETY: both are descriptors that this module owns or the standard ones, which live as long
    // as the process. A failure leaves the target as it was, which is the best that can be had.
    unsafe { libc::dup2(source, target) };
}

/// Opens an anonymous temporary file in append mode, for several writers. It is deleted when
/// closed.
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
