//! The water jug puzzle.

use super::{catalog, failed, fingerprint};
use crate::{
    ActionId, Catalog, Equivalence, Error, FailureKind, Fingerprint, Outcome, Snapshot, System,
};

const SIZES: [u32; 2] = [3, 5];

/// Two jugs, of three and five litres, a tap and a sink. The property says that the big jug never
/// holds four litres, so a failing test is a solution of the puzzle.
#[derive(Clone, Debug)]
pub struct Jugs {
    actions: Catalog,
    litres: [u32; 2],
}

impl Default for Jugs {
    fn default() -> Jugs {
        let lines = [
            "fill(<[small,big]>)",
            "empty(<[small,big]>)",
            "pour_from(<[small,big]>)",
        ];
        Jugs {
            actions: catalog(&[], &lines),
            litres: [0, 0],
        }
    }
}

impl System for Jugs {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.litres = [0, 0];
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        let jug = (action.0 % 2) as usize;
        let other = 1 - jug;
        match action.0 / 2 {
            0 => self.litres[jug] < SIZES[jug],
            1 => self.litres[jug] > 0,
            _ => self.litres[jug] > 0 && self.litres[other] < SIZES[other],
        }
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let jug = (action.0 % 2) as usize;
        let other = 1 - jug;
        match action.0 / 2 {
            0 => self.litres[jug] = SIZES[jug],
            1 => self.litres[jug] = 0,
            _ => {
                let poured = self.litres[jug].min(SIZES[other] - self.litres[other]);
                self.litres[jug] -= poured;
                self.litres[other] += poured;
            }
        }
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        if self.litres[1] == 4 {
            return failed(FailureKind::Property, "property big != 4 is false");
        }
        Outcome::Passed
    }
}

impl Jugs {
    /// Returns the litres in the small jug and in the big one.
    pub fn litres(&self) -> [u32; 2] {
        self.litres
    }
}

impl Snapshot for Jugs {
    type State = [u32; 2];

    fn snapshot(&mut self) -> Result<[u32; 2], Error> {
        Ok(self.litres)
    }

    fn restore(&mut self, state: &[u32; 2]) -> Result<(), Error> {
        self.litres = *state;
        Ok(())
    }
}

impl Fingerprint for Jugs {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        Ok(fingerprint(self.litres.map(u64::from)))
    }
}
