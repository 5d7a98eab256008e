//! Unit tests as text, before they are in a file. [`write`](mod@crate::write) produces them, and
//! [`merge`](mod@crate::merge) adds them to files.

/// The tests for one test file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitTestSuite {
    /// The imports that all tests need.
    pub imports: Vec<TestImport>,
    /// The classes, one for each unit.
    pub classes: Vec<TestClass>,
    /// True if a new file ends with `unittest.main()`.
    pub main_guard: bool,
}

/// The tests of one unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestClass {
    /// Its name.
    pub name: String,
    /// Its base class.
    pub base: Option<String>,
    /// Its tests.
    pub tests: Vec<UnitTest>,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTest {
    /// The id of the recorded call that it comes from. It is the same in every run.
    pub id: String,
    /// The name of its function.
    pub name: String,
    /// Its lines, decorators first, indented by four blanks for each level, but not for the class
    /// around it.
    ///
    /// No string spans several lines, so all leading blanks are indentation.
    pub lines: Vec<String>,
    /// The imports that it needs.
    pub imports: Vec<TestImport>,
}

/// An import that tests need.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestImport {
    /// The section of the file's head that it belongs to.
    pub section: ImportSection,
    /// The module.
    pub module: String,
    /// The name that is imported from the module; `None` for the module itself.
    pub name: Option<String>,
}

/// The sections of imports at the head of a file, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImportSection {
    /// The standard library.
    Standard,
    /// Installed packages.
    Installed,
    /// The project's own modules.
    Own,
}

impl TestImport {
    /// Creates `import module`.
    #[must_use]
    pub fn whole_module(module: &str) -> TestImport {
        TestImport {
            section: import_section(module),
            module: module.to_owned(),
            name: None,
        }
    }

    /// Creates `from module import name`.
    #[must_use]
    pub fn single_name(module: &str, name: &str) -> TestImport {
        TestImport {
            section: import_section(module),
            module: module.to_owned(),
            name: Some(name.to_owned()),
        }
    }

    /// Returns the name that it binds.
    #[must_use]
    pub fn bound_name(&self) -> &str {
        match &self.name {
            Some(name) => name,
            None => self.module.split('.').next().unwrap_or(&self.module),
        }
    }

    /// Renders the import statement.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.name {
            Some(name) => format!("from {} import {name}", self.module),
            None => format!("import {}", self.module),
        }
    }
}

/// The modules of the standard library that tests use. Modules that are neither here nor known to
/// be installed count as the project's.
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

/// Returns the section that a module belongs to.
fn import_section(module: &str) -> ImportSection {
    let first = module.split('.').next().unwrap_or(module);
    if STANDARD.contains(&first) {
        ImportSection::Standard
    } else if first == "pytest" {
        ImportSection::Installed
    } else {
        ImportSection::Own
    }
}

/// Renders the head of a new file: by section, modules before names from modules, and names of one
/// module together.
#[must_use]
pub fn import_lines(imports: &[TestImport]) -> Vec<String> {
    let mut imports = imports.to_vec();
    imports.sort();
    imports.dedup();
    let mut lines: Vec<String> = Vec::new();
    for section in [
        ImportSection::Standard,
        ImportSection::Installed,
        ImportSection::Own,
    ] {
        let of_section: Vec<&TestImport> = imports
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

/// Renders a `from` import, on several lines if it is long.
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
            TestImport::single_name("shop.cart", "total"),
            TestImport::whole_module("pytest"),
            TestImport::single_name("shop.cart", "Cart"),
            TestImport::whole_module("shop"),
            TestImport::single_name("unittest", "mock"),
            TestImport::whole_module("io"),
            TestImport::whole_module("io"),
        ];
        assert_eq!(
            import_lines(&imports),
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
