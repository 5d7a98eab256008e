//! Coverage of the code under test, for strategies that are guided by it.

use testwright_core::{Coverage, Covered, Error, TargetId};

use crate::coverage::Collector;
use crate::system::PythonSystem;

/// Reports branches of the code under test; nothing if coverage is not measured.
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

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.collector
            .as_ref()
            .map_or(Ok(()), Collector::reset_current)
    }

    fn touched(&self) -> Coverage {
        self.collector
            .as_ref()
            .map_or_else(Coverage::default, Collector::current)
    }
}
