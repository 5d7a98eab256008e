//! A file mapped as words that several processes read and write: a header of a few words, then a
//! ring buffer.
#![allow(
    unsafe_code,
    reason = "mapped memory is reached through a pointer; nothing but this file does so"
)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

/// The number of words before the ring.
pub(crate) const HEADER_WORDS: usize = 8;

/// The words of a mapped file.
///
/// The methods take no index that could be out of bounds, so logging a step needs no check.
#[derive(Debug)]
pub(crate) struct SharedWords {
    /// The mapping of the whole file.
    map: MmapRaw,
    /// The length of the ring minus one. The length is a power of two: dividing by any other number
    /// would take longer than the rest of logging a step.
    mask: usize,
}

impl SharedWords {
    /// Returns the file size in bytes for a ring of at least this many words.
    pub(crate) fn file_size(ring: usize) -> u64 {
        let ring = ring.max(1).next_power_of_two();
        ((HEADER_WORDS + ring) * size_of::<AtomicU64>()) as u64
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
        let words = SharedWords::map_file(&file)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((words, file))
    }

    /// Maps a file. Returns `None` if it is too short for a ring.
    pub(crate) fn map_file(file: &File) -> io::Result<Option<SharedWords>> {
        let map = MmapRaw::map_raw(file)?;
        let words = map.len() / size_of::<AtomicU64>();
        let ring = words.saturating_sub(HEADER_WORDS).checked_ilog2();
        Ok(ring.map(|log| SharedWords {
            map,
            mask: (1 << log) - 1,
        }))
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
