//! `tstl`: a harness becomes `sut.py`.

use std::path::PathBuf;

use testwright_python::ReferenceExceptions;

use super::{Invocation, Tool, ToolOutcome};
use crate::compiled::{CompiledModule, CompiledSettings};
use crate::console::Console;
use crate::{CommandError, VERSION};

/// Write a module for a harness, which the other tools and scripts use
#[derive(clap::Parser)]
#[command(name = "tstl", rename_all = "camelCase")]
pub(super) struct Compiler {
    /// The harness
    #[arg(value_name = "FILE", required_unless_present = "version")]
    tstl: Option<PathBuf>,

    /// Show the version
    #[arg(long, short)]
    version: bool,

    /// File to write the module to
    #[arg(long, short, value_name = "FILE", default_value = "sut.py")]
    output: PathBuf,

    /// The name of the class
    #[arg(long, short, value_name = "NAME", default_value = "sut")]
    classname: String,

    /// Do not measure coverage
    #[arg(long, short)]
    no_cover: bool,

    /// Count code that runs when modules are reloaded as covered
    #[arg(long, short = 'r')]
    cover_reload: bool,

    /// Count code that runs when slots are initialized as covered
    #[arg(long, short = 'i')]
    cover_init: bool,

    /// List all enabled actions before choosing one
    #[arg(long, short)]
    enumerate_enabled: bool,

    /// Backtrack to a state by replaying the test that led there
    #[arg(long, short = 'R')]
    default_replay: bool,

    /// Exceptions of system and reference must be of the same type
    #[arg(long)]
    force_ref_exception_match: bool,

    /// Exceptions of system and reference must be of the same type and have the same message
    #[arg(long)]
    force_strong_ref_exception_match: bool,

    /// Raise expected exceptions twice
    #[arg(long)]
    check_failure_determinism: bool,

    /// Only percent signs enclose pools and choices
    #[arg(long, short = 'a')]
    ignore_angles: bool,

    /// Show statistics
    #[arg(long, short)]
    stats: bool,

    /// Measure the standard library, too
    #[arg(long, short)]
    pylib: bool,

    /// Do not reload modules for each test
    #[arg(long)]
    no_reload: bool,

    /// Show what the compiler does
    #[arg(long)]
    debug: bool,

    /// Do not show what the compiler does
    #[arg(long = "no-debug")]
    no_debug: bool,
}

impl Tool for Compiler {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        (
            "enumerate_enabled",
            "choosing among enabled actions is always exact, and as fast as guessing",
        ),
        (
            "check_failure_determinism",
            "no statement is run twice; `tstl_rt --checkDeterminism` compares whole runs",
        ),
        (
            "ignore_angles",
            "`<` and `>` are read as brackets only around pools and choices",
        ),
        ("stats", "TSTL ignores it as well"),
        (
            "pylib",
            "name modules of the standard library in `source:` lines to measure them",
        ),
        (
            "debug",
            "there are no passes to show; `testwright expand` shows all actions",
        ),
        ("no_debug", "that is how it is anyway"),
    ];

    fn run(
        self,
        console: &mut Console<'_>,
        invocation: &Invocation,
    ) -> Result<ToolOutcome, CommandError> {
        if self.version {
            console.out(format_args!("Testwright {VERSION}, called as tstl"));
            return Ok(ToolOutcome::Passed);
        }
        let config = invocation.config();
        console.out(format_args!(
            "Generating harness core using config={config}"
        ));
        let compiled = CompiledModule {
            settings: self.settings(),
            harness: self.tstl.unwrap_or_default(),
            class: self.classname,
        };
        compiled.write(console, &self.output)?;
        Ok(ToolOutcome::Passed)
    }
}

impl Compiler {
    /// Translates the options to settings of the module.
    fn settings(&self) -> CompiledSettings {
        CompiledSettings {
            coverage: !self.no_cover,
            reset_modules: !self.no_reload,
            reference_exceptions: if self.force_strong_ref_exception_match {
                ReferenceExceptions::SameTypeAndMessage
            } else if self.force_ref_exception_match {
                ReferenceExceptions::SameType
            } else {
                ReferenceExceptions::BothRaise
            },
            backtrack_by_replay: self.default_replay,
            count_loading_as_covered: self.cover_reload || self.cover_init,
        }
    }
}
