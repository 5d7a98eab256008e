//! Step definitions: Python files that make features run under behave or pytest-bdd (rules S1 to
//! S7 of `docs/readable-rules.md#step-definitions`).
//!
//! The files need nothing but the runner and the code under test. `support.py` is included in each,
//! and `models.py` in the files of model runs.

mod behave;
pub(crate) mod constants;
mod executable;
mod pytest_bdd;

use std::fmt::Write;

use crate::gherkin::{Feature, StepKeyword};
use crate::property::{RenderedFeature, StepCode, StepDefinition, StepPiece, python_string};

pub use executable::{
    ExecutableLine, ExecutableScenario, LinePart, ModelRunSetup, reserved_names, step_file,
    write_model_scenarios, write_scenarios, write_suite_scenarios,
};

/// The test runner of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeatureRunner {
    /// `steps/NAME_steps.py` and `environment.py`.
    Behave,
    /// `test_NAME_feature.py`.
    PytestBdd,
}

/// The module under test and its place relative to the feature.
#[derive(Debug, Clone)]
pub struct StepModule {
    /// The file of the feature, without its folder.
    pub feature: String,
    /// The module with the properties, as Python imports it: `tests.test_lists`.
    pub module: String,
    /// The path from the folder of the feature to the import root of the module, with `/`; empty if
    /// they are the same.
    pub folder: String,
    /// The variable that holds the values of a scenario.
    pub store: &'static str,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedFile {
    /// The path from the folder of the feature, with `/`.
    pub path: String,
    /// The content.
    pub text: String,
}

/// Returns the imports and the body of the shared Python code.
fn support() -> (&'static str, &'static str) {
    include_str!("steps/support.py")
        .split_once("\n\n")
        .unwrap_or_default()
}

/// Writes the step files of a feature.
#[must_use]
pub fn write_step_files(
    runner: FeatureRunner,
    rendered: &RenderedFeature,
    target: &StepModule,
) -> Vec<GeneratedFile> {
    match runner {
        FeatureRunner::Behave => behave::files(rendered, target),
        FeatureRunner::PytestBdd => pytest_bdd::files(rendered, target),
    }
}

/// Writes the fragment of `pytest.ini` that registers tags, because pytest-bdd turns them into
/// marks (S7).
#[must_use]
pub fn pytest_ini(features: &[Feature]) -> String {
    let mut tags: Vec<&str> = Vec::new();
    for feature in features {
        let in_rules = feature.rules.iter().flat_map(|rule| &rule.scenarios);
        let scenarios = feature.scenarios.iter().chain(in_rules);
        let all = feature
            .tags
            .iter()
            .chain(scenarios.flat_map(|scenario| &scenario.tags));
        for tag in all {
            if !tags.contains(&tag.as_str()) {
                tags.push(tag);
            }
        }
    }
    let mut text = String::from("[pytest]\nmarkers =\n");
    for tag in tags {
        let meaning = match tag {
            "property" => "features written from properties",
            "counterexample" => "scenarios that show a failure",
            _ => "a tag of a feature",
        };
        // Writing into a string cannot fail.
        let _ = writeln!(text, "    {tag}: {meaning}");
    }
    text
}

/// Writes the setup of the steps, for running their code without a test runner.
#[must_use]
pub fn prelude(target: &StepModule) -> String {
    let alias = target.alias();
    let imported = if alias == target.module {
        format!("import {alias}")
    } else {
        format!("import {} as {alias}", target.module)
    };
    let store = target.store;
    let (imports, support) = support();
    let made = target.recipe_function();
    format!("{imports}\n\n{imported}\n\n{support}{made}\n{store} = {{}}\n")
}

impl StepModule {
    /// Returns the name of the module in code.
    #[must_use]
    pub fn alias(&self) -> &str {
        self.module.rsplit('.').next().unwrap_or(&self.module)
    }

    /// Writes the Python function that makes values from recipes (S2).
    fn recipe_function(&self) -> String {
        format!(
            "\n\ndef made(recipe):\n    \"\"\"Makes a value that has no phrase to read back.\"\"\"\n    \
             names = {{\"datetime\": datetime, \"Decimal\": decimal.Decimal, \"Fraction\": fractions.Fraction}}\n    \
             return eval(recipe, {{**names, **vars({})}})\n",
            self.alias()
        )
    }

    /// Writes the lines that import the module. `levels` is the path from the step file to the
    /// feature.
    #[must_use]
    pub fn import_lines(&self, levels: &str) -> String {
        let folder = match (levels.is_empty(), self.folder.is_empty()) {
            (true, true) => ".".to_owned(),
            (true, false) => self.folder.clone(),
            (false, true) => levels.to_owned(),
            (false, false) => format!("{levels}/{}", self.folder),
        };
        let alias = self.alias();
        let imported = if alias == self.module {
            format!("import {alias}")
        } else {
            format!("import {} as {alias}", self.module)
        };
        format!(
            "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), {}))\n\n{imported}  # noqa: E402\n",
            python_string(&folder)
        )
    }
}

/// Returns the stem of a step file's name: `lists` for `lists.feature`.
fn file_stem(feature: &str) -> String {
    let stem = feature.strip_suffix(".feature").unwrap_or(feature);
    stem.replace(['.', '-', ' '], "_")
}

/// Returns the statements of a step: earlier values first, then the body, then the check.
pub(crate) fn statements(code: &StepCode, target: &StepModule) -> Vec<String> {
    let store = target.store;
    let mut lines = Vec::new();
    for (name, found) in &code.earlier {
        lines.push(format!(
            "remember({store}, {}, lambda: {found})",
            python_string(name)
        ));
    }
    lines.extend(code.body.iter().cloned());
    if let Some(check) = &code.check {
        let seen: Vec<String> = code.seen.iter().map(|name| python_string(name)).collect();
        lines.push(if seen.is_empty() {
            format!("assert {check}")
        } else {
            format!("assert {check}, seen({store}, {})", seen.join(", "))
        });
    }
    lines
}

/// All definitions with one text. Several of them do different things in different scenarios.
struct SharedStep<'a> {
    /// The keyword.
    keyword: StepKeyword,
    /// The text, in pieces.
    text: &'a [StepPiece],
    /// The definitions, each for some scenarios.
    definitions: Vec<&'a StepDefinition>,
}

impl<'a> SharedStep<'a> {
    /// Groups the steps of a feature by text. Steps that store an input are left out, because the
    /// generic step finds them (S1).
    fn all(rendered: &'a RenderedFeature) -> Vec<SharedStep<'a>> {
        let mut all: Vec<SharedStep<'a>> = Vec::new();
        for definition in &rendered.definitions {
            if definition
                .text
                .iter()
                .any(|piece| matches!(piece, StepPiece::Phrase(_)))
            {
                continue;
            }
            let same = |shared: &&mut SharedStep<'_>| {
                (shared.keyword, shared.text) == (definition.keyword, definition.text.as_slice())
            };
            match all.iter_mut().find(same) {
                Some(shared) => shared.definitions.push(definition),
                None => all.push(SharedStep {
                    keyword: definition.keyword,
                    text: &definition.text,
                    definitions: vec![definition],
                }),
            }
        }
        all
    }

    /// Returns the statements, by scenario if they differ. `scenario` is code for the name of the
    /// running scenario.
    fn body(&self, target: &StepModule, scenario: &str) -> Vec<String> {
        let mut lines = self.reading_statements(target);
        match self.definitions.as_slice() {
            [only] => lines.extend(statements(&only.code, target)),
            several => {
                for (index, definition) in several.iter().enumerate() {
                    let names: Vec<String> = definition
                        .scenarios
                        .iter()
                        .map(|name| python_string(name))
                        .collect();
                    let word = match index {
                        0 => "if",
                        _ => "elif",
                    };
                    lines.push(format!(
                        "{word} {scenario}.startswith(({},)):",
                        names.join(", ")
                    ));
                    lines.extend(
                        statements(&definition.code, target)
                            .into_iter()
                            .map(|line| format!("    {line}")),
                    );
                }
            }
        }
        if lines.is_empty() {
            lines.push("pass".to_owned());
        }
        lines
    }

    /// Returns statements that check the values in a line against the given ones (S6).
    fn reading_statements(&self, target: &StepModule) -> Vec<String> {
        let Some(inputs) = self
            .definitions
            .first()
            .map(|definition| &definition.inputs)
        else {
            return Vec::new();
        };
        if self.is_exact() && inputs.is_empty() {
            return Vec::new();
        }
        let store = target.store;
        let names: Vec<String> = inputs
            .iter()
            .map(|name| format!(", {}", python_string(name)))
            .collect();
        let mut lines = vec![format!("name_inputs({store}{})", names.concat())];
        if !self.is_exact() {
            let parts = self.text.iter().map(|piece| match piece {
                StepPiece::Words(words) => format!("({}, None)", python_string(words)),
                StepPiece::Value(name) | StepPiece::Phrase(name) => {
                    format!("(None, {})", python_string(name))
                }
            });
            let parts: Vec<String> = parts.collect();
            lines.push(format!("read_along(line, [{}], {store})", parts.join(", ")));
        }
        lines
    }

    /// Returns true if the text contains no values.
    fn is_exact(&self) -> bool {
        self.text
            .iter()
            .all(|piece| matches!(piece, StepPiece::Words(_)))
    }

    /// Returns the text.
    fn exact_text(&self) -> String {
        let words = self.text.iter().map(|piece| match piece {
            StepPiece::Words(words) => words.as_str(),
            StepPiece::Value(_) | StepPiece::Phrase(_) => "",
        });
        words.collect()
    }

    /// Returns a Python expression for a pattern that finds lines with values, and captures the
    /// whole `line`.
    fn pattern(&self) -> String {
        let parts = self.text.iter().map(|piece| match piece {
            StepPiece::Words(words) => format!("re.escape({})", python_string(words)),
            StepPiece::Value(_) | StepPiece::Phrase(_) => "\".+\"".to_owned(),
        });
        let parts: Vec<String> = parts.collect();
        format!("\"(?P<line>\" + {} + \")\"", parts.join(" + "))
    }
}

/// Returns a pattern that excludes lines which begin like inputs and have a step of their own. The
/// generic step must not find them.
fn exclusion_pattern(shared: &[SharedStep<'_>]) -> String {
    let texts = shared
        .iter()
        .filter(|shared| shared.keyword == StepKeyword::Given && shared.is_exact());
    let texts = texts
        .map(SharedStep::exact_text)
        .filter(|text| text.starts_with("I have the "));
    let texts: Vec<String> = texts
        .map(|text| format!("re.escape({})", python_string(&text)))
        .collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!("\"(?!(?:\" + {} + r\")\\Z)\" + ", texts.join(" + \"|\" + "))
    }
}

/// Returns true if values stand in all lines of a feature.
fn is_inline(rendered: &RenderedFeature) -> bool {
    let is_nameless =
        |definition: &StepDefinition| matches!(definition.text.last(), Some(StepPiece::Phrase(_)));
    rendered.definitions.iter().any(is_nameless)
}

/// Returns the name of the decorator of a step.
fn decorator_name(keyword: StepKeyword) -> &'static str {
    match keyword {
        StepKeyword::Given => "given",
        StepKeyword::When => "when",
        StepKeyword::Then => "then",
    }
}

/// Indents lines by one level.
pub(crate) fn indented(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines.iter().flat_map(|line| line.split('\n')) {
        let _ = if line.trim().is_empty() {
            writeln!(text)
        } else {
            writeln!(text, "    {line}")
        };
    }
    text
}

#[cfg(test)]
mod tests;
