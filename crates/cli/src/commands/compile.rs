//! `testwright compile`: write the module that scripts for TSTL import.

use std::path::PathBuf;

use crate::compiled::{CompiledModule, CompiledSettings};
use crate::console::Console;
use crate::{CommandError, ExitStatus};

/// Write a Python module with the harness as a class, for scripts written for TSTL
///
/// Such scripts begin with `import sut` and go on with `sut.sut()`. In code of your own,
/// `testwright.load("stack.tstl")` does the same without a file.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright compile stack.tstl                   writes sut.py
  testwright compile stack.tstl -o stack_sut.py"
)]
pub(crate) struct CompileCommand {
    /// The harness
    harness: PathBuf,

    /// Where to write the module
    #[arg(long, short, value_name = "FILE", default_value = "sut.py")]
    output: PathBuf,

    /// The name of the class
    #[arg(long, short, value_name = "NAME", default_value = "sut")]
    class: String,

    /// Do not measure coverage
    #[arg(long)]
    no_coverage: bool,

    /// Do not execute the imported modules again for each test
    #[arg(long)]
    no_reset: bool,

    /// Go back to a state by running the test that led there
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
                replay: self.replay,
                ..CompiledSettings::default()
            },
        };
        compiled.write(console, &self.output)?;
        Ok(ExitStatus::NothingFound)
    }
}
