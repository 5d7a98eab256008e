//! Passing open files to another process over a Unix socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The maximum number of descriptors in one message.
const MAX_DESCRIPTORS: usize = 4;

/// Sends descriptors to the other process. They travel with one byte, since a socket cannot
/// transfer descriptors without data.
pub(crate) fn send_descriptors(
    connection: &UnixStream,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    if !message.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many files at once"));
    }
    sendmsg(
        connection,
        &[IoSlice::new(&[0])],
        &mut message,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Receives exactly `COUNT` descriptors. They are closed on `exec`, so programs that this process
/// starts do not inherit them.
pub(crate) fn receive_descriptors<const COUNT: usize>(
    connection: &UnixStream,
) -> io::Result<[OwnedFd; COUNT]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        connection,
        &mut [IoSliceMut::new(&mut byte)],
        &mut message,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut descriptors = Vec::new();
    for part in message.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = part {
            descriptors.extend(files);
        }
    }
    descriptors
        .try_into()
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "files are missing"))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn a_received_descriptor_is_the_same_file() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut one, two) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        send_descriptors(&here, &[one.as_fd(), two.as_fd()]).unwrap();
        let [first, _second] = receive_descriptors::<2>(&there).unwrap();
        File::from(first).write_all(b"hello").unwrap();
        let mut text = String::new();
        one.rewind().unwrap();
        one.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello");
    }

    #[test]
    fn fewer_than_expected_is_an_error() {
        let (here, there) = UnixStream::pair().unwrap();
        let file = tempfile::tempfile().unwrap();
        send_descriptors(&here, &[file.as_fd()]).unwrap();
        assert!(receive_descriptors::<2>(&there).is_err());
        drop(here);
        assert!(receive_descriptors::<1>(&there).is_err(), "nobody is there");
    }
}
