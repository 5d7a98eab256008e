//! A file as words of memory that several processes read and write: a few with a meaning of their own, then a ring.
#![allow(
    unsafe_code,
    reason = "mapped memory is reached through a pointer; nothing but this file does so"
)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

/// How many words stand before the ring.
pub(crate) const HEADER: usize = 8;

/// The words of a file, mapped.
///
/// The methods take no index that could be out of bounds, so that writing a step down needs no check.
#[derive(Debug)]
pub(crate) struct Words {
    map: MmapRaw,
    /// The length of the ring less one, and that length is a power of two: dividing by any other number would take
    /// longer than all the rest of writing a step down.
    mask: usize,
}

impl Words {
    /// How many bytes a file needs for a ring of at least this many words.
    pub(crate) fn bytes(ring: usize) -> u64 {
        let ring = ring.max(1).next_power_of_two();
        ((HEADER + ring) * size_of::<AtomicU64>()) as u64
    }

    /// Words of memory that has no name, and that nobody can make shorter: who reads what is not there any more dies of
    /// it.
    pub(crate) fn in_memory(ring: usize) -> io::Result<(Words, File)> {
        #[cfg(target_os = "linux")]
        let file = {
            use rustix::fs::{MemfdFlags, memfd_create};
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            File::from(memfd_create("testwright-log", flags)?)
        };
        #[cfg(not(target_os = "linux"))]
        let file = tempfile::tempfile()?;
        file.set_len(Words::bytes(ring))?;
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{SealFlags, fcntl_add_seals};
            let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
            fcntl_add_seals(&file, seals)?;
        }
        let words = Words::of(&file)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok((words, file))
    }

    /// Nothing, if the file is too short for a ring.
    pub(crate) fn of(file: &File) -> io::Result<Option<Words>> {
        let map = MmapRaw::map_raw(file)?;
        let words = map.len() / size_of::<AtomicU64>();
        let ring = words.saturating_sub(HEADER).checked_ilog2();
        Ok(ring.map(|log| Words {
            map,
            mask: (1 << log) - 1,
        }))
    }

    /// How many words the ring has.
    pub(crate) fn ring_len(&self) -> usize {
        self.mask + 1
    }

    /// A word before the ring.
    #[inline]
    pub(crate) fn header<const INDEX: usize>(&self) -> &AtomicU64 {
        const { assert!(INDEX < HEADER) };
        // SAFETY: the file has all words of the header, as `of` made sure. The rest is as below.
        unsafe { &*self.map.as_ptr().cast::<AtomicU64>().add(INDEX) }
    }

    /// A word of the ring, which goes round.
    #[inline]
    pub(crate) fn ring(&self, index: u64) -> &AtomicU64 {
        let index = HEADER + (index as usize & self.mask);
        // SAFETY: the mapping begins at a page, so every word is aligned; `of` chose the mask such that the index is
        // within it, and it lives as long as `self`. Other processes may change the memory at any time, which is what
        // atomics are for. A file that is made shorter by another process would take the memory away; only this crate
        // opens it, and it has no name.
        unsafe { &*self.map.as_ptr().cast::<AtomicU64>().add(index) }
    }
}
