//! Step definitions, so that features run (4.6): Python files for behave or pytest-bdd that need nothing but the runner and
//! the code under test.

mod behave;
pub(crate) mod constants;
mod play;
mod pytest_bdd;

use std::fmt::Write;

use crate::gherkin::{Feature, Keyword};
use crate::property::{Code, Definition, Piece, Told, quoted};

pub use play::{
    Company, Part, Play, PlayLine, own_names, step_file, write_model_plays, write_plays,
    write_suite_plays,
};

/// Who runs the features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// `steps/NAME_steps.py` and `environment.py`.
    Behave,
    /// `test_NAME_feature.py`.
    PytestBdd,
}

/// Where the code is that steps use.
#[derive(Debug, Clone)]
pub struct Home {
    /// The file of the feature, without its folder.
    pub feature: String,
    /// The module with the properties, as Python imports it: `tests.test_lists`.
    pub module: String,
    /// From the folder of the feature to the one that Python finds the module in, with `/`; empty if it is the same.
    pub folder: String,
    /// What the store is called in code.
    pub store: &'static str,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// From the folder of the feature, with `/`.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// Reading phrases back, and everything else that steps share: what it imports, and the rest.
fn support() -> (&'static str, &'static str) {
    include_str!("steps/support.py")
        .split_once("\n\n")
        .unwrap_or_default()
}

/// The step files of a feature.
#[must_use]
pub fn write(runner: Runner, told: &Told, home: &Home) -> Vec<File> {
    match runner {
        Runner::Behave => behave::files(told, home),
        Runner::PytestBdd => pytest_bdd::files(told, home),
    }
}

/// What has to be in `pytest.ini`, for pytest-bdd turns tags into marks (S7).
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
        // Writing into a text cannot fail.
        let _ = writeln!(text, "    {tag}: {meaning}");
    }
    text
}

/// The same setup that steps have, for who runs their bodies without a runner (4.7): the module is imported already.
#[must_use]
pub fn prelude(home: &Home) -> String {
    let alias = home.alias();
    let imported = if alias == home.module {
        format!("import {alias}")
    } else {
        format!("import {} as {alias}", home.module)
    };
    let store = home.store;
    let (imports, support) = support();
    let made = home.made();
    format!("{imports}\n\n{imported}\n\n{support}{made}\n{store} = {{}}\n")
}

impl Home {
    /// What the module is called in code.
    #[must_use]
    pub fn alias(&self) -> &str {
        self.module.rsplit('.').next().unwrap_or(&self.module)
    }

    /// The function that makes values which have no phrase to read back.
    fn made(&self) -> String {
        format!(
            "\n\ndef made(recipe):\n    \"\"\"Makes a value that has no phrase to read back.\"\"\"\n    \
             names = {{\"datetime\": datetime, \"Decimal\": decimal.Decimal, \"Fraction\": fractions.Fraction}}\n    \
             return eval(recipe, {{**names, **vars({})}})\n",
            self.alias()
        )
    }

    /// The lines that let Python find the module; `levels` are the folders between the step file and the feature.
    #[must_use]
    pub fn import(&self, levels: &str) -> String {
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
            quoted(&folder)
        )
    }
}

/// `lists` for `lists.feature`, as part of the name of a file.
fn stem(feature: &str) -> String {
    let stem = feature.strip_suffix(".feature").unwrap_or(feature);
    stem.replace(['.', '-', ' '], "_")
}

/// The statements of a step.
pub(crate) fn statements(code: &Code, home: &Home) -> Vec<String> {
    let store = home.store;
    let mut lines = Vec::new();
    for (name, found) in &code.earlier {
        lines.push(format!(
            "remember({store}, {}, lambda: {found})",
            quoted(name)
        ));
    }
    lines.extend(code.body.iter().cloned());
    if let Some(check) = &code.check {
        let seen: Vec<String> = code.seen.iter().map(|name| quoted(name)).collect();
        lines.push(if seen.is_empty() {
            format!("assert {check}")
        } else {
            format!("assert {check}, seen({store}, {})", seen.join(", "))
        });
    }
    lines
}

/// All definitions with one text, which do different things in different scenarios if there is more than one.
struct Shared<'a> {
    keyword: Keyword,
    text: &'a [Piece],
    definitions: Vec<&'a Definition>,
}

impl<'a> Shared<'a> {
    /// The steps of a feature that are found by their own text: all but those that store an input by its phrase.
    fn all(told: &'a Told) -> Vec<Shared<'a>> {
        let mut all: Vec<Shared<'a>> = Vec::new();
        for definition in &told.definitions {
            if definition
                .text
                .iter()
                .any(|piece| matches!(piece, Piece::Phrase(_)))
            {
                continue;
            }
            let same = |shared: &&mut Shared<'_>| {
                (shared.keyword, shared.text) == (definition.keyword, definition.text.as_slice())
            };
            match all.iter_mut().find(same) {
                Some(shared) => shared.definitions.push(definition),
                None => all.push(Shared {
                    keyword: definition.keyword,
                    text: &definition.text,
                    definitions: vec![definition],
                }),
            }
        }
        all
    }

    /// The statements, by scenario if they differ. `scenario` is code for the name of the scenario that runs.
    fn body(&self, home: &Home, scenario: &str) -> Vec<String> {
        let mut lines = self.reading(home);
        match self.definitions.as_slice() {
            [only] => lines.extend(statements(&only.code, home)),
            several => {
                for (index, definition) in several.iter().enumerate() {
                    let names: Vec<String> = definition
                        .scenarios
                        .iter()
                        .map(|name| quoted(name))
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
                        statements(&definition.code, home)
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

    /// In lines with values, those must be the given ones (S6).
    fn reading(&self, home: &Home) -> Vec<String> {
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
        let store = home.store;
        let names: Vec<String> = inputs
            .iter()
            .map(|name| format!(", {}", quoted(name)))
            .collect();
        let mut lines = vec![format!("name_inputs({store}{})", names.concat())];
        if !self.is_exact() {
            let parts = self.text.iter().map(|piece| match piece {
                Piece::Words(words) => format!("({}, None)", quoted(words)),
                Piece::Value(name) | Piece::Phrase(name) => format!("(None, {})", quoted(name)),
            });
            let parts: Vec<String> = parts.collect();
            lines.push(format!("read_along(line, [{}], {store})", parts.join(", ")));
        }
        lines
    }

    fn is_exact(&self) -> bool {
        self.text
            .iter()
            .all(|piece| matches!(piece, Piece::Words(_)))
    }

    fn exact_text(&self) -> String {
        let words = self.text.iter().map(|piece| match piece {
            Piece::Words(words) => words.as_str(),
            Piece::Value(_) | Piece::Phrase(_) => "",
        });
        words.collect()
    }

    /// A Python expression for a pattern that finds lines with values, and gives the whole `line`.
    fn pattern(&self) -> String {
        let parts = self.text.iter().map(|piece| match piece {
            Piece::Words(words) => format!("re.escape({})", quoted(words)),
            Piece::Value(_) | Piece::Phrase(_) => "\".+\"".to_owned(),
        });
        let parts: Vec<String> = parts.collect();
        format!("\"(?P<line>\" + {} + \")\"", parts.join(" + "))
    }
}

/// Lines that begin like those of inputs and have a step of their own: the generic step must not find them.
fn others(shared: &[Shared<'_>]) -> String {
    let texts = shared
        .iter()
        .filter(|shared| shared.keyword == Keyword::Given && shared.is_exact());
    let texts = texts
        .map(Shared::exact_text)
        .filter(|text| text.starts_with("I have the "));
    let texts: Vec<String> = texts
        .map(|text| format!("re.escape({})", quoted(&text)))
        .collect();
    if texts.is_empty() {
        String::new()
    } else {
        format!("\"(?!(?:\" + {} + r\")\\Z)\" + ", texts.join(" + \"|\" + "))
    }
}

/// Whether values stand in all lines of a feature.
fn is_inline(told: &Told) -> bool {
    let is_nameless =
        |definition: &Definition| matches!(definition.text.last(), Some(Piece::Phrase(_)));
    told.definitions.iter().any(is_nameless)
}

fn word(keyword: Keyword) -> &'static str {
    match keyword {
        Keyword::Given => "given",
        Keyword::When => "when",
        Keyword::Then => "then",
    }
}

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
