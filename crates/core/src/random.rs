//! The only source of randomness: seeded, portable and documented, so that a seed means the same
//! tests everywhere.
//!
//! The bits come from ChaCha with eight rounds, keyed by the seed. Numbers below a bound are
//! computed here and not by a library whose method may change between versions: a saved seed must
//! keep its meaning.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A seeded stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random {
    bits: ChaCha8Rng,
}

impl Random {
    /// Creates the stream of a seed.
    pub fn new(seed: u64) -> Random {
        Random {
            bits: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Creates a separate stream for part `number` of the work, so that the draws of one part do
    /// not shift those of another.
    pub fn for_part(seed: u64, number: u64) -> Random {
        let mut bits = ChaCha8Rng::seed_from_u64(seed);
        bits.set_stream(number.wrapping_add(1));
        Random { bits }
    }

    /// Returns a uniform number in `0..bound`, by multiplication with rejection (Lemire 2019); 0 if
    /// the bound is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound < 2 {
            return 0;
        }
        let mut product = u128::from(self.bits.next_u64()) * u128::from(bound);
        if (product as u64) < bound {
            // Only these low products can belong to a number that would occur once too often.
            let surplus = bound.wrapping_neg() % bound;
            while (product as u64) < surplus {
                product = u128::from(self.bits.next_u64()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Returns a uniform number from 0 up to, not including, 1: a multiple of 2⁻⁵³, which is exact
    /// on every machine.
    #[inline]
    pub fn unit_float(&mut self) -> f64 {
        const STEPS: u64 = 1 << 53;
        self.below(STEPS) as f64 / STEPS as f64
    }

    /// Returns true with this probability. Certain and impossible events consume no random number.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        probability >= 1.0 || (probability > 0.0 && self.unit_float() < probability)
    }

    /// Returns one of the elements, all equally likely; `None` if there are none.
    pub fn choose<'a, T>(&mut self, among: &'a [T]) -> Option<&'a T> {
        among.get(self.below(among.len() as u64) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_keeps_its_meaning_for_ever() {
        let mut random = Random::new(7);
        let drawn: Vec<u64> = (0..8).map(|_| random.below(100)).collect();
        assert_eq!(drawn, EXPECTED);
    }

    const EXPECTED: [u64; 8] = [15, 16, 70, 72, 60, 35, 8, 84];

    #[test]
    fn every_number_below_the_bound_is_equally_likely() {
        let mut random = Random::new(1);
        let mut counts = [0u32; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        assert!(
            counts.iter().all(|count| (9_600..10_400).contains(count)),
            "{counts:?}"
        );
    }

    #[test]
    fn chances_are_kept() {
        let mut random = Random::new(2);
        let hits = (0..40_000).filter(|_| random.chance(0.3)).count();
        assert!((11_500..12_500).contains(&hits), "{hits}");
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit_float())));
        assert!(random.chance(1.0) && !random.chance(0.0) && !random.chance(f64::NAN));
        assert_eq!(random.choose::<u8>(&[]), None);
        assert_eq!(random.choose(&[5]), Some(&5));
    }

    #[test]
    fn a_bound_of_nothing_or_one_draws_zero() {
        assert_eq!(Random::new(3).below(0), 0);
        assert_eq!(Random::new(3).below(1), 0);
    }
}
