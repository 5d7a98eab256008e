//! Lists of numbers by key, without a heap allocation for each list.

/// A list of numbers for each key. All lists are stored one after the other, each in the order of
/// its items.
#[derive(Debug)]
pub(super) struct Lists {
    /// For each key, the end of its list in `items`, shifted by one.
    ends: Vec<u32>,
    /// Items, grouped by key.
    all_items: Vec<u32>,
}

impl Lists {
    /// Groups the items by their keys, which are below `keys`.
    pub(super) fn new(keys: usize, items: impl Iterator<Item = (u32, u32)> + Clone) -> Lists {
        let mut ends = vec![0u32; keys + 1];
        for (key, _) in items.clone() {
            ends[key as usize + 1] += 1;
        }
        for key in 1..ends.len() {
            ends[key] += ends[key - 1];
        }
        let mut next = ends.clone();
        let mut sorted = vec![0u32; next.last().map_or(0, |all| *all as usize)];
        for (key, item) in items {
            let position = &mut next[key as usize];
            sorted[*position as usize] = item;
            *position += 1;
        }
        Lists {
            ends,
            all_items: sorted,
        }
    }

    /// Returns the items of a key.
    pub(super) fn items(&self, key: u32) -> &[u32] {
        let key = key as usize;
        &self.all_items[self.ends[key] as usize..self.ends[key + 1] as usize]
    }
}
