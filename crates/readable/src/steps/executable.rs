//! Executable scenarios: one Python function each, which waits at each `yield` for the next line of
//! the feature and receives the values in it.
//!
//! A line may depend on earlier ones, so values can be changed in the feature, but lines cannot be
//! moved.

use std::time::Duration;

use super::{FeatureRunner, GeneratedFile, behave, decorator_name, indented, pytest_bdd, support};
use crate::gherkin::StepKeyword;
use crate::property::python_string;
use crate::words::capitalise;

/// A scenario and its code.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecutableScenario {
    /// The name of the scenario.
    pub scenario: String,
    /// Python statements before the first line.
    pub before: Vec<String>,
    /// The lines, in order.
    pub lines: Vec<ExecutableLine>,
    /// Python statements that run at the end, even after a failure.
    pub last: Vec<String>,
}

/// A line of a scenario and its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutableLine {
    /// The keyword.
    pub keyword: StepKeyword,
    /// The text, in parts.
    pub parts: Vec<LinePart>,
    /// Python statements.
    pub code: Vec<String>,
}

/// A part of a line's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinePart {
    /// Fixed words.
    Words(String),
    /// A value that may be changed in the feature.
    Value {
        /// The variable that holds it in code.
        name: String,
        /// Its bare notation.
        notation: String,
    },
}

impl ExecutableLine {
    /// Creates a line without values.
    #[must_use]
    pub fn fixed(keyword: StepKeyword, words: &str, code: &[String]) -> ExecutableLine {
        ExecutableLine {
            keyword,
            parts: vec![LinePart::Words(words.to_owned())],
            code: code.to_vec(),
        }
    }

    /// Returns the text of the line.
    #[must_use]
    pub fn text(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            LinePart::Words(words) => words.as_str(),
            LinePart::Value { notation, .. } => notation,
        });
        parts.collect()
    }

    /// Returns the variables of its values.
    fn names(&self) -> Vec<&str> {
        let names = self.parts.iter().filter_map(|part| match part {
            LinePart::Value { name, .. } => Some(name.as_str()),
            LinePart::Words(_) => None,
        });
        names.collect()
    }

    /// Returns the line as an entry of the table of lines, in which `...` stands for a value.
    fn entry(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            LinePart::Words(words) => python_string(words),
            LinePart::Value { .. } => "...".to_owned(),
        });
        let parts: Vec<String> = parts.collect();
        format!(
            "(\"{}\", {})",
            decorator_name(self.keyword),
            parts.join(", ")
        )
    }
}

impl ExecutableScenario {
    /// Returns the name of its Python function.
    fn function(&self) -> String {
        let letters = self.scenario.chars().map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
            _ => '_',
        });
        format!("play_{}", letters.collect::<String>())
    }

    /// Writes its Python function.
    fn code(&self) -> String {
        let mut body = self.before.clone();
        for line in &self.lines {
            let names = line.names();
            let target = match names.as_slice() {
                [] => String::new(),
                names => format!("[{}] = ", names.join(", ")),
            };
            let keyword = capitalise(decorator_name(line.keyword));
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

/// Returns the path of a step file from the folder of the feature.
#[must_use]
pub fn step_file(runner: FeatureRunner, feature: &str) -> String {
    let stem = super::file_stem(feature);
    match runner {
        FeatureRunner::Behave => format!("steps/{stem}_steps.py"),
        FeatureRunner::PytestBdd => format!("test_{stem}_feature.py"),
    }
}

/// Returns the names that a step file uses itself, which the code under test must not have.
#[must_use]
pub fn reserved_names() -> Vec<String> {
    let text = [support().0, support().1, SCENARIO_SUPPORT].join("\n\n");
    let defined = testwright_source::definitions(&text).unwrap_or_default();
    let defined = defined
        .into_iter()
        .flat_map(|definition| definition.defines);
    let local = [
        "FEATURE", "PLAYS", "KEYWORDS", "BODIES", "step", "run_body", "literal", "kept", "go_on",
    ];
    defined.chain(local.map(str::to_owned)).collect()
}

/// The modules that perform the runs of models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRunSetup {
    /// Statements that import the modules.
    pub imports: String,
    /// The names of the model modules in code.
    pub models: Vec<String>,
    /// The name of the stepper module in code.
    pub stepper: Option<String>,
    /// The time limit of a step, and for waiting for an observation.
    pub patience: Duration,
}

/// Writes the step files of a feature whose scenarios are runs of models, with or without an
/// implementation.
#[must_use]
pub fn write_model_scenarios(
    runner: FeatureRunner,
    feature: &str,
    run_setup: &ModelRunSetup,
    scenarios: &[ExecutableScenario],
) -> Vec<GeneratedFile> {
    let (imports, engine) = MODEL_SUPPORT.split_once("\n\n").unwrap_or_default();
    let observing = match run_setup.stepper {
        Some(_) => format!("{OBSERVATION_SUPPORT}\n"),
        None => String::new(),
    };
    let setup = format!(
        "{imports}\n\n{observing}{}\nMODULES = [{}]\nSTEPPER = {}\nPATIENCE = {:?}\n\n{engine}",
        run_setup.imports,
        run_setup.models.join(", "),
        run_setup.stepper.as_deref().unwrap_or("None"),
        run_setup.patience.as_secs_f64(),
    );
    write_scenarios(runner, feature, &setup, scenarios)
}

/// Writes the step files of a feature whose scenarios are runs of a test suite, which brings its
/// own functions.
#[must_use]
pub fn write_suite_scenarios(
    runner: FeatureRunner,
    feature: &str,
    imports: &str,
    scenarios: &[ExecutableScenario],
) -> Vec<GeneratedFile> {
    let setup = format!("import importlib\n\n{imports}\n{SUITE_SUPPORT}");
    write_scenarios(runner, feature, &setup, scenarios)
}

/// Writes the step files of a feature. `setup` is the code that the functions need, above all
/// imports.
#[must_use]
pub fn write_scenarios(
    runner: FeatureRunner,
    feature: &str,
    setup: &str,
    scenarios: &[ExecutableScenario],
) -> Vec<GeneratedFile> {
    let functions: Vec<String> = scenarios.iter().map(ExecutableScenario::code).collect();
    let entries = scenarios.iter().map(|scenario| {
        let lines = scenario
            .lines
            .iter()
            .map(|line| format!("            {},\n", line.entry()));
        format!(
            "    {}: (\n        {},\n        [\n{}        ],\n    ),\n",
            python_string(&scenario.scenario),
            scenario.function(),
            lines.collect::<String>()
        )
    });
    let entries: String = entries.collect();
    let played = format!(
        "{}\n\n# What the lines say, and where in them are values (`...`).\nPLAYS = {{\n{entries}}}\n",
        functions.join("\n\n")
    );
    match runner {
        FeatureRunner::Behave => behave::scenario_files(feature, setup, &played),
        FeatureRunner::PytestBdd => pytest_bdd::scenario_files(feature, setup, &played),
    }
}

/// Python code that moves several models and an implementation together; its imports stand first.
const MODEL_SUPPORT: &str = include_str!("models.py");

/// Python code of the queue in which implementations report what they do by themselves.
const OBSERVATION_SUPPORT: &str = include_str!("observed.py");

/// Python code that functions of suite runs call.
const SUITE_SUPPORT: &str = r#"
def start_anew(*functions):
    """Resets the modules of functions to the beginning of a run."""
    for module in [sys.modules[name] for name in dict.fromkeys(one.__module__ for one in functions)]:
        reset = getattr(module, "Reset", None) or getattr(module, "reset", None)
        if callable(reset):
            reset()
        else:
            importlib.reload(module)
"#;

/// Python code that connects the lines of a feature to the function of its scenario.
pub(super) const SCENARIO_SUPPORT: &str = r#"
def advance(store, scenario, line):
    """Advances the function of a scenario to the next line, with the values in this one."""
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
    """Returns the pattern that matches a line with any values."""
    return "".join(".+" if part is ... else re.escape(part) for part in parts)


def values_in(line, parts):
    """Parses the values in a line."""
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
    """Returns all distinct lines, with their keywords."""
    return dict.fromkeys(line for _, lines in PLAYS.values() for line in lines)
"#;
