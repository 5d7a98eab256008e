//! A file mapped as words that several processes read and write: a word by which its creator
//! controls the process that opens it, then a header of a few words, then a ring buffer.
#![allow(
    unsafe_code,
    reason = "mapped memory is reached through a pointer; nothing but this file does so"
)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};

/// The number of words before the ring.
pub(crate) const HEADER_WORDS: usize = 8;

/// The part that a process has in shared words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It has created the file, and may write to the control word.
    Creator,
    /// It has opened the file, and may only read the control word.
    Opener,
}

/// The bytes of the control word and the padding after it: a whole page, on machines with large
/// pages, too. So it can be mapped in another way than the rest.
pub(crate) const CONTROL_BYTES: usize = 64 << 10;

/// The words of a mapped file.
///
/// The methods take no index that could be out of bounds, so logging a step needs no check.
#[derive(Debug)]
pub(crate) struct SharedWords {
    /// The mapping of the control word. Only the creator can write to it: in a process that opens
    /// the file, a wild write of code under test ends the process.
    control: MmapRaw,
    /// The mapping of the rest of the file.
    map: MmapRaw,
    /// The length of the ring minus one. The length is a power of two: dividing by any other number
    /// would take longer than the rest of logging a step.
    mask: usize,
}

impl SharedWords {
    /// Returns the file size in bytes for a ring of at least this many words.
    pub(crate) fn file_size(ring: usize) -> u64 {
        let ring = ring.max(1).next_power_of_two();
        (CONTROL_BYTES + (HEADER_WORDS + ring) * size_of::<AtomicU64>()) as u64
    }

    /// Creates words in anonymous memory that cannot be made shorter. A process that reads beyond
    /// the end of a shortened file would be killed.
    pub(crate) fn in_memory(ring: usize) -> io::Result<(SharedWords, File)> {
        #[cfg(target_os = "linux")]
        let file = {
            use rustix::fs::{MemfdFlags, memfd_create};
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            File::from(memfd_create("testwright-log", flags)?)
        };
        #[cfg(not(target_os = "linux"))]
        let file = tempfile::tempfile()?;
        file.set_len(SharedWords::file_size(ring))?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{SealFlags, fcntl_add_seals};
            let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
            fcntl_add_seals(&file, seals)?;
        }
        let words = SharedWords::map_file(&file, Role::Creator)?;
        let words = words.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((words, file))
    }

    /// Maps a file. Returns `None` if it is too short for a ring.
    pub(crate) fn map_file(file: &File, role: Role) -> io::Result<Option<SharedWords>> {
        let length = usize::try_from(file.metadata()?.len()).unwrap_or(usize::MAX);
        let words = length.saturating_sub(CONTROL_BYTES) / size_of::<AtomicU64>();
        let Some(log) = words.saturating_sub(HEADER_WORDS).checked_ilog2() else {
            return Ok(None);
        };
        let mut control = MmapOptions::new();
        control.len(CONTROL_BYTES);
        let control = match role {
            Role::Creator => control.map_raw(file)?,
            Role::Opener => control.map_raw_read_only(file)?,
        };
        let mut rest = MmapOptions::new();
        rest.offset(CONTROL_BYTES as u64)
            .len(length - CONTROL_BYTES);
        Ok(Some(SharedWords {
            control,
            map: rest.map_raw(file)?,
            mask: (1 << log) - 1,
        }))
    }

    /// Returns the control word. Only the creator may write to it.
    #[inline]
    pub(crate) fn control(&self) -> &AtomicU64 {
        // SAFETY: the mapping has `CONTROL_BYTES` bytes and begins at a page. The rest is as below.
        // Loads of an `AtomicU64` do not write, so a mapping that can only be read is enough for
        // them.
        unsafe { &*self.control.as_ptr().cast::<AtomicU64>() }
    }

    /// Returns the number of words in the ring.
    pub(crate) fn ring_len(&self) -> usize {
        self.mask + 1
    }

    /// Returns a word of the header.
    #[inline]
    pub(crate) fn header<const INDEX: usize>(&self) -> &AtomicU64 {
        const { assert!(INDEX < HEADER_WORDS) };
        // SAFETY: the file has all words of the header, as `map_file` made sure. The rest is as
        // below.
        unsafe { &*self.map.as_ptr().cast::<AtomicU64>().add(INDEX) }
    }

    /// Returns a word of the ring. The index wraps around.
    #[inline]
    pub(crate) fn ring(&self, index: u64) -> &AtomicU64 {
        let index = HEADER_WORDS + (index as usize & self.mask);
        // SAFETY: the mapping begins at a page, so every word is aligned; `map_file` chose the mask
        // such that the index is within it, and it lives as long as `self`. Other processes may
        // change the memory at any time, which is what atomics are for. A file that is made shorter
        // by another process would take the memory away; only this crate opens it, and it has no
        // name.
        unsafe { &*self.map.as_ptr().cast::<AtomicU64>().add(index) }
    }
}
