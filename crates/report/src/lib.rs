//! Coverage reports, graphs of states and test results, for people and for other tools.
//!
//! Pure Rust: plain data in, text or files out. No Python, no printing, no environment, no clock.
//!
//! A [`CoverageReport`] has for each file the code that could run and the code that did, test by
//! test. The modules render it in different formats:
//!
//! ```
//! use std::collections::{BTreeMap, BTreeSet};
//! use testwright_report::{Attribution, CoverageReport, FileCoverage, table};
//!
//! // def sign(x):
//! //     if x < 0:
//! //         return -1
//! //     return 1
//! let sign = FileCoverage {
//!     path: "/project/sign.py".into(),
//!     statements: BTreeSet::from([1, 2, 3, 4]),
//!     branches: BTreeMap::from([(2, BTreeSet::from([3, 4]))]),
//!     by_test: vec![(0, BTreeSet::from([(-1, 1), (1, -1), (-1, 2), (2, 4), (4, -1)]))],
//!     ..FileCoverage::default()
//! };
//! let report = CoverageReport {
//!     files: vec![sign],
//!     tests: vec!["sign(7)".to_owned()],
//!     attribution: Attribution::Every,
//!     root: "/project".into(),
//! };
//! let options = table::TableOptions { width: 80, unicode: false, colour: false };
//! assert_eq!(
//!     table::table(&report, &options),
//!     "\
//! Name     Statements  Missed  Branches  Missed  Cover  Missing
//! -------------------------------------------------------------
//! sign.py           4       1         2       1    67%  3
//! "
//! );
//! ```
//!
//! # What to read next
//!
//! - [`coverage`]: the data, and the results that follow from it ([`FileFindings`],
//!   [`CoverageSummary`]). Numbers agree with coverage.py's.
//! - [`table`] for the terminal, [`html`] for the browser.
//! - [`lcov`], [`cobertura`] for editors and build servers, [`data_file`] for coverage.py itself.
//! - [`junit`]: test results for build servers.
//! - [`graph`]: pictures of states and the transitions between them.

#![warn(missing_docs)]

mod atomic_write;
pub mod cobertura;
pub mod coverage;
pub mod data_file;
mod error;
pub mod graph;
pub mod html;
pub mod junit;
pub mod lcov;
mod missing;
pub mod table;
mod timestamp;
#[cfg(test)]
mod toys;
mod visible;
mod xml;

pub use atomic_write::is_special_file;
pub use coverage::{Arc, Attribution, CoverageReport, CoverageSummary, FileCoverage, FileFindings};
pub use error::Error;
pub use timestamp::Timestamp;
pub use visible::make_visible;
