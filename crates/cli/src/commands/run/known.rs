//! Failures of earlier campaigns, which are tried first: is this one fixed, does that one come back?

use testwright_campaign::store::{KnownFailure, Status};
use testwright_core::{Error, Failure, Test};

use super::memory::signature;
use crate::workers::reduce::{Reducer, Replayed};

/// What has become of a failure.
pub(super) enum Fate {
    /// It fails as it did.
    StillFails { test: Test, failure: Failure },
    /// It was fixed, and fails again.
    Returned { test: Test, failure: Failure },
    /// It does not fail any more.
    Fixed,
    /// Nothing new, or nothing that could be found out.
    Unchanged,
}

/// Runs the reduced test of a failure. One that was never reduced, because it did not fail again, proves nothing.
pub(super) fn fate(reducer: &mut Reducer<'_>, known: &KnownFailure) -> Result<Fate, Error> {
    let Some(text) = &known.reduced else {
        return Ok(Fate::Unchanged);
    };
    let was_fixed = known.status == Status::Fixed;
    Ok(match reducer.replay(text)? {
        Replayed::Fails { test, failure } if is_same(known, &failure) => match was_fixed {
            true => Fate::Returned { test, failure },
            false => Fate::StillFails { test, failure },
        },
        // That it fails in another way is for the search to find.
        Replayed::Passes | Replayed::Fails { .. } if !was_fixed => Fate::Fixed,
        Replayed::Passes | Replayed::Fails { .. } | Replayed::Unknown => Fate::Unchanged,
    })
}

/// Whether a failure is the one that is known.
pub(super) fn is_same(known: &KnownFailure, failure: &Failure) -> bool {
    known.found.signature == signature(failure)
}
