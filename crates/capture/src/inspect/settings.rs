//! The settings of pytest in a project's configuration. Only a few keys are needed, so one lenient
//! parser reads three kinds of files, and skips everything else.

use std::fs;
use std::path::Path;

use super::ignore::matches;

/// Settings of pytest, with pytest's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PytestSettings {
    /// Patterns of the names of test files.
    pub files: Vec<String>,
    /// Prefixes or patterns of the names of test classes.
    pub classes: Vec<String>,
    /// Prefixes or patterns of the names of test functions.
    pub functions: Vec<String>,
    /// The folders with tests.
    pub folders: Vec<String>,
    /// True if the project has settings for pytest.
    pub uses_pytest: bool,
    /// True if pytest imports tests by path, so that they cannot import modules in their own
    /// folder.
    pub imports_by_path: bool,
}

impl Default for PytestSettings {
    fn default() -> PytestSettings {
        PytestSettings {
            files: to_strings(&["test_*.py", "*_test.py"]),
            classes: to_strings(&["Test"]),
            functions: to_strings(&["test"]),
            folders: Vec::new(),
            uses_pytest: false,
            imports_by_path: false,
        }
    }
}

/// Copies texts.
fn to_strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl PytestSettings {
    /// Reads the settings of a project's folder, from the first file that has them in pytest's
    /// order.
    #[must_use]
    pub fn read(root: &Path) -> PytestSettings {
        let files = [
            ("pytest.ini", "pytest"),
            ("pyproject.toml", "tool.pytest.ini_options"),
            ("tox.ini", "pytest"),
            ("setup.cfg", "tool:pytest"),
        ];
        for (file, section) in files {
            let Ok(bytes) = fs::read(root.join(file)) else {
                continue;
            };
            if let Some(settings) = PytestSettings::parse(&String::from_utf8_lossy(&bytes), section)
            {
                return settings;
            }
        }
        PytestSettings {
            uses_pytest: root.join("conftest.py").exists()
                || root.join("tests/conftest.py").exists(),
            ..PytestSettings::default()
        }
    }

    /// Parses a section of a configuration file; `None` if there is no such section.
    fn parse(text: &str, section: &str) -> Option<PytestSettings> {
        let lines = section_lines(text, section)?;
        let mut settings = PytestSettings {
            uses_pytest: true,
            ..PytestSettings::default()
        };
        for (key, values) in parse_entries(&lines) {
            match key.as_str() {
                "python_files" => settings.files = values,
                "python_classes" => settings.classes = values,
                "python_functions" => settings.functions = values,
                "testpaths" => settings.folders = values,
                "addopts" => settings.imports_by_path = has_import_mode(&values),
                _ => {}
            }
        }
        Some(settings)
    }

    /// Returns true if a file with this name contains tests.
    #[must_use]
    pub fn is_test_file(&self, name: &str) -> bool {
        matches!(name, "conftest.py" | "testwright_helpers.py")
            || self.files.iter().any(|pattern| matches(pattern, name))
    }

    /// Returns true if a class with this name contains tests. The ending counts too, as in
    /// `ShopTest`.
    #[must_use]
    pub fn is_test_class(&self, name: &str) -> bool {
        name.ends_with("Test") || matches_any(&self.classes, name)
    }

    /// Returns true if a function with this name is a test.
    #[must_use]
    pub fn is_test_function(&self, name: &str) -> bool {
        matches_any(&self.functions, name)
    }
}

/// Returns true if these options make pytest import tests by path.
fn has_import_mode(options: &[String]) -> bool {
    let is_it = |pair: &[String]| matches!(pair, [option, mode] if option == "--import-mode" && mode == "importlib");
    options
        .iter()
        .any(|option| option == "--import-mode=importlib")
        || options.windows(2).any(is_it)
}

/// Returns true if a name matches as in pytest: by a prefix, or by a pattern with a star.
fn matches_any(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| name.starts_with(pattern.as_str()) || matches(pattern, name))
}

/// Returns the lines of a section; `None` if it is missing.
fn section_lines<'a>(text: &'a str, section: &str) -> Option<Vec<&'a str>> {
    let header = |line: &'a str| {
        let line = line.trim();
        line.strip_prefix('[')?.strip_suffix(']')
    };
    let mut lines = text.lines();
    lines.find(|line| header(line).is_some_and(|found| found.trim() == section))?;
    // A line of an array in TOML may look like a header, but is indented.
    Some(
        lines
            .take_while(|line| line.starts_with([' ', '\t']) || header(line).is_none())
            .collect(),
    )
}

/// Returns the keys with the words of their values, in the syntax of INI files or of TOML.
fn parse_entries(lines: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut found: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines {
        let line = match line.find('#') {
            Some(comment) => &line[..comment],
            None => line,
        };
        let starts_entry = !line.starts_with([' ', '\t']);
        let value = match line.split_once('=') {
            Some((key, value)) if starts_entry => {
                found.push((key.trim().to_owned(), Vec::new()));
                value
            }
            _ => line,
        };
        if let Some((_, words)) = found.last_mut() {
            let separators = |letter: char| letter.is_whitespace() || "[],\"'".contains(letter);
            let pieces = value.split(separators).filter(|word| !word.is_empty());
            words.extend(pieces.map(str::to_owned));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_settings_in_three_spellings() {
        let ini = "[other]\nx = 1\n[pytest]\npython_files = check_*.py\n    *_spec.py\ntestpaths = checks\n[more]\n";
        let toml = "[tool.pytest.ini_options]\npython_files = [\n    \"check_*.py\", # both\n    '*_spec.py',\n]\ntestpaths = [\"checks\"]\n[tool.x]\na = [1]\n";
        let ini = PytestSettings::parse(ini, "pytest").expect("a section");
        let toml = PytestSettings::parse(toml, "tool.pytest.ini_options").expect("a section");
        assert_eq!(ini, toml);
        assert!(ini.is_test_file("a_spec.py") && !ini.is_test_file("test_a.py"));
        assert_eq!(ini.folders, ["checks"]);
        assert_eq!(PytestSettings::parse("[a]\n", "pytest"), None);
        assert!(!ini.imports_by_path);
        for options in [
            "-q --import-mode=importlib",
            "--import-mode importlib -q",
            "[\"--import-mode=importlib\"]",
        ] {
            let text = format!("[pytest]\naddopts = {options}\n");
            let settings = PytestSettings::parse(&text, "pytest").expect("a section");
            assert!(settings.imports_by_path, "{options}");
        }
    }

    #[test]
    fn names_decide_what_is_a_test() {
        let settings = PytestSettings::default();
        assert!(settings.is_test_class("TestCart") && settings.is_test_class("CartTest"));
        assert!(!settings.is_test_class("Cart"));
        assert!(settings.is_test_file("cart_test.py") && settings.is_test_file("conftest.py"));
    }
}
