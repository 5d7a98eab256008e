//! `tstl_standalone`: writes a test as a Python program.

use std::path::{Path, PathBuf};

use testwright_python::{
    MeasuredCode, OutputMode, PythonSystem, StandaloneStyle, StandaloneTarget,
};

use super::{Invocation, Tool, ToolOutcome};
use crate::compiled::CompiledModule;
use crate::console::Console;
use crate::files::{Destination, UserPath};
use crate::target::Target;
use crate::unit_test::{UnitTestDraft, UnitTestForm};
use crate::{CommandError, load};

/// Write a test as a Python program that needs neither harness nor tool
#[derive(clap::Parser)]
#[command(name = "tstl_standalone", rename_all = "camelCase")]
pub(super) struct Standalone {
    /// The test
    #[arg(value_name = "TEST")]
    test: PathBuf,

    /// File to write the program to
    #[arg(value_name = "OUT.py")]
    output: PathBuf,

    /// The compiled harness
    #[arg(value_name = "SUT.py", default_value = "sut.py")]
    sut: PathBuf,

    /// Do not check properties
    #[arg(long)]
    no_check: bool,

    /// Leave out references
    #[arg(long)]
    no_refs: bool,

    /// Assert that values are as they are now
    #[arg(long)]
    regression: bool,

    /// Print each step
    #[arg(long)]
    verbose: bool,
}

impl Tool for Standalone {
    const WITHOUT_EFFECT: &'static [(&'static str, &'static str)] = &[
        (
            "no_check",
            "of all checks only the one that fails is written",
        ),
        (
            "no_refs",
            "of all comparisons with references only the one that fails is written",
        ),
        (
            "regression",
            "values on the way are not asserted; `tstl_regress` runs saved tests again",
        ),
        ("verbose", "`tstl_replay TEST --verbose` shows each step"),
    ];

    fn run(self, console: &mut Console<'_>, _: &Invocation) -> Result<ToolOutcome, CommandError> {
        let compiled = CompiledModule::read(&self.sut)?;
        let to_keep: [(&Path, &str); 3] = [
            (&compiled.harness, "the harness"),
            (&self.test, "the test"),
            (&self.sut, "the compiled harness"),
        ];
        let destination = Destination::prepare(&self.output, &to_keep)?;
        let options = compiled.options(OutputMode::Drop, MeasuredCode::Nothing);
        let work = |console: &mut Console<'_>, system: &mut PythonSystem<'_>, test| {
            let path = destination.file();
            let file = path.map(UserPath::absolute);
            let style = StandaloneStyle::Script;
            let target = StandaloneTarget {
                style,
                name: "saved",
                file,
                check: true,
            };
            let (forms, failure) = system.standalone(&test, &target)?;
            let first = forms
                .first()
                .map(|form| form.text.clone())
                .unwrap_or_default();
            let draft = UnitTestDraft {
                forms: forms.into_iter().map(UnitTestForm::Steps).collect(),
                limit: None,
                process_context: system.process_context(),
            };
            let trial_file = std::env::temp_dir().join("saved.py");
            let tried = draft.confirmed(style, failure.as_ref(), file.unwrap_or(&trial_file));
            let mut text = tried.unwrap_or_else(|error| {
                console.warning(&error.message, None);
                first
            });
            // A script ends with the lines that run when it is called.
            text.push_str("    print(\"TEST COMPLETED SUCCESSFULLY\")\n");
            match path {
                Some(path) => path.write(&text)?,
                None => console.out(text.trim_end()),
            }
            Ok(ToolOutcome::Passed)
        };
        load::with_test(console, &compiled.harness, &self.test, &options, work)
    }
}
