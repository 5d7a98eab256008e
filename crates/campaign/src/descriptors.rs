//! Handing open files to another process.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// At most so many at once.
const MOST: usize = 4;

/// Hands descriptors over. They travel with one byte, since nothing travels alone.
pub(crate) fn hand_over(connection: &UnixStream, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
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

/// Takes over as many descriptors as there are to be; programs that this process starts do not inherit them.
pub(crate) fn take_over<const COUNT: usize>(
    connection: &UnixStream,
) -> io::Result<[OwnedFd; COUNT]> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
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
    fn what_is_handed_over_is_the_same_file() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut one, two) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        hand_over(&here, &[one.as_fd(), two.as_fd()]).unwrap();
        let [first, _second] = take_over::<2>(&there).unwrap();
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
        hand_over(&here, &[file.as_fd()]).unwrap();
        assert!(take_over::<2>(&there).is_err());
        drop(here);
        assert!(take_over::<1>(&there).is_err(), "nobody is there");
    }
}
