//! `testwright show`: recorded calls.

use testwright_capture::{Recording, UnitId, describe, export, store};
use testwright_core::{Error, describe_os_error};

use super::capture::store_folder;
use crate::console::Console;
use crate::quantity::parse_from_zero;
use crate::{CommandError, ExitStatus, quantity};

/// Show recorded calls of a function, method, class or module
///
/// Each call is shown with its arguments and its result. Below it are its changes, and values that came from
/// outside. Without a name, all units that were called are listed.
#[derive(clap::Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  testwright show                        what was called, and how often
  testwright show app.Stack.push         the recorded calls of a method
  testwright show Stack                  everything of this name, or inside it
  testwright show app --limit 3          three calls of each unit
  testwright show app --json             for other tools

Exit status: 0 shown, 2 there is nothing to show."
)]
pub(crate) struct ShowCommand {
    /// Name of a unit, the beginning or end of its name, or the path of a module
    #[arg(value_name = "UNIT")]
    unit: Option<String>,

    /// Number of calls to show for each unit
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = parse_from_zero::<usize>)]
    limit: usize,

    /// Print the units and their calls as JSON
    #[arg(long)]
    json: bool,
}

impl ShowCommand {
    /// Runs the command.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<ExitStatus, CommandError> {
        let folder = store_folder();
        let loaded = store::load(&folder).map_err(|error| {
            Error::new(format!(
                "cannot read `{}`: {}",
                folder.display(),
                describe_os_error(&error)
            ))
        })?;
        for (path, reason) in &loaded.ignored {
            console.warning(&format!("`{}` is left out: {reason}", path.display()), None);
        }
        let recording = &loaded.recording;
        if recording.units.is_empty() {
            let error = Error::new("nothing was recorded in this folder");
            let help = "record a program first: `testwright capture -- python app.py`";
            return Err(error.with_help(help).into());
        }
        let module = self.unit.as_deref().map(unit_or_module);
        let found = export::find_units(recording, module.as_deref());
        if let Some(name) = self.unit.as_ref().filter(|_| found.is_empty()) {
            let error = Error::new(format!("no unit named `{name}` was recorded"));
            return Err(error
                .with_help("`testwright show` lists those that were")
                .into());
        }
        if self.json {
            console.out(format!(
                "{:#}",
                export::export_units(recording, &found, self.limit)
            ));
            return Ok(ExitStatus::NothingFound);
        }
        if self.unit.is_none() {
            print_units(console, recording);
            return Ok(ExitStatus::NothingFound);
        }
        for (index, unit) in found.into_iter().enumerate() {
            if index > 0 {
                console.out("");
            }
            self.print_calls(console, recording, unit);
        }
        Ok(ExitStatus::NothingFound)
    }

    /// Prints the recorded calls of a unit.
    fn print_calls(&self, console: &mut Console<'_>, recording: &Recording, number: UnitId) {
        let Some(unit) = recording.unit(number) else {
            return;
        };
        let kept = recording.calls_of(number).count();
        let calls = quantity::format_count(unit.calls.max(kept as u64), "call");
        console.out(format!(
            "{} ({}:{}), {calls}, {kept} kept",
            unit.name(),
            unit.file,
            unit.line
        ));
        for call in recording.calls_of(number).take(self.limit) {
            for (index, line) in describe::describe_call(unit, call).into_iter().enumerate() {
                let indent = if index == 0 { "  " } else { "      " };
                console.out(format!("{indent}{line}"));
            }
        }
        if kept > self.limit {
            console.out(format!("  … {} more", kept - self.limit));
        }
    }
}

/// Converts the path of a module to its dotted name; returns other names as they are.
fn unit_or_module(name: &str) -> String {
    let path = name.strip_prefix("./").unwrap_or(name);
    match path
        .strip_suffix("/__init__.py")
        .or(path.strip_suffix(".py"))
    {
        Some(stem) => stem.replace('/', "."),
        None => name.to_owned(),
    }
}

/// Prints all units that were called.
fn print_units(console: &mut Console<'_>, recording: &Recording) {
    for (number, unit) in (0..).zip(&recording.units) {
        let kept = recording.calls_of(UnitId(number)).count();
        let calls = quantity::format_count(unit.calls.max(kept as u64), "call");
        console.out(format!("{}, {calls}, {kept} kept", unit.name()));
    }
}
