//! The names in a test, and the imports that they need.

use std::collections::{BTreeMap, BTreeSet};

use super::code::PythonCode;
use crate::suite::TestImport;
use crate::value::ImportPath;

/// Builtins, which the variables of a test must not hide.
const BUILTINS: [&str; 74] = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "copyright",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "license",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "anext",
    "aiter",
];

/// Names that tests use for other purposes.
const RESERVED: [&str; 11] = [
    "self",
    "result",
    "caught",
    "out",
    "err",
    "monkeypatch",
    "capsys",
    "tmp_path",
    "patcher",
    "generator",
    "mock",
];

/// The names of one test.
#[derive(Debug, Clone, Default)]
pub(crate) struct ImportScope {
    /// The imports, by name.
    imports: BTreeMap<String, TestImport>,
    /// The test's own variables.
    variables: BTreeSet<String>,
    /// Names of modules that were needed but taken.
    missing_names: BTreeSet<String>,
    /// Names that are reserved for modules.
    reserved: BTreeSet<String>,
    /// The importable names of modules that ran as the main program.
    aliases: BTreeMap<String, String>,
    /// True if every name is written with its module: `shop.Cart`.
    write_modules: bool,
    /// Modules from which a name is better imported than from the one that defines it.
    preferred_modules: BTreeMap<(String, String), String>,
}

impl ImportScope {
    /// Creates a scope in which the module `__main__` is imported by another name.
    pub(crate) fn new(aliases: BTreeMap<String, String>) -> ImportScope {
        ImportScope {
            aliases,
            ..ImportScope::default()
        }
    }

    /// Creates a scope that reserves the names that modules turned out to need; `None` if no name
    /// was taken.
    ///
    /// The modules that a test needs are known only when it is written. By then a variable may have
    /// the name of one.
    pub(crate) fn reserving_missing(
        &self,
        aliases: BTreeMap<String, String>,
    ) -> Option<ImportScope> {
        let reserved = || self.reserved.union(&self.missing_names).cloned().collect();
        (!self.missing_names.is_empty()).then(|| ImportScope {
            aliases,
            reserved: reserved(),
            ..ImportScope::default()
        })
    }

    /// Creates a scope in which every name is written with its module. `homes` are preferred
    /// modules for some names.
    pub(crate) fn with_module_names(
        aliases: BTreeMap<String, String>,
        preferred_modules: BTreeMap<(String, String), String>,
    ) -> ImportScope {
        ImportScope {
            aliases,
            write_modules: true,
            preferred_modules,
            ..ImportScope::default()
        }
    }

    /// Returns the name by which a module is imported.
    pub(crate) fn module_name<'a>(&'a self, module: &'a str) -> &'a str {
        self.aliases.get(module).map_or(module, String::as_str)
    }

    /// Refers to something importable by the shortest name that is not taken.
    pub(crate) fn reference(&mut self, reference: &ImportPath) -> PythonCode {
        if reference.module == "builtins" && !reference.path.is_empty() {
            return PythonCode::text(&reference.path);
        }
        let module = self.module_name(&reference.module).to_owned();
        if reference.path.is_empty() {
            return self.module(&module);
        }
        let first = reference.path.split('.').next().unwrap_or(&reference.path);
        let home = self
            .preferred_modules
            .get(&(module.clone(), first.to_owned()));
        let module = home.cloned().unwrap_or(module);
        // Names of the standard library are known with their module: `datetime.date`, not `date`.
        let import = TestImport::single_name(&module, first);
        let is_own = import.section == crate::suite::ImportSection::Own;
        // pytest would collect it as a test of this file.
        let is_like_test = first.to_lowercase().starts_with("test");
        if is_own && !is_like_test && !self.write_modules && self.add_import(&import) {
            return PythonCode::text(&reference.path);
        }
        let PythonCode::Text(module) = self.module(&module) else {
            return PythonCode::text(&reference.path);
        };
        PythonCode::text(format!("{module}.{}", reference.path))
    }

    /// Refers to a module.
    pub(crate) fn module(&mut self, module: &str) -> PythonCode {
        let module = self.module_name(module).to_owned();
        let import = TestImport::whole_module(&module);
        if !self.add_import(&import) {
            self.missing_names.insert(import.bound_name().to_owned());
        }
        PythonCode::text(module)
    }

    /// Refers to a name that must be imported from its module as it is, such as a helper.
    pub(crate) fn import_name(&mut self, module: &str, name: &str) -> PythonCode {
        self.add_import(&TestImport::single_name(module, name));
        PythonCode::text(name)
    }

    /// Adds an import, unless its name is taken. Returns true if the name refers to it now.
    fn add_import(&mut self, import: &TestImport) -> bool {
        let bound = import.bound_name();
        // Several modules of one package bind the same name.
        let key = match &import.name {
            Some(name) => name.clone(),
            None => import.module.clone(),
        };
        let is_kept = import.name.is_some() && self.reserved.contains(bound);
        let free = !is_kept
            && !self.variables.contains(bound)
            && self.imports.values().all(|known| {
                known.bound_name() != bound
                    || known == import
                    || (known.name.is_none() && import.name.is_none())
            });
        if free {
            self.imports.insert(key, import.clone());
        }
        free
    }

    /// Adds a variable called `wanted`, with a number if that is taken.
    pub(crate) fn variable(&mut self, wanted: &str) -> String {
        let wanted = identifier(wanted);
        let mut name = wanted.clone();
        let mut number = 1;
        while !self.is_free(&name) {
            number += 1;
            name = format!("{wanted}_{number}");
        }
        self.variables.insert(name.clone());
        name
    }

    /// Returns true if nothing in the test has a name.
    fn is_free(&self, name: &str) -> bool {
        let imported = self
            .imports
            .values()
            .any(|import| import.bound_name() == name);
        !imported
            && !self.variables.contains(name)
            && !self.reserved.contains(name)
            && !BUILTINS.contains(&name)
            && !RESERVED.contains(&name)
            && !testwright_source::is_keyword(name)
    }

    /// Takes over the imports of another scope that started as a copy of this one. Its variables
    /// are dropped.
    pub(crate) fn take_imports(&mut self, other: ImportScope) {
        self.imports = other.imports;
    }

    /// Returns all imports that the test needs.
    pub(crate) fn imports(&self) -> Vec<TestImport> {
        self.imports.values().cloned().collect()
    }
}

/// Returns true if a name is a builtin function or type.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// Turns a text into a valid variable name: snake case, without underscores in front.
fn identifier(text: &str) -> String {
    let name = snake_case(text);
    let name = name.trim_matches('_');
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return format!("value{name}");
    }
    name.to_owned()
}

/// Converts `ShoppingCart` to `shopping_cart`.
pub(crate) fn snake_case(text: &str) -> String {
    let mut name = String::new();
    let mut after_small = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_alphanumeric() {
            if !name.ends_with('_') {
                name.push('_');
            }
            after_small = false;
            continue;
        }
        // The last of several capitals begins the next word, if a small letter follows.
        let begins_word = after_small || letters.peek().is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && begins_word && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        after_small = letter.is_lowercase() || letter.is_ascii_digit();
        name.extend(letter.to_lowercase());
    }
    name
}

/// Converts `swap_first` to `SwapFirst`.
pub(crate) fn camel_case(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words
        .map(|word| {
            let mut letters = word.chars();
            match letters.next() {
                Some(first) => first.to_uppercase().chain(letters).collect::<String>(),
                None => String::new(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_mean_one_thing_each() {
        let mut scope = ImportScope::default();
        let code = |scope: &mut ImportScope, module: &str, path: &str| {
            scope.reference(&ImportPath::new(module, path)).one_line()
        };
        assert_eq!(code(&mut scope, "shop", "Cart.total"), "Cart.total");
        assert_eq!(code(&mut scope, "zoo", "Cart"), "zoo.Cart");
        assert_eq!(code(&mut scope, "datetime", "date"), "datetime.date");
        assert_eq!(code(&mut scope, "builtins", "len"), "len");
        assert_eq!(code(&mut scope, "shop", "testing"), "shop.testing");
        let texts: Vec<String> = scope.imports().iter().map(TestImport::text).collect();
        assert!(scope.reserving_missing(BTreeMap::new()).is_none());
        assert_eq!(
            texts,
            [
                "from shop import Cart",
                "import datetime",
                "import shop",
                "import zoo"
            ]
        );
    }

    #[test]
    fn variables_hide_nothing() {
        let mut scope = ImportScope::default();
        scope.reference(&ImportPath::new("shop", "total"));
        let wanted = ["items", "items", "list", "_private", "total", "class", "2"];
        let names: Vec<String> = wanted.iter().map(|name| scope.variable(name)).collect();
        assert_eq!(
            names,
            [
                "items", "items_2", "list_2", "private", "total_2", "class_2", "value2"
            ]
        );
    }

    #[test]
    fn cases() {
        assert_eq!(snake_case("ShoppingCart"), "shopping_cart");
        assert_eq!(snake_case("HTTPError"), "http_error");
        assert_eq!(snake_case("Parse_URL2Text"), "parse_url2_text");
        assert_eq!(camel_case("swap_first"), "SwapFirst");
        assert_eq!(camel_case("Outer.inner"), "OuterInner");
    }

    #[test]
    fn a_module_gets_the_name_that_it_needs_on_retry() {
        let mut scope = ImportScope::default();
        assert_eq!(scope.variable("decimal"), "decimal");
        let _ = scope.reference(&ImportPath::new("shop", "shop"));
        let _ = scope.module("decimal");
        let _ = scope.module("shop.carts");
        let mut scope = scope
            .reserving_missing(BTreeMap::new())
            .expect("names were wanted");
        assert_eq!(scope.variable("decimal"), "decimal_2");
        let function = scope.reference(&ImportPath::new("shop", "shop"));
        assert_eq!(function.one_line(), "shop.shop");
        let _ = (scope.module("decimal"), scope.module("shop.carts"));
        assert!(scope.reserving_missing(BTreeMap::new()).is_none());
    }
}
