//! Unit tests as text, before they are in a file: what the writer gives and what merging takes.

/// The tests for one test file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Suite {
    /// What the tests need.
    pub imports: Vec<Import>,
    /// One class for each unit.
    pub classes: Vec<TestClass>,
    /// Whether a new file ends with unittest's own start.
    pub main_guard: bool,
}

/// The tests of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestClass {
    /// Its name.
    pub name: String,
    /// What it inherits from.
    pub base: Option<String>,
    /// Its tests.
    pub tests: Vec<UnitTest>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTest {
    /// The interaction that it comes from; the same in every run.
    pub id: String,
    /// The name of its function.
    pub name: String,
    /// Its lines, decorators first, indented by four blanks for each level and not at all by the class around.
    ///
    /// No string goes over several lines, so that indentation is nothing but indentation.
    pub lines: Vec<String>,
    /// What it needs.
    pub imports: Vec<Import>,
}

/// Something that tests need to import.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// Where in a file's head it belongs.
    pub section: Section,
    /// The module.
    pub module: String,
    /// What is taken from it; nothing if it is the module itself.
    pub name: Option<String>,
}

/// The parts of a file's head, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Section {
    /// What comes with Python.
    Standard,
    /// What was installed.
    Installed,
    /// The project's own.
    Own,
}

impl Import {
    /// `import module`.
    #[must_use]
    pub fn module(module: &str) -> Import {
        Import {
            section: section(module),
            module: module.to_owned(),
            name: None,
        }
    }

    /// `from module import name`.
    #[must_use]
    pub fn from(module: &str, name: &str) -> Import {
        Import {
            section: section(module),
            module: module.to_owned(),
            name: Some(name.to_owned()),
        }
    }

    /// The name that it binds.
    #[must_use]
    pub fn bound(&self) -> &str {
        match &self.name {
            Some(name) => name,
            None => self.module.split('.').next().unwrap_or(&self.module),
        }
    }

    /// As written.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.name {
            Some(name) => format!("from {} import {name}", self.module),
            None => format!("import {}", self.module),
        }
    }
}

/// The modules that tests use of Python's own; whatever is neither here nor known to be installed is the project's.
const STANDARD: [&str; 41] = [
    "abc",
    "array",
    "asyncio",
    "builtins",
    "calendar",
    "collections",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "inspect",
    "io",
    "ipaddress",
    "itertools",
    "json",
    "logging",
    "math",
    "operator",
    "os",
    "pathlib",
    "queue",
    "random",
    "re",
    "secrets",
    "string",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "types",
    "typing",
    "unittest",
    "uuid",
    "warnings",
    "zoneinfo",
];

fn section(module: &str) -> Section {
    let first = module.split('.').next().unwrap_or(module);
    if STANDARD.contains(&first) {
        Section::Standard
    } else if first == "pytest" {
        Section::Installed
    } else {
        Section::Own
    }
}

/// The head of a new file: sections apart, modules before what is taken from modules, names of one module together.
#[must_use]
pub fn head(imports: &[Import]) -> Vec<String> {
    let mut imports = imports.to_vec();
    imports.sort();
    imports.dedup();
    let mut lines: Vec<String> = Vec::new();
    for section in [Section::Standard, Section::Installed, Section::Own] {
        let of_section: Vec<&Import> = imports
            .iter()
            .filter(|import| import.section == section)
            .collect();
        if of_section.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        let whole = of_section.iter().filter(|import| import.name.is_none());
        lines.extend(whole.map(|import| import.text()));
        let mut modules: Vec<(&str, Vec<&str>)> = Vec::new();
        for import in of_section {
            let Some(name) = &import.name else { continue };
            match modules.last_mut() {
                Some((module, names)) if *module == import.module => names.push(name),
                _ => modules.push((&import.module, vec![name])),
            }
        }
        for (module, names) in modules {
            lines.extend(from_lines(module, &names));
        }
    }
    lines
}

fn from_lines(module: &str, names: &[&str]) -> Vec<String> {
    let one = format!("from {module} import {}", names.join(", "));
    if one.len() <= 88 {
        return vec![one];
    }
    let mut lines = vec![format!("from {module} import (")];
    lines.extend(names.iter().map(|name| format!("    {name},")));
    lines.push(")".to_owned());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_sorted_in_sections() {
        let imports = [
            Import::from("shop.cart", "total"),
            Import::module("pytest"),
            Import::from("shop.cart", "Cart"),
            Import::module("shop"),
            Import::from("unittest", "mock"),
            Import::module("io"),
            Import::module("io"),
        ];
        assert_eq!(
            head(&imports),
            [
                "import io",
                "from unittest import mock",
                "",
                "import pytest",
                "",
                "import shop",
                "from shop.cart import Cart, total",
            ]
        );
    }
}
