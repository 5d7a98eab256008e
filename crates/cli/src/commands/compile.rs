//! `testwright compile`: write the module that scripts for TSTL import.

use std::path::PathBuf;

use crate::compiled::{CompiledModule, CompiledSettings};
use crate::console::Console;
use crate::{CommandError, ExitStatus};

/// Write a harness as a Python module, for scripts written for TSTL
///
/// Such scripts begin with `import sut` and create an object of the class: `sut.sut()`. In your own code,
/// `testwright.load("stack.tstl")` does the same without a file.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright compile stack.tstl                      writes sut.py
  testwright compile stack.tstl --out stack_sut.py

Exit status: 0 written, 2 could not do what was asked."
)]
pub(crate) struct CompileCommand {
    /// Harness to compile
    harness: PathBuf,

    /// File to write the module to
    #[arg(
        long,
        alias = "output",
        short_alias = 'o',
        value_name = "FILE",
        default_value = "sut.py"
    )]
    out: PathBuf,

    /// Name of the class
    #[arg(long, short, value_name = "NAME", default_value = "sut")]
    class: String,

    /// Do not measure coverage
    #[arg(long)]
    no_coverage: bool,

    /// Do not reload the imported modules for each test
    #[arg(long)]
    no_reset: bool,

    /// Backtrack to a state by replaying the test that led there
    #[arg(long)]
    replay: bool,
}

impl CompileCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let compiled = CompiledModule {
            harness: self.harness,
            class: self.class,
            settings: CompiledSettings {
                coverage: !self.no_coverage,
                reset_modules: !self.no_reset,
                backtrack_by_replay: self.replay,
                ..CompiledSettings::default()
            },
        };
        compiled.write(console, &self.out)?;
        Ok(ExitStatus::NothingFound)
    }
}
