//! A small table from the key of a combination of textual alternatives to its function.

use rustc_hash::FxHashMap;

/// A table from keys to values, optimized for the usual case of a single key, 0.
pub(crate) struct KeyTable<T> {
    /// The value of key 0.
    first: Option<T>,
    /// The values of all other keys.
    others: Option<Box<FxHashMap<u64, T>>>,
}

impl<T> Default for KeyTable<T> {
    fn default() -> KeyTable<T> {
        KeyTable {
            first: None,
            others: None,
        }
    }
}

impl<T> KeyTable<T> {
    /// Returns the value of a key.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        match key {
            0 => self.first.as_ref(),
            _ => self.others.as_ref()?.get(&key),
        }
    }

    /// Sets the value of a key.
    pub(crate) fn insert(&mut self, key: u64, value: T) {
        match key {
            0 => self.first = Some(value),
            _ => {
                self.others.get_or_insert_default().insert(key, value);
            }
        }
    }
}
