//! A file as words of memory that several processes read and write.
#![allow(
    unsafe_code,
    reason = "mapped memory is reached through a pointer; nothing but this file does so"
)]

use std::fs::File;
use std::io;
use std::sync::atomic::AtomicU64;

use memmap2::MmapRaw;

/// The words of a file, mapped.
#[derive(Debug)]
pub(super) struct Words {
    map: MmapRaw,
    count: usize,
}

impl Words {
    pub(super) fn of(file: &File) -> io::Result<Words> {
        let map = MmapRaw::map_raw(file)?;
        let count = map.len() / size_of::<AtomicU64>();
        Ok(Words { map, count })
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The word at an index, which must be below the number of words.
    #[inline]
    pub(super) fn at(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.count, "a word of the log");
        // SAFETY: the mapping begins at a page, so every word is aligned; the index is within it, and it lives as long
        // as `self`. Other processes may change the memory at any time, which is what atomics are for. A file that is
        // made shorter by another process would take the memory away; only this crate opens it, and it has no name.
        unsafe { &*self.map.as_ptr().cast::<AtomicU64>().add(index) }
    }
}
