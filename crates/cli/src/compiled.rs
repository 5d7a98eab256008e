//! The module that scripts for TSTL import: `compile` writes it, and the tools in `compat` find
//! their harness by it.
//!
//! The module has the path of the harness and the settings as plain data, so that the tools can
//! read them without running the file.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_python::{MeasuredCode, Options, OutputMode, PythonSystem, ReferenceExceptions};
use testwright_source::is_identifier;

use crate::console::Console;
use crate::files::{Destination, TextFile, UserPath};
use crate::{CommandError, load};

/// A harness with the settings to run it.
#[derive(Clone, Debug)]
pub(crate) struct CompiledModule {
    /// The path of the harness.
    pub(crate) harness: PathBuf,
    /// The name of the class in the module.
    pub(crate) class: String,
    /// The settings to run it.
    pub(crate) settings: CompiledSettings,
}

/// The settings to run a harness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CompiledSettings {
    /// Measure coverage.
    pub(crate) coverage: bool,
    /// Load the modules under test again for every test.
    pub(crate) reset_modules: bool,
    /// The condition under which exceptions of the system and the reference agree.
    pub(crate) reference_exceptions: ReferenceExceptions,
    /// Restore a state by running the test that led there.
    pub(crate) backtrack_by_replay: bool,
    /// Count code that runs while modules are loaded and slots are initialized as covered.
    pub(crate) count_loading_as_covered: bool,
}

impl Default for CompiledSettings {
    fn default() -> CompiledSettings {
        CompiledSettings {
            coverage: true,
            reset_modules: true,
            reference_exceptions: ReferenceExceptions::BothRaise,
            backtrack_by_replay: false,
            count_loading_as_covered: false,
        }
    }
}

/// The names of the conditions under which exceptions agree, as `testwright.Sut` knows them.
const REFERENCE_EXCEPTION_NAMES: [(&str, ReferenceExceptions); 3] = [
    ("both", ReferenceExceptions::BothRaise),
    ("type", ReferenceExceptions::SameType),
    ("message", ReferenceExceptions::SameTypeAndMessage),
];

/// The start of the line with the harness.
const HARNESS_START: &str = "HARNESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), ";
/// The start of the settings.
const SETTINGS_START: &str = "SETTINGS = {";
/// The start of the line with `cover_resets`.
const COVER_RESETS_START: &str = "COVER_RESETS = ";

impl CompiledModule {
    /// Writes the module if the harness has no errors, and prints its path.
    pub(crate) fn write(
        &self,
        console: &mut Console<'_>,
        output: &Path,
    ) -> Result<(), CommandError> {
        let to_keep = [(self.harness.as_path(), "the harness")];
        let destination = Destination::prepare(output, &to_keep)?;
        if !is_identifier(&self.class) {
            let message = format!("`{}` is not a valid class name", self.class);
            return Err(Error::new(message).into());
        }
        let (file, _) = load::harness(console, &self.harness)?;
        match destination {
            Destination::File(output) => {
                output.write(&self.render(&relative_path(&output, &file.path)?))?;
                console.out(format_args!("Written to {}", output.shown().display()));
            }
            Destination::StandardOutput => {
                let output = UserPath::new(Path::new("sut.py"))?;
                console.out(self.render(&relative_path(&output, &file.path)?).trim_end());
            }
        }
        Ok(())
    }

    /// Reads a module and returns its harness.
    pub(crate) fn read(module: &Path) -> Result<CompiledModule, Error> {
        let shown = module.display();
        if !module.exists() {
            let error = Error::new(format!("there is no `{shown}` in this folder"));
            return Err(error.with_help("compile a harness first: `tstl FILE.tstl`"));
        }
        let text = TextFile::read(module)?.text;
        let folder = module.parent().unwrap_or(Path::new(""));
        CompiledModule::from_text(folder, &text).ok_or_else(|| {
            let help =
                "compile the harness again: `tstl FILE.tstl`, or `testwright compile FILE.tstl`";
            Error::new(format!(
                "`{shown}` was not written by Testwright, or was changed since"
            ))
            .with_help(help)
        })
    }

    /// Parses the text of a module in this folder.
    fn from_text(folder: &Path, text: &str) -> Option<CompiledModule> {
        let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let harness: String =
            serde_json::from_str(after(HARNESS_START)?.strip_suffix(')')?).ok()?;
        let class = after("class ")?.split('(').next()?.to_owned();
        let inside = text.split_once(SETTINGS_START)?.1.split_once('}')?.0;
        let setting = |name: &str| {
            inside.lines().find_map(|line| {
                line.trim()
                    .strip_prefix(&format!("\"{name}\": "))?
                    .strip_suffix(',')
            })
        };
        let agreement: String = serde_json::from_str(setting("reference_exceptions")?).ok()?;
        let agreement = REFERENCE_EXCEPTION_NAMES
            .iter()
            .find(|(name, _)| *name == agreement)?;
        Some(CompiledModule {
            harness: folder.join(harness),
            class,
            settings: CompiledSettings {
                coverage: parse_bool(setting("coverage")?)?,
                reset_modules: parse_bool(setting("reset_modules")?)?,
                reference_exceptions: agreement.1,
                backtrack_by_replay: parse_bool(setting("replay")?)?,
                count_loading_as_covered: parse_bool(after(COVER_RESETS_START)?)?,
            },
        })
    }

    /// Returns the options to load the harness. Without coverage in the settings, nothing is
    /// measured.
    pub(crate) fn options(&self, output: OutputMode, measured: MeasuredCode) -> Options {
        Options {
            output,
            measured: if self.settings.coverage {
                measured
            } else {
                MeasuredCode::Nothing
            },
            reference_exceptions: self.settings.reference_exceptions,
            reset_modules: self.settings.reset_modules,
            ..Options::default()
        }
    }

    /// Loads the harness and passes the system to `work`.
    pub(crate) fn with_system<R>(
        &self,
        console: &mut Console<'_>,
        options: &Options,
        work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>) -> Result<R, CommandError>,
    ) -> Result<R, CommandError> {
        let (file, harness) = load::harness(console, &self.harness)?;
        load::with_system(console, &file, harness, options, work)
    }

    /// Renders the module; `path` is the harness's path relative to it.
    fn render(&self, path: &str) -> String {
        let CompiledSettings {
            coverage,
            reset_modules,
            reference_exceptions,
            backtrack_by_replay,
            count_loading_as_covered,
        } = self.settings;
        let agreement = REFERENCE_EXCEPTION_NAMES
            .iter()
            .find(|(_, meaning)| *meaning == reference_exceptions)
            .map_or("both", |(name, _)| name);
        format!(
            r#""""The harness as a class, for scripts that import it. Written by `testwright compile`."""

import os

import testwright

{HARNESS_START}{path})
{SETTINGS_START}
    "coverage": {coverage},
    "reset_modules": {reset_modules},
    "reference_exceptions": "{agreement}",
    "replay": {replay},
}}
# Only the commands look at this: whether loading modules and initialising slots counts as covering code.
{COVER_RESETS_START}{cover_resets}


class {class}(testwright.Sut):
    def __new__(cls):
        return super().__new__(cls, HARNESS, **SETTINGS)
"#,
            // Python reads a JSON string as the same string.
            path = serde_json::Value::from(path),
            coverage = python_bool(coverage),
            reset_modules = python_bool(reset_modules),
            replay = python_bool(backtrack_by_replay),
            cover_resets = python_bool(count_loading_as_covered),
            class = self.class,
        )
    }
}

/// Returns the Python literal of a truth value.
fn python_bool(is_true: bool) -> &'static str {
    if is_true { "True" } else { "False" }
}

/// Parses a Python literal.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

/// Returns the path to a file, relative to the folder of another one.
fn relative_path(output: &UserPath, file: &Path) -> Result<String, Error> {
    let file = UserPath::new(file)?;
    let folder = output.absolute().parent().unwrap_or(Path::new("/"));
    let mut from: Vec<_> = folder.components().collect();
    let mut to: Vec<_> = file.absolute().components().collect();
    let common = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let common = common.count();
    from.drain(..common);
    to.drain(..common);
    let up = from.iter().map(|_| "..".to_owned());
    let down = to
        .iter()
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_a_round_trip() {
        let settings = CompiledSettings {
            coverage: false,
            reset_modules: false,
            reference_exceptions: ReferenceExceptions::SameType,
            backtrack_by_replay: true,
            count_loading_as_covered: true,
        };
        for settings in [settings, CompiledSettings::default()] {
            let compiled = CompiledModule {
                harness: PathBuf::new(),
                class: "Räder".to_owned(),
                settings,
            };
            let text = compiled.render("../a \"b\"\\ü\n.tstl");
            let read = CompiledModule::from_text(Path::new("sub"), &text).unwrap();
            assert_eq!(read.harness, Path::new("sub/../a \"b\"\\ü\n.tstl"));
            assert_eq!((read.class.as_str(), read.settings), ("Räder", settings));
        }
        assert!(CompiledModule::from_text(Path::new(""), "class sut(object):\n").is_none());
    }
}
