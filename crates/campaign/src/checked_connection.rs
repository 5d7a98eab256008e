//! A connection that detects when its file descriptor was replaced.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

/// A worker's connection to its supervisor. Code under test can close the descriptor and open
/// another file in its place. Reads and writes then fail with [`io::ErrorKind::NotConnected`]
/// instead of using that file.
#[derive(Debug)]
pub struct CheckedConnection<C> {
    /// The descriptor, which code under test may close or replace.
    connection: C,
    /// Device and inode at the start; `None` if they could not be read.
    identity: Option<(u64, u64)>,
}

/// Returns the device and inode of an open file, which tell it apart from any other.
fn identity(file: &impl AsFd) -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(file).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

impl<C: AsFd> CheckedConnection<C> {
    /// Wraps a connection and remembers which file it is.
    pub fn new(connection: C) -> CheckedConnection<C> {
        let identity = identity(&connection);
        CheckedConnection {
            connection,
            identity,
        }
    }

    /// Returns true if the descriptor still refers to the original file.
    pub fn is_intact(&self) -> bool {
        identity(&self.connection) == self.identity
    }

    /// Returns an error if the descriptor refers to another file.
    fn check_identity(&self) -> io::Result<()> {
        if self.is_intact() {
            Ok(())
        } else {
            Err(io::ErrorKind::NotConnected.into())
        }
    }
}

impl<C: AsFd + Read> Read for CheckedConnection<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check_identity()?;
        self.connection.read(buffer)
    }
}

impl<C: AsFd + Write> Write for CheckedConnection<C> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.check_identity()?;
        self.connection.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.connection.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn another_file_in_its_place_is_noticed() {
        let (here, _there) = UnixStream::pair().unwrap();
        let mut connected = CheckedConnection::new(here.try_clone().unwrap());
        connected.write_all(b"hello").unwrap();
        connected.connection =
            UnixStream::from(std::os::fd::OwnedFd::from(File::open("/dev/null").unwrap()));
        assert!(!connected.is_intact());
        let error = connected.write_all(b"hello").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotConnected);
    }
}
