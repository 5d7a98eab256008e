//! Functions by the combination of textual alternatives they serve.

use rustc_hash::FxHashMap;

/// A table from keys to values. Mostly there is one key, 0, and nothing is to be looked up then.
pub(crate) struct ByKey<T> {
    first: Option<T>,
    others: Option<Box<FxHashMap<u64, T>>>,
}

impl<T> Default for ByKey<T> {
    fn default() -> ByKey<T> {
        ByKey {
            first: None,
            others: None,
        }
    }
}

impl<T> ByKey<T> {
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<&T> {
        match key {
            0 => self.first.as_ref(),
            _ => self.others.as_ref()?.get(&key),
        }
    }

    pub(crate) fn insert(&mut self, key: u64, value: T) {
        match key {
            0 => self.first = Some(value),
            _ => {
                self.others.get_or_insert_default().insert(key, value);
            }
        }
    }
}
