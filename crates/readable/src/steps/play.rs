//! Steps that play a test: a scenario is one Python function, which waits at each `yield` for the next line of the
//! feature and gets the values that stand in it.
//!
//! What a line does may depend on what was done before, so lines can be changed, but not moved.

use std::time::Duration;

use super::{File, Runner, behave, indented, pytest_bdd, support, word};
use crate::gherkin::Keyword;
use crate::property::quoted;
use crate::words::capitalised;

/// A scenario and what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Play {
    /// The name of the scenario.
    pub scenario: String,
    /// Python statements before the first line.
    pub before: Vec<String>,
    /// Its lines, in order.
    pub lines: Vec<PlayLine>,
    /// Python statements that come last, whatever happens.
    pub last: Vec<String>,
}

/// A line of a scenario, and what it does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayLine {
    /// What it is for.
    pub keyword: Keyword,
    /// What it says.
    pub parts: Vec<Part>,
    /// Python statements.
    pub code: Vec<String>,
}

/// A part of what a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Fixed words.
    Words(String),
    /// A value that may be another.
    Value {
        /// The variable that it is in when the code runs.
        name: String,
        /// How it is written.
        notation: String,
    },
}

impl PlayLine {
    /// A line that always says the same.
    #[must_use]
    pub fn fixed(keyword: Keyword, words: &str, code: &[String]) -> PlayLine {
        PlayLine {
            keyword,
            parts: vec![Part::Words(words.to_owned())],
            code: code.to_vec(),
        }
    }

    /// What it says.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Words(words) => words.as_str(),
            Part::Value { notation, .. } => notation,
        });
        parts.collect()
    }

    /// The variables of its values.
    fn names(&self) -> Vec<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            Part::Value { name, .. } => Some(name.as_str()),
            Part::Words(_) => None,
        });
        names.collect()
    }

    /// As an entry of the table of lines: `...` stands for a value.
    fn entry(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Words(words) => quoted(words),
            Part::Value { .. } => "...".to_owned(),
        });
        let parts: Vec<String> = parts.collect();
        format!("(\"{}\", {})", word(self.keyword), parts.join(", "))
    }
}

impl Play {
    /// The name of its function.
    fn function(&self) -> String {
        let letters = self.scenario.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
            _ => '_',
        });
        format!("play_{}", letters.collect::<String>())
    }

    /// The function.
    fn code(&self) -> String {
        let mut body = self.before.clone();
        for line in &self.lines {
            let names = line.names();
            let target = match names.as_slice() {
                [] => String::new(),
                names => format!("[{}] = ", names.join(", ")),
            };
            let keyword = capitalised(word(line.keyword));
            body.push(format!("{target}yield  # {keyword} {}", line.text()));
            body.extend(line.code.iter().cloned());
        }
        if !self.last.is_empty() {
            let inner = indented(&body);
            body = vec![
                "try:".to_owned(),
                inner.trim_end().to_owned(),
                "finally:".to_owned(),
            ];
            body.push(indented(&self.last).trim_end().to_owned());
        }
        format!(
            "def {}():\n    \"\"\"{}: each `yield` waits for the next line, and brings the values in it.\"\"\"\n{}",
            self.function(),
            self.scenario.replace('\\', "\\\\").replace('"', "\\\""),
            indented(&body)
        )
    }
}

/// Where a step file is written, from the folder of the feature.
#[must_use]
pub fn step_file(runner: Runner, feature: &str) -> String {
    let stem = super::stem(feature);
    match runner {
        Runner::Behave => format!("steps/{stem}_steps.py"),
        Runner::PytestBdd => format!("test_{stem}_feature.py"),
    }
}

/// The names that a step file has for itself: what is tested must not have them, too.
#[must_use]
pub fn own_names() -> Vec<String> {
    let text = [support().0, support().1, PLAYING].join("\n\n");
    let defined = testwright_source::definitions(&text).unwrap_or_default();
    let defined = defined
        .into_iter()
        .flat_map(|definition| definition.defines);
    let local = [
        "FEATURE", "PLAYS", "KEYWORDS", "BODIES", "step", "run_body", "literal", "kept", "go_on",
    ];
    defined.chain(local.map(str::to_owned)).collect()
}

/// Where runs of models get what does their steps from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    /// Statements that import the modules.
    pub imports: String,
    /// What the modules of the models are called in code.
    pub models: Vec<String>,
    /// The same of the stepper.
    pub stepper: Option<String>,
    /// How long a step may take, and to wait for something to observe.
    pub patience: Duration,
}

/// The step files of a feature whose scenarios are runs of models, with or without an implementation.
#[must_use]
pub fn write_model_plays(
    runner: Runner,
    feature: &str,
    company: &Company,
    plays: &[Play],
) -> Vec<File> {
    let (imports, engine) = MODELS.split_once("\n\n").unwrap_or_default();
    let observing = match company.stepper {
        Some(_) => format!("{OBSERVED}\n"),
        None => String::new(),
    };
    let setup = format!(
        "{imports}\n\n{observing}{}\nMODULES = [{}]\nSTEPPER = {}\nPATIENCE = {:?}\n\n{engine}",
        company.imports,
        company.models.join(", "),
        company.stepper.as_deref().unwrap_or("None"),
        company.patience.as_secs_f64(),
    );
    write_plays(runner, feature, &setup, plays)
}

/// The step files of a feature whose scenarios are runs of a suite, which has its own functions.
#[must_use]
pub fn write_suite_plays(
    runner: Runner,
    feature: &str,
    imports: &str,
    plays: &[Play],
) -> Vec<File> {
    let setup = format!("import importlib\n\n{imports}\n{ANEW}");
    write_plays(runner, feature, &setup, plays)
}

/// The step files of a feature. `setup` is what the functions need, above all imports.
#[must_use]
pub fn write_plays(runner: Runner, feature: &str, setup: &str, plays: &[Play]) -> Vec<File> {
    let functions: Vec<String> = plays.iter().map(Play::code).collect();
    let entries = plays.iter().map(|play| {
        let lines = play
            .lines
            .iter()
            .map(|line| format!("            {},\n", line.entry()));
        format!(
            "    {}: (\n        {},\n        [\n{}        ],\n    ),\n",
            quoted(&play.scenario),
            play.function(),
            lines.collect::<String>()
        )
    });
    let entries: String = entries.collect();
    let played = format!(
        "{}\n\n# What the lines say, and where in them are values (`...`).\nPLAYS = {{\n{entries}}}\n",
        functions.join("\n\n")
    );
    match runner {
        Runner::Behave => behave::plays(feature, setup, &played),
        Runner::PytestBdd => pytest_bdd::plays(feature, setup, &played),
    }
}

/// Models that move together, and an implementation that does the same; what it imports stands first.
const MODELS: &str = include_str!("models.py");

/// Where implementations tell what they do by themselves.
const OBSERVED: &str = include_str!("observed.py");

/// What functions call that play runs of a suite.
const ANEW: &str = r#"
def start_anew(*functions):
    """Puts the modules of functions back to where runs begin."""
    for module in [sys.modules[name] for name in dict.fromkeys(one.__module__ for one in functions)]:
        reset = getattr(module, "Reset", None) or getattr(module, "reset", None)
        if callable(reset):
            reset()
        else:
            importlib.reload(module)
"#;

/// How lines and functions come together.
pub(super) const PLAYING: &str = r#"
def advance(store, scenario, line):
    """Lets the function of a scenario go on to the next line, with the values in this one."""
    assert scenario in PLAYS, f"scenarios keep their names, and none was called {scenario!r}"
    function, lines = PLAYS[scenario]
    if "_play" not in store:
        store["_play"], store["_lines"] = function(), iter(lines)
        next(store["_play"])
    parts = next(store["_lines"], ("", "nothing more"))[1:]
    shown = "".join("…" if part is ... else part for part in parts)
    assert re.fullmatch(line_pattern(parts), line, re.DOTALL), (
        f"here comes {shown!r}: values can be changed, but lines stay where they are"
    )
    try:
        store["_play"].send(values_in(line, parts))
    except StopIteration:
        pass


def line_pattern(parts):
    """The pattern that finds a line with whatever values."""
    return "".join(".+" if part is ... else re.escape(part) for part in parts)


def values_in(line, parts):
    """The values in a line."""
    phrase = Phrase(line)
    values = []
    for part in parts:
        if part is ...:
            values.append(phrase.value())
        else:
            phrase.take(re.escape(part), repr(part))
    assert phrase.position == len(line), f"{line[phrase.position :]!r} is left over in {line!r}"
    return values


def all_lines():
    """All lines that are different, with their keywords."""
    return dict.fromkeys(line for _, lines in PLAYS.values() for line in lines)
"#;
