//! A connection that notices when it is not the same any more.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;

/// A connection of a worker. Code under test can close it, and open something else in its place; then nothing is read from
/// that or written to it.
#[derive(Debug)]
pub struct Connected<C> {
    connection: C,
    identity: Option<(u64, u64)>,
}

/// What tells one open file from another.
fn identity(file: &impl AsFd) -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(file).ok()?;
    Some((stat.st_dev, stat.st_ino))
}

impl<C: AsFd> Connected<C> {
    /// As it is now.
    pub fn new(connection: C) -> Connected<C> {
        let identity = identity(&connection);
        Connected {
            connection,
            identity,
        }
    }

    /// Whether it is the one that it was.
    pub fn is_whole(&self) -> bool {
        identity(&self.connection) == self.identity
    }

    fn make_sure(&self) -> io::Result<()> {
        if self.is_whole() {
            Ok(())
        } else {
            Err(io::ErrorKind::NotConnected.into())
        }
    }
}

impl<C: AsFd + Read> Read for Connected<C> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.make_sure()?;
        self.connection.read(buffer)
    }
}

impl<C: AsFd + Write> Write for Connected<C> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.make_sure()?;
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
        let mut connected = Connected::new(here.try_clone().unwrap());
        connected.write_all(b"hello").unwrap();
        connected.connection =
            UnixStream::from(std::os::fd::OwnedFd::from(File::open("/dev/null").unwrap()));
        assert!(!connected.is_whole());
        let error = connected.write_all(b"hello").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotConnected);
    }
}
