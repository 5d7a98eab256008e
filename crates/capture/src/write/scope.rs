//! Which names a test uses, and what has to be imported for them.

use std::collections::{BTreeMap, BTreeSet};

use super::code::Code;
use crate::suite::Import;
use crate::value::Reference;

/// Names that a test's variables must not hide.
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

/// Names that tests give to other things.
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
pub(crate) struct Scope {
    /// What each imported name is.
    imports: BTreeMap<String, Import>,
    /// The test's own variables.
    variables: BTreeSet<String>,
    /// Names that modules need which other things got first.
    wanted: BTreeSet<String>,
    /// Names that are kept free for modules.
    kept: BTreeSet<String>,
    /// What modules are called that ran as the program itself.
    aliases: BTreeMap<String, String>,
    /// Whether everything is said with its module: `shop.Cart`.
    by_module: bool,
    /// From which module something is better imported than from the one that defines it.
    homes: BTreeMap<(String, String), String>,
}

impl Scope {
    /// A scope in which the module `__main__` is imported by another name.
    pub(crate) fn new(aliases: BTreeMap<String, String>) -> Scope {
        Scope {
            aliases,
            ..Scope::default()
        }
    }

    /// A scope in which names stay free that modules turned out to need; nothing if none did.
    ///
    /// Which modules a test needs is known only when it is written, and by then a variable may be called like one.
    pub(crate) fn again(&self, aliases: BTreeMap<String, String>) -> Option<Scope> {
        let kept = || self.kept.union(&self.wanted).cloned().collect();
        (!self.wanted.is_empty()).then(|| Scope {
            aliases,
            kept: kept(),
            ..Scope::default()
        })
    }

    /// A scope in which everything is said with its module, preferably one of `homes`: where a name of a module is also found.
    pub(crate) fn by_module(
        aliases: BTreeMap<String, String>,
        homes: BTreeMap<(String, String), String>,
    ) -> Scope {
        Scope {
            aliases,
            by_module: true,
            homes,
            ..Scope::default()
        }
    }

    /// The name by which a module is imported.
    pub(crate) fn module_name<'a>(&'a self, module: &'a str) -> &'a str {
        self.aliases.get(module).map_or(module, String::as_str)
    }

    /// Something that can be imported, by the shortest name that means nothing else.
    pub(crate) fn reference(&mut self, reference: &Reference) -> Code {
        if reference.module == "builtins" && !reference.path.is_empty() {
            return Code::text(&reference.path);
        }
        let module = self.module_name(&reference.module).to_owned();
        if reference.path.is_empty() {
            return self.module(&module);
        }
        let first = reference.path.split('.').next().unwrap_or(&reference.path);
        let home = self.homes.get(&(module.clone(), first.to_owned()));
        let module = home.cloned().unwrap_or(module);
        // What comes with Python is known by its full name: `datetime.date`, not `date`.
        let import = Import::from(&module, first);
        let is_own = import.section == crate::suite::Section::Own;
        // pytest would take it for a test of this file.
        let is_like_test = first.to_lowercase().starts_with("test");
        if is_own && !is_like_test && !self.by_module && self.takes(&import) {
            return Code::text(&reference.path);
        }
        let Code::Text(module) = self.module(&module) else {
            return Code::text(&reference.path);
        };
        Code::text(format!("{module}.{}", reference.path))
    }

    /// A module itself.
    pub(crate) fn module(&mut self, module: &str) -> Code {
        let module = self.module_name(module).to_owned();
        let import = Import::module(&module);
        if !self.takes(&import) {
            self.wanted.insert(import.bound().to_owned());
        }
        Code::text(module)
    }

    /// A name from a module that must be imported as it is, such as a helper.
    pub(crate) fn from(&mut self, module: &str, name: &str) -> Code {
        self.takes(&Import::from(module, name));
        Code::text(name)
    }

    /// Adds an import, unless its name means something else already.
    fn takes(&mut self, import: &Import) -> bool {
        let bound = import.bound();
        // Several modules of one package bind the same name and mean the same.
        let key = match &import.name {
            Some(name) => name.clone(),
            None => import.module.clone(),
        };
        let is_kept = import.name.is_some() && self.kept.contains(bound);
        let free = !is_kept
            && !self.variables.contains(bound)
            && self.imports.values().all(|known| {
                known.bound() != bound
                    || known == import
                    || (known.name.is_none() && import.name.is_none())
            });
        if free {
            self.imports.insert(key, import.clone());
        }
        free
    }

    /// A new variable, called like `wanted` if that is possible.
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

    fn is_free(&self, name: &str) -> bool {
        let imported = self.imports.values().any(|import| import.bound() == name);
        !imported
            && !self.variables.contains(name)
            && !self.kept.contains(name)
            && !BUILTINS.contains(&name)
            && !RESERVED.contains(&name)
            && !testwright_source::is_keyword(name)
    }

    /// The imports of another scope that began as this one. Its variables are nothing to this one.
    pub(crate) fn take_imports(&mut self, other: Scope) {
        self.imports = other.imports;
    }

    /// Everything that the test needs.
    pub(crate) fn imports(&self) -> Vec<Import> {
        self.imports.values().cloned().collect()
    }
}

/// Whether a name is one of Python's own functions and types.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name)
}

/// A word that can be a name: snake case, no underscore in front.
fn identifier(text: &str) -> String {
    let name = snake_case(text);
    let name = name.trim_matches('_');
    if name.is_empty() || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return format!("value{name}");
    }
    name.to_owned()
}

/// `ShoppingCart` as `shopping_cart`.
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
        // The last capital of several begins the next word, if it goes on.
        let begins_word = after_small || letters.peek().is_some_and(|next| next.is_lowercase());
        if letter.is_uppercase() && begins_word && !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
        after_small = letter.is_lowercase() || letter.is_ascii_digit();
        name.extend(letter.to_lowercase());
    }
    name
}

/// `swap_first` as `SwapFirst`.
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
        let mut scope = Scope::default();
        let code = |scope: &mut Scope, module: &str, path: &str| {
            scope.reference(&Reference::new(module, path)).flat()
        };
        assert_eq!(code(&mut scope, "shop", "Cart.total"), "Cart.total");
        assert_eq!(code(&mut scope, "zoo", "Cart"), "zoo.Cart");
        assert_eq!(code(&mut scope, "datetime", "date"), "datetime.date");
        assert_eq!(code(&mut scope, "builtins", "len"), "len");
        assert_eq!(code(&mut scope, "shop", "testing"), "shop.testing");
        let texts: Vec<String> = scope.imports().iter().map(Import::text).collect();
        assert!(scope.again(BTreeMap::new()).is_none());
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
        let mut scope = Scope::default();
        scope.reference(&Reference::new("shop", "total"));
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
    fn a_module_gets_the_name_that_it_needs_when_everything_is_said_again() {
        let mut scope = Scope::default();
        assert_eq!(scope.variable("decimal"), "decimal");
        let _ = scope.reference(&Reference::new("shop", "shop"));
        let _ = scope.module("decimal");
        let _ = scope.module("shop.carts");
        let mut scope = scope.again(BTreeMap::new()).expect("names were wanted");
        assert_eq!(scope.variable("decimal"), "decimal_2");
        let function = scope.reference(&Reference::new("shop", "shop"));
        assert_eq!(function.flat(), "shop.shop");
        let _ = (scope.module("decimal"), scope.module("shop.carts"));
        assert!(scope.again(BTreeMap::new()).is_none());
    }
}
