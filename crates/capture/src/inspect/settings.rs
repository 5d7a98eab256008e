//! What a project's configuration says about its tests. Only a few keys are asked for, so that three kinds of files can be
//! read by one lenient reader: what it does not understand is passed over.

use std::fs;
use std::path::Path;

use super::ignore::matches;

/// pytest's own settings, with pytest's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// Patterns of the names of test files.
    pub files: Vec<String>,
    /// Prefixes or patterns of the names of test classes.
    pub classes: Vec<String>,
    /// Prefixes or patterns of the names of test functions.
    pub functions: Vec<String>,
    /// Folders with tests.
    pub folders: Vec<String>,
    /// Whether the project has settings for pytest.
    pub uses_pytest: bool,
    /// Whether tests are imported by their paths, so that those of a folder cannot import what is beside them.
    pub imports_by_path: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            files: owned(&["test_*.py", "*_test.py"]),
            classes: owned(&["Test"]),
            functions: owned(&["test"]),
            folders: Vec::new(),
            uses_pytest: false,
            imports_by_path: false,
        }
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

impl Settings {
    /// Reads what a project's folder has, in the order in which pytest looks.
    #[must_use]
    pub fn read(root: &Path) -> Settings {
        let places = [
            ("pytest.ini", "pytest"),
            ("pyproject.toml", "tool.pytest.ini_options"),
            ("tox.ini", "pytest"),
            ("setup.cfg", "tool:pytest"),
        ];
        for (file, section) in places {
            let Ok(bytes) = fs::read(root.join(file)) else {
                continue;
            };
            if let Some(settings) = Settings::parse(&String::from_utf8_lossy(&bytes), section) {
                return settings;
            }
        }
        Settings {
            uses_pytest: root.join("conftest.py").exists()
                || root.join("tests/conftest.py").exists(),
            ..Settings::default()
        }
    }

    fn parse(text: &str, section: &str) -> Option<Settings> {
        let lines = section_lines(text, section)?;
        let mut settings = Settings {
            uses_pytest: true,
            ..Settings::default()
        };
        for (key, values) in entries(&lines) {
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

    /// Whether a file of this name has tests in it.
    #[must_use]
    pub fn is_test_file(&self, name: &str) -> bool {
        matches!(name, "conftest.py" | "testwright_helpers.py")
            || self.files.iter().any(|pattern| matches(pattern, name))
    }

    /// Whether a class of this name holds tests. The end counts too, as in `ShopTest`.
    #[must_use]
    pub fn is_test_class(&self, name: &str) -> bool {
        name.ends_with("Test") || named(&self.classes, name)
    }

    /// Whether a function of this name is a test.
    #[must_use]
    pub fn is_test_function(&self, name: &str) -> bool {
        named(&self.functions, name)
    }
}

/// Whether these are options that let pytest import tests by their paths.
fn has_import_mode(options: &[String]) -> bool {
    let is_it = |pair: &[String]| matches!(pair, [option, mode] if option == "--import-mode" && mode == "importlib");
    options
        .iter()
        .any(|option| option == "--import-mode=importlib")
        || options.windows(2).any(is_it)
}

/// As pytest decides: a prefix, or a pattern if it has a star.
fn named(patterns: &[String], name: &str) -> bool {
    patterns
        .iter()
        .any(|pattern| name.starts_with(pattern.as_str()) || matches(pattern, name))
}

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

/// Keys and the words of their values, whether written as in INI files or as in TOML.
fn entries(lines: &[&str]) -> Vec<(String, Vec<String>)> {
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
        let ini = Settings::parse(ini, "pytest").expect("a section");
        let toml = Settings::parse(toml, "tool.pytest.ini_options").expect("a section");
        assert_eq!(ini, toml);
        assert!(ini.is_test_file("a_spec.py") && !ini.is_test_file("test_a.py"));
        assert_eq!(ini.folders, ["checks"]);
        assert_eq!(Settings::parse("[a]\n", "pytest"), None);
        assert!(!ini.imports_by_path);
        for options in [
            "-q --import-mode=importlib",
            "--import-mode importlib -q",
            "[\"--import-mode=importlib\"]",
        ] {
            let text = format!("[pytest]\naddopts = {options}\n");
            let settings = Settings::parse(&text, "pytest").expect("a section");
            assert!(settings.imports_by_path, "{options}");
        }
    }

    #[test]
    fn names_say_what_is_a_test() {
        let settings = Settings::default();
        assert!(settings.is_test_class("TestCart") && settings.is_test_class("CartTest"));
        assert!(!settings.is_test_class("Cart"));
        assert!(settings.is_test_file("cart_test.py") && settings.is_test_file("conftest.py"));
    }
}
