//! Collects the public API of a set of modules: functions, classes, and the paths by which they are
//! imported.

use std::collections::{BTreeMap, BTreeSet};

use crate::inspect::{
    ClassDefinition, ClassKind, CodeDefinition, DefinitionKind, FunctionDefinition, FunctionRole,
    ProjectModule, PythonProject, is_public,
};
use crate::value::ImportPath;

/// The public API of the modules that a draft is about.
pub(super) struct PublicApi<'a> {
    /// The modules, packages first.
    pub(super) modules: Vec<&'a ProjectModule>,
    /// Packages that re-export a name of a module, by module and name.
    pub(super) exporting_packages: BTreeMap<(String, String), String>,
    /// The requested modules, as they were named.
    roots: &'a [String],
    /// Names that code outside of the modules has used, by module and first name.
    externally_used: BTreeSet<(String, String)>,
}

/// A class, with its module.
#[derive(Clone, Copy)]
pub(super) struct LocatedClass<'a> {
    pub(super) module: &'a ProjectModule,
    pub(super) definition: &'a CodeDefinition,
    pub(super) class: &'a ClassDefinition,
}

/// A function or method, with its module.
#[derive(Clone, Copy)]
pub(super) struct LocatedFunction<'a> {
    pub(super) module: &'a ProjectModule,
    pub(super) definition: &'a CodeDefinition,
    pub(super) function: &'a FunctionDefinition,
}

/// The key of a definition: its module and the line at which it begins.
pub(super) type Key = (String, u32);

impl LocatedFunction<'_> {
    /// Returns the key of the definition.
    pub(super) fn key(&self) -> Key {
        (self.module.name.clone(), self.definition.first_line)
    }
}

impl LocatedClass<'_> {
    /// Returns the path of the class.
    pub(super) fn reference(&self) -> ImportPath {
        ImportPath::new(&self.module.name, &self.definition.qualified_name)
    }
}

impl<'a> PublicApi<'a> {
    /// Collects the modules of these names and all modules inside of them. `used` are names that
    /// other code has used, by module and first name.
    pub(super) fn collect(
        project: &'a PythonProject,
        roots: &'a [String],
        used: BTreeSet<(String, String)>,
    ) -> PublicApi<'a> {
        let is_included = |module: &&ProjectModule| {
            let is_inside = |root: &String| {
                let rest = module.name.strip_prefix(root.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let is_program = module.name.ends_with("__main__");
            roots.iter().any(is_inside) && !module.is_test && !is_program
        };
        let mut modules: Vec<&ProjectModule> = project.modules.iter().filter(is_included).collect();
        modules.sort_by_key(|module| (module.name.matches('.').count(), &module.name));
        let mut api = PublicApi {
            modules,
            exporting_packages: BTreeMap::new(),
            roots,
            externally_used: used,
        };
        api.find_exporting_packages();
        api
    }

    /// Finds the packages that re-export names of their modules: `shop.Cart` for `shop._cart.Cart`.
    fn find_exporting_packages(&mut self) {
        let mut exporting_packages = BTreeMap::new();
        for package in self.modules.iter().filter(|module| module.is_package()) {
            for import in &package.imports {
                let from = package.import_source(import);
                let Some(source) = self.module(&from) else {
                    continue;
                };
                let names: Vec<&str> = match import.name.as_deref() {
                    Some("*") => {
                        let outer = source.definitions.iter().map(|found| found.name.as_str());
                        outer.filter(|name| is_public(name)).collect()
                    }
                    Some(name) if name == import.bound_name && is_public(name) => vec![name],
                    _ => continue,
                };
                for name in names {
                    let key = (from.clone(), name.to_owned());
                    exporting_packages
                        .entry(key)
                        .or_insert_with(|| package.name.clone());
                }
            }
        }
        self.exporting_packages = exporting_packages;
    }

    /// Returns the modules that define what packages re-export, by package and name, except for
    /// names that the package defines itself.
    pub(super) fn defining_modules(&self) -> BTreeMap<(String, String), String> {
        let exporting_packages = self.exporting_packages.iter();
        let offered = exporting_packages.map(|((module, name), home)| {
            let key = (home.clone(), name.clone());
            (key, module.clone())
        });
        let is_own = |package: &str, name: &str| {
            let package = self.module(package);
            package.is_some_and(|package| package.definition(name).is_some())
        };
        offered
            .filter(|((package, name), _)| !is_own(package, name))
            .collect()
    }

    /// Returns a module by its name.
    pub(super) fn module(&self, name: &str) -> Option<&'a ProjectModule> {
        self.modules
            .iter()
            .copied()
            .find(|module| module.name == name)
    }

    /// Returns true if a definition is public: by its names, because a package re-exports it, or
    /// because other code uses it.
    pub(super) fn is_public_definition(
        &self,
        module: &ProjectModule,
        definition: &CodeDefinition,
    ) -> bool {
        let qualified = &definition.qualified_name;
        let first = qualified.split('.').next().unwrap_or(qualified);
        let key = (module.name.clone(), first.to_owned());
        let is_requested = self.roots.contains(&module.name);
        let is_public_module = module.name.split('.').all(is_public) && !self.is_reexported(module);
        let is_found = is_requested
            || is_public_module
            || self.exporting_packages.contains_key(&key)
            || self.externally_used.contains(&key);
        is_found && !definition.is_test && qualified.split('.').all(is_public)
    }

    /// Returns true if a package around a module re-exports names from its modules. Names that it
    /// does not re-export are private.
    fn is_reexported(&self, module: &ProjectModule) -> bool {
        self.exporting_packages.values().any(|package| {
            let rest = module.name.strip_prefix(package.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// Returns all public functions outside of classes.
    pub(super) fn functions(&self) -> Vec<LocatedFunction<'a>> {
        let mut found: Vec<LocatedFunction<'a>> = Vec::new();
        for module in &self.modules {
            for definition in &module.definitions {
                let DefinitionKind::Function(function) = &definition.kind else {
                    continue;
                };
                if function.role != FunctionRole::Function
                    || !self.is_public_definition(module, definition)
                {
                    continue;
                }
                // Of two definitions with one name, the last one counts.
                found.retain(|known| {
                    known.module.name != module.name
                        || known.definition.qualified_name != definition.qualified_name
                });
                found.push(LocatedFunction {
                    module,
                    definition,
                    function,
                });
            }
        }
        found
    }

    /// Returns all classes of the modules, including private ones.
    pub(super) fn classes(&self) -> Vec<LocatedClass<'a>> {
        let mut found = Vec::new();
        for module in &self.modules {
            for definition in &module.definitions {
                let is_inside = definition.qualified_name.contains('<');
                if let DefinitionKind::Class(class) = &definition.kind
                    && !is_inside
                    && !definition.is_test
                {
                    found.push(LocatedClass {
                        module,
                        definition,
                        class,
                    });
                }
            }
        }
        found
    }

    /// Returns a class by its path.
    pub(super) fn class(&self, reference: &ImportPath) -> Option<LocatedClass<'a>> {
        let module = self.module(&reference.module)?;
        let definition = module.definition(&reference.path)?;
        match &definition.kind {
            DefinitionKind::Class(class) => Some(LocatedClass {
                module,
                definition,
                class,
            }),
            DefinitionKind::Function(_) => None,
        }
    }

    /// Resolves a name in a module, through packages that only re-export it.
    pub(super) fn resolve(&self, module: &ProjectModule, name: &str) -> ImportPath {
        let mut reference = module.resolve(name);
        for _ in 0..5 {
            let Some(from) = self.module(&reference.module) else {
                break;
            };
            let next = from.resolve(&reference.path);
            if next == reference {
                break;
            }
            reference = next;
        }
        reference
    }

    /// Returns a class and its bases, as far as the modules define them.
    pub(super) fn class_and_bases(&self, class: &ImportPath) -> Vec<LocatedClass<'a>> {
        let mut family = Vec::new();
        let mut seen = BTreeSet::new();
        let mut pending = vec![class.clone()];
        while let Some(reference) = pending.pop() {
            let Some(found) = self.class(&reference) else {
                continue;
            };
            if !seen.insert(reference) {
                continue;
            }
            for base in found.class.bases.iter().rev() {
                let name = base.split(['[', '(']).next().unwrap_or(base);
                pending.push(self.resolve(found.module, name));
            }
            family.push(found);
        }
        family
    }

    /// Returns the methods of a class, including inherited ones, its own first.
    pub(super) fn methods(&self, class: &ImportPath) -> Vec<LocatedFunction<'a>> {
        let mut found: Vec<LocatedFunction<'a>> = Vec::new();
        for at in self.class_and_bases(class) {
            let known = found.len();
            for definition in &at.module.definitions {
                let DefinitionKind::Function(function) = &definition.kind else {
                    continue;
                };
                let own = definition
                    .qualified_name
                    .strip_suffix(&definition.name)
                    .and_then(|rest| rest.strip_suffix('.'));
                let is_own = own == Some(at.definition.qualified_name.as_str());
                let is_same = |other: &LocatedFunction<'_>| {
                    other.definition.name == definition.name && other.function.role == function.role
                };
                let is_overridden = found.iter().take(known).any(is_same);
                if !is_own || is_overridden || function.role == FunctionRole::Overload {
                    continue;
                }
                // Of two definitions in one class, the last one counts.
                let earlier = found.iter().skip(known).position(is_same);
                let method = LocatedFunction {
                    module: at.module,
                    definition,
                    function,
                };
                match earlier.and_then(|index| found.get_mut(known + index)) {
                    Some(existing) => *existing = method,
                    None => found.push(method),
                }
            }
        }
        found
    }

    /// Returns the bases of a class that are neither in the modules nor known to take no arguments.
    pub(super) fn unknown_bases(&self, class: &ImportPath) -> Vec<String> {
        let family = self.class_and_bases(class);
        let bases = family
            .iter()
            .flat_map(|at| at.class.bases.iter().map(|base| (at.module, base)));
        let mut unknown = Vec::new();
        for (module, base) in bases {
            let name = base.split(['[', '(']).next().unwrap_or(base);
            let is_known = self.class(&self.resolve(module, name)).is_some();
            let last = name.rsplit('.').next().unwrap_or(name);
            let is_simple = matches!(
                last,
                "object"
                    | "Generic"
                    | "Protocol"
                    | "ABC"
                    | "str"
                    | "int"
                    | "float"
                    | "list"
                    | "dict"
                    | "set"
                    | "tuple"
                    | "frozenset"
                    | "bytes"
                    | "TypedDict"
                    | "UserDict"
                    | "UserList"
                    | "OrderedDict"
                    | "Exception"
                    | "Iterable"
                    | "Iterator"
                    | "Mapping"
                    | "MutableMapping"
                    | "MutableSequence"
                    | "MutableSet"
                    | "Sequence"
                    | "tzinfo"
            );
            if !is_known && !is_simple {
                unknown.push(name.to_owned());
            }
        }
        unknown
    }

    /// Returns true if a class is an exception, by its own source or that of its bases.
    pub(super) fn is_exception(&self, class: &ImportPath) -> bool {
        let family = self.class_and_bases(class);
        family
            .iter()
            .any(|at| at.class.kind == ClassKind::Exception)
    }
}
