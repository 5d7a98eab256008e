//! The module that scripts for TSTL import: `compile` writes it, and the tools of `compat` find their harness by it.
//!
//! A module has the harness's place and how it is to be run as plain data, so that the tools can read them without
//! running the file.

use std::path::{Path, PathBuf};

use testwright_core::Error;
use testwright_python::{Measured, Options, Output, PythonSystem, ReferenceExceptions};

use crate::console::Console;
use crate::files::{Destination, Place, TextFile};
use crate::{Trouble, load};

/// A harness and how it is to be run.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) harness: PathBuf,
    /// What scripts call the class.
    pub(crate) class: String,
    pub(crate) settings: Settings,
}

/// How a harness is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) coverage: bool,
    pub(crate) reset_modules: bool,
    pub(crate) reference_exceptions: ReferenceExceptions,
    /// Go back to a state by running the test that led there.
    pub(crate) replay: bool,
    /// What runs while modules are loaded and slots initialised counts as covered.
    pub(crate) cover_resets: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            coverage: true,
            reset_modules: true,
            reference_exceptions: ReferenceExceptions::BothRaise,
            replay: false,
            cover_resets: false,
        }
    }
}

/// The words for when exceptions agree, as `testwright.Sut` knows them.
const AGREEMENTS: [(&str, ReferenceExceptions); 3] = [
    ("both", ReferenceExceptions::BothRaise),
    ("type", ReferenceExceptions::SameType),
    ("message", ReferenceExceptions::SameTypeAndMessage),
];

const HARNESS: &str = "HARNESS = os.path.join(os.path.dirname(os.path.abspath(__file__)), ";
const SETTINGS: &str = "SETTINGS = {";
const COVER_RESETS: &str = "COVER_RESETS = ";

impl Compiled {
    /// Writes the module, if the harness is in order, and says so.
    pub(crate) fn write(&self, console: &mut Console<'_>, output: &Path) -> Result<(), Trouble> {
        let to_keep = [(self.harness.as_path(), "the harness")];
        let destination = Destination::prepare(output, &to_keep)?;
        if !is_name(&self.class) {
            let message = format!("`{}` is no name for a class", self.class);
            return Err(Error::new(message).into());
        }
        let (file, _) = load::harness(console, &self.harness)?;
        match destination {
            Destination::File(place) => {
                place.write(&self.text(&path_from(&place, &file.path)?))?;
                console.say(format_args!("Written to {}", place.shown().display()));
            }
            Destination::StandardOutput => {
                let place = Place::new(Path::new("sut.py"))?;
                console.say(self.text(&path_from(&place, &file.path)?).trim_end());
            }
        }
        Ok(())
    }

    /// The harness that a module was written for.
    pub(crate) fn read(module: &Path) -> Result<Compiled, Error> {
        let shown = module.display();
        if !module.exists() {
            let error = Error::new(format!("there is no `{shown}` in this folder"));
            return Err(error.with_help("compile a harness first: `tstl FILE.tstl`"));
        }
        let text = TextFile::read(module)?.text;
        let folder = module.parent().unwrap_or(Path::new(""));
        Compiled::from_text(folder, &text).ok_or_else(|| {
            let help =
                "compile the harness again: `tstl FILE.tstl`, or `testwright compile FILE.tstl`";
            Error::new(format!(
                "`{shown}` was not written by Testwright, or was changed since"
            ))
            .with_help(help)
        })
    }

    fn from_text(folder: &Path, text: &str) -> Option<Compiled> {
        let after = |start: &str| text.lines().find_map(|line| line.strip_prefix(start));
        let harness: String = serde_json::from_str(after(HARNESS)?.strip_suffix(')')?).ok()?;
        let class = after("class ")?.split('(').next()?.to_owned();
        let inside = text.split_once(SETTINGS)?.1.split_once('}')?.0;
        let setting = |name: &str| {
            inside.lines().find_map(|line| {
                line.trim()
                    .strip_prefix(&format!("\"{name}\": "))?
                    .strip_suffix(',')
            })
        };
        let agreement: String = serde_json::from_str(setting("reference_exceptions")?).ok()?;
        let agreement = AGREEMENTS.iter().find(|(name, _)| *name == agreement)?;
        Some(Compiled {
            harness: folder.join(harness),
            class,
            settings: Settings {
                coverage: is_true(setting("coverage")?)?,
                reset_modules: is_true(setting("reset_modules")?)?,
                reference_exceptions: agreement.1,
                replay: is_true(setting("replay")?)?,
                cover_resets: is_true(after(COVER_RESETS)?)?,
            },
        })
    }

    /// How to bring the harness to life. What is not to be measured at all, nobody measures.
    pub(crate) fn options(&self, output: Output, measured: Measured) -> Options {
        Options {
            output,
            measured: if self.settings.coverage {
                measured
            } else {
                Measured::Nothing
            },
            reference_exceptions: self.settings.reference_exceptions,
            reset_modules: self.settings.reset_modules,
            ..Options::default()
        }
    }

    /// Brings the harness to life for some work.
    pub(crate) fn with_system<R>(
        &self,
        console: &mut Console<'_>,
        options: &Options,
        work: impl FnOnce(&mut Console<'_>, &mut PythonSystem<'_>) -> Result<R, Trouble>,
    ) -> Result<R, Trouble> {
        let (file, harness) = load::harness(console, &self.harness)?;
        load::with_system(console, &file, harness, options, work)
    }

    fn text(&self, path: &str) -> String {
        let Settings {
            coverage,
            reset_modules,
            reference_exceptions,
            replay,
            cover_resets,
        } = self.settings;
        let agreement = AGREEMENTS
            .iter()
            .find(|(_, meaning)| *meaning == reference_exceptions)
            .map_or("both", |(name, _)| name);
        format!(
            r#""""The harness as a class, for scripts that import it. Written by `testwright compile`."""

import os

import testwright

{HARNESS}{path})
{SETTINGS}
    "coverage": {coverage},
    "reset_modules": {reset_modules},
    "reference_exceptions": "{agreement}",
    "replay": {replay},
}}
# Only the commands look at this: whether loading modules and initialising slots counts as covering code.
{COVER_RESETS}{cover_resets}


class {class}(testwright.Sut):
    def __new__(cls):
        return super().__new__(cls, HARNESS, **SETTINGS)
"#,
            // What JSON writes, Python reads.
            path = serde_json::Value::from(path),
            coverage = truth(coverage),
            reset_modules = truth(reset_modules),
            replay = truth(replay),
            cover_resets = truth(cover_resets),
            class = self.class,
        )
    }
}

fn truth(is_true: bool) -> &'static str {
    if is_true { "True" } else { "False" }
}

fn is_true(text: &str) -> Option<bool> {
    match text {
        "True" => Some(true),
        "False" => Some(false),
        _ => None,
    }
}

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    letters
        .next()
        .is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The way from the folder of one file to another one.
fn path_from(place: &Place, file: &Path) -> Result<String, Error> {
    let file = Place::new(file)?;
    let folder = place.absolute().parent().unwrap_or(Path::new("/"));
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
    fn what_is_written_is_read_again() {
        let settings = Settings {
            coverage: false,
            reset_modules: false,
            reference_exceptions: ReferenceExceptions::SameType,
            replay: true,
            cover_resets: true,
        };
        for settings in [settings, Settings::default()] {
            let compiled = Compiled {
                harness: PathBuf::new(),
                class: "Räder".to_owned(),
                settings,
            };
            let text = compiled.text("../a \"b\"\\ü\n.tstl");
            let read = Compiled::from_text(Path::new("sub"), &text).unwrap();
            assert_eq!(read.harness, Path::new("sub/../a \"b\"\\ü\n.tstl"));
            assert_eq!((read.class.as_str(), read.settings), ("Räder", settings));
        }
        assert!(Compiled::from_text(Path::new(""), "class sut(object):\n").is_none());
    }
}
