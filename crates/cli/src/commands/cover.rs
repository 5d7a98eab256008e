//! `testwright cover`: lines and branches that a program reaches.

use std::ffi::OsString;
use std::path::Path;

use testwright_python::{Collector, SourceSelection};
use testwright_report::Attribution;

use crate::console::Console;
use crate::coverage::{CoverageOutputs, ReportRequest, TestCoverage};
use crate::{CommandError, ExitStatus};

/// Run a program, and show which lines and branches it reaches
///
/// The program runs as it does under `python`, at nearly full speed. This command ends with the exit status
/// of the program. The table goes to standard error.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright cover app.py --port 80                            options after the program are its own
  testwright cover -m pytest -q                                the local modules that the tests reach
  testwright cover --source heapq --source tools/ app.py       these and no others
  testwright cover --coverage-report html --coverage-report lcov:out.info app.py

Exit status: that of the program; 2 could not do what was asked."
)]
pub(crate) struct CoverCommand {
    /// PROGRAM is a module, not a file
    #[arg(short)]
    module: bool,

    /// File, folder or module to measure; repeatable [default: all but installed and standard modules]
    #[arg(long, value_name = "NAME")]
    source: Vec<String>,

    /// Report as table, html, lcov, cobertura, or data for coverage.py; repeatable
    #[arg(long, value_name = "TYPE[:PATH]")]
    coverage_report: Vec<ReportRequest>,

    /// Program, and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    words: Vec<OsString>,
}

impl CoverCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let reports = CoverageOutputs::prepare(&self.coverage_report)?;
        let folder = std::env::current_dir().unwrap_or_default();
        let choice = SourceSelection {
            names: self.source,
            imports: Vec::new(),
            first_on_path: Some(match (self.module, Path::new(&self.words[0]).parent()) {
                (false, Some(of_script)) => folder.join(of_script),
                _ => folder.clone(),
            }),
            folder,
        };
        testwright_python::attach(|interpreter| {
            let collector = Collector::start(interpreter, &choice)?;
            for name in collector.unknown_names() {
                let message = format!("there is no file, folder or module named `{name}`");
                console.warning(&message, None);
            }
            let ended = collector.run_program(&self.words, self.module)?;
            let mut reached = TestCoverage::new(Attribution::First);
            let name = || self.words[0].to_string_lossy().into_owned();
            reached.add_test(name, collector.take_new());
            let report = reached.into_report(&collector, &reports);
            // Standard output belongs to the program.
            reports.write(console, &report, |console, table| console.err(table))?;
            Ok(ExitStatus::Program(ended.status))
        })
    }
}
