//! What was reached of the code under test, for strategies that go on from there.

use testwright_core::{Coverage, Covered, Error, TargetId};

use crate::coverage::Collector;
use crate::system::PythonSystem;

/// Branches of the code under test; nothing, if coverage was not asked for.
impl Covered for PythonSystem<'_> {
    fn all_touched(&self) -> Coverage {
        self.collector
            .as_ref()
            .map_or_else(Coverage::default, Collector::all)
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.collector
            .as_ref()
            .map_or_else(Vec::new, Collector::take_new)
    }

    fn begin_anew(&mut self) -> Result<(), Error> {
        self.collector
            .as_ref()
            .map_or(Ok(()), Collector::begin_anew)
    }

    fn touched(&self) -> Coverage {
        self.collector
            .as_ref()
            .map_or_else(Coverage::default, Collector::current)
    }
}
