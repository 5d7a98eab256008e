//! A set of slots of one pool, optimized for counting and for drawing the k-th member.

/// The number of bits in a word.
const BITS: u32 = u64::BITS;

/// The slots of a pool that are in some state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotSet {
    /// The first slots, which are all that most pools have. They are stored inline and not behind a
    /// pointer: a step looks at several sets, and after code under test ran, every access to
    /// another cache line is slow.
    first: u64,
    /// The remaining slots.
    others: Box<[u64]>,
    /// The number of slots of the pool.
    size: u32,
    /// The number of members.
    count: u32,
}

impl SlotSet {
    /// Returns the empty set for a pool with `size` slots.
    pub(crate) fn empty(size: u32) -> SlotSet {
        let words = size.div_ceil(BITS) as usize;
        SlotSet {
            first: 0,
            others: vec![0; words.saturating_sub(1)].into(),
            size,
            count: 0,
        }
    }

    /// Returns the number of slots of the pool.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// Returns the number of members.
    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// Returns true if a slot is a member.
    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        let word = if slot < BITS {
            self.first
        } else {
            self.others[(slot / BITS) as usize - 1]
        };
        word & (1 << (slot % BITS)) != 0
    }

    /// Adds or removes a slot. Returns true if that changed the set.
    #[inline]
    pub(crate) fn set(&mut self, slot: u32, member: bool) -> bool {
        let word = if slot < BITS {
            &mut self.first
        } else {
            &mut self.others[(slot / BITS) as usize - 1]
        };
        let bit = 1 << (slot % BITS);
        if (*word & bit != 0) == member {
            return false;
        }
        *word ^= bit;
        self.count = if member {
            self.count + 1
        } else {
            self.count - 1
        };
        true
    }

    /// Adds or removes all slots.
    pub(crate) fn set_all(&mut self, member: bool) {
        let word = if member { u64::MAX } else { 0 };
        self.first = word;
        self.others.fill(word);
        self.count = if member { self.size } else { 0 };
        if member && (self.size == 0 || !self.size.is_multiple_of(BITS)) {
            // Bits past the last slot stay zero, or drawing would find them.
            let last = self.others.last_mut().unwrap_or(&mut self.first);
            *last = (1 << (self.size % BITS)) - 1;
        }
    }

    /// Returns the member with this rank in ascending order; `rank` must be below `count`.
    #[inline]
    pub(crate) fn member(&self, rank: u32) -> u32 {
        let (mut rank, mut start, mut word) = (rank, 0, self.first);
        let mut others = self.others.iter();
        // Most pools fit into one word, for which no counting is needed.
        while !others.as_slice().is_empty() && rank >= word.count_ones() {
            rank -= word.count_ones();
            start += BITS;
            word = others.next().copied().unwrap_or_default();
        }
        for _ in 0..rank {
            word &= word - 1;
        }
        start + word.trailing_zeros()
    }
}

#[cfg(test)]
mod tests {
    use super::SlotSet;

    #[test]
    fn members_are_drawn_in_order_of_slots() {
        let mut set = SlotSet::empty(130);
        for slot in [3, 64, 129] {
            set.set(slot, true);
            set.set(slot, true);
        }
        assert_eq!(
            (0..set.count())
                .map(|rank| set.member(rank))
                .collect::<Vec<_>>(),
            [3, 64, 129]
        );
        set.set(64, false);
        assert!(!set.contains(64));
        assert_eq!(set.count(), 2);
    }

    #[test]
    fn all_means_the_slots_there_are() {
        let mut set = SlotSet::empty(70);
        set.set_all(true);
        assert_eq!((set.count(), set.member(69)), (70, 69));
        set.set_all(false);
        assert_eq!(set.count(), 0);
        let mut nothing = SlotSet::empty(0);
        nothing.set_all(true);
        assert_eq!(nothing.count(), 0);
    }
}
