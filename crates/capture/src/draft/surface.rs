//! What of some modules is there for others, and how it is said.

use std::collections::{BTreeMap, BTreeSet};

use crate::inspect::{
    Class, Definition, DefinitionKind, Function, Module, Nature, Project, Role, is_public,
};
use crate::value::Reference;

/// The modules that a draft is about.
pub(super) struct Surface<'a> {
    pub(super) modules: Vec<&'a Module>,
    /// Where a name of a module is also found, if that is shorter or the module is private.
    pub(super) homes: BTreeMap<(String, String), String>,
    /// The modules that were asked for, as they were named.
    roots: &'a [String],
    /// What code outside of the modules has used, by module and first name.
    used: BTreeSet<(String, String)>,
}

/// A class and where it is.
#[derive(Clone, Copy)]
pub(super) struct ClassAt<'a> {
    pub(super) module: &'a Module,
    pub(super) definition: &'a Definition,
    pub(super) class: &'a Class,
}

/// A function or method and where it is.
#[derive(Clone, Copy)]
pub(super) struct FunctionAt<'a> {
    pub(super) module: &'a Module,
    pub(super) definition: &'a Definition,
    pub(super) function: &'a Function,
}

/// A definition, by its module and the line it begins on.
pub(super) type Key = (String, u32);

impl FunctionAt<'_> {
    pub(super) fn key(&self) -> Key {
        (self.module.name.clone(), self.definition.first_line)
    }
}

impl ClassAt<'_> {
    pub(super) fn reference(&self) -> Reference {
        Reference::new(&self.module.name, &self.definition.qualified_name)
    }
}

impl<'a> Surface<'a> {
    /// The modules of these names and all that are inside of them. `used` is what others have used of them, by module and
    /// first name.
    pub(super) fn of(
        project: &'a Project,
        roots: &'a [String],
        used: BTreeSet<(String, String)>,
    ) -> Surface<'a> {
        let is_meant = |module: &&Module| {
            let is_inside = |root: &String| {
                let rest = module.name.strip_prefix(root.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            let is_program = module.name.ends_with("__main__");
            roots.iter().any(is_inside) && !module.is_test && !is_program
        };
        let mut modules: Vec<&Module> = project.modules.iter().filter(is_meant).collect();
        modules.sort_by_key(|module| (module.name.matches('.').count(), &module.name));
        let mut surface = Surface {
            modules,
            homes: BTreeMap::new(),
            roots,
            used,
        };
        surface.find_homes();
        surface
    }

    /// Packages often collect what their modules define: `shop.Cart` is `shop._cart.Cart`.
    fn find_homes(&mut self) {
        let mut homes = BTreeMap::new();
        for package in self.modules.iter().filter(|module| module.is_package()) {
            for import in &package.imports {
                let from = package.imported_from(import);
                let Some(source) = self.module(&from) else {
                    continue;
                };
                let names: Vec<&str> = match import.name.as_deref() {
                    Some("*") => {
                        let outer = source.definitions.iter().map(|found| found.name.as_str());
                        outer.filter(|name| is_public(name)).collect()
                    }
                    Some(name) if name == import.bound && is_public(name) => vec![name],
                    _ => continue,
                };
                for name in names {
                    let key = (from.clone(), name.to_owned());
                    homes.entry(key).or_insert_with(|| package.name.clone());
                }
            }
        }
        self.homes = homes;
    }

    /// Which module defines what a package offers, by package and name; nothing of what the package defines itself.
    pub(super) fn definers(&self) -> BTreeMap<(String, String), String> {
        let homes = self.homes.iter();
        let offered = homes.map(|((module, name), home)| {
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

    pub(super) fn module(&self, name: &str) -> Option<&'a Module> {
        self.modules
            .iter()
            .copied()
            .find(|module| module.name == name)
    }

    /// Whether others may use a definition of a module: by the names, or because a package offers it.
    pub(super) fn offers(&self, module: &Module, definition: &Definition) -> bool {
        let qualified = &definition.qualified_name;
        let first = qualified.split('.').next().unwrap_or(qualified);
        let key = (module.name.clone(), first.to_owned());
        let asked_for = self.roots.contains(&module.name);
        let is_public_module = module.name.split('.').all(is_public) && !self.is_collected(module);
        let is_found = asked_for
            || is_public_module
            || self.homes.contains_key(&key)
            || self.used.contains(&key);
        is_found && !definition.is_test && qualified.split('.').all(is_public)
    }

    /// Whether a package around a module says what it offers, by taking it from its modules. What it does not take is its own.
    fn is_collected(&self, module: &Module) -> bool {
        self.homes.values().any(|package| {
            let rest = module.name.strip_prefix(package.as_str());
            rest.is_some_and(|rest| rest.starts_with('.'))
        })
    }

    /// All functions outside of classes that others may use.
    pub(super) fn functions(&self) -> Vec<FunctionAt<'a>> {
        let mut found: Vec<FunctionAt<'a>> = Vec::new();
        for module in &self.modules {
            for definition in &module.definitions {
                let DefinitionKind::Function(function) = &definition.kind else {
                    continue;
                };
                if function.role != Role::Function || !self.offers(module, definition) {
                    continue;
                }
                // Of two definitions of a name the last one counts.
                found.retain(|known| {
                    known.module.name != module.name
                        || known.definition.qualified_name != definition.qualified_name
                });
                found.push(FunctionAt {
                    module,
                    definition,
                    function,
                });
            }
        }
        found
    }

    /// All classes of the modules, private ones included.
    pub(super) fn classes(&self) -> Vec<ClassAt<'a>> {
        let mut found = Vec::new();
        for module in &self.modules {
            for definition in &module.definitions {
                let is_inside = definition.qualified_name.contains('<');
                if let DefinitionKind::Class(class) = &definition.kind
                    && !is_inside
                    && !definition.is_test
                {
                    found.push(ClassAt {
                        module,
                        definition,
                        class,
                    });
                }
            }
        }
        found
    }

    /// A class of the modules.
    pub(super) fn class(&self, reference: &Reference) -> Option<ClassAt<'a>> {
        let module = self.module(&reference.module)?;
        let definition = module.definition(&reference.path)?;
        match &definition.kind {
            DefinitionKind::Class(class) => Some(ClassAt {
                module,
                definition,
                class,
            }),
            DefinitionKind::Function(_) => None,
        }
    }

    /// What a name in a module stands for, through the packages that only pass it on.
    pub(super) fn meaning(&self, module: &Module, name: &str) -> Reference {
        let mut reference = module.resolved(name);
        for _ in 0..5 {
            let Some(from) = self.module(&reference.module) else {
                break;
            };
            let next = from.resolved(&reference.path);
            if next == reference {
                break;
            }
            reference = next;
        }
        reference
    }

    /// A class and those that it inherits from, as far as the modules define them.
    pub(super) fn family(&self, class: &Reference) -> Vec<ClassAt<'a>> {
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
                pending.push(self.meaning(found.module, name));
            }
            family.push(found);
        }
        family
    }

    /// The methods of a class, inherited ones included, those of the class itself first.
    pub(super) fn methods(&self, class: &Reference) -> Vec<FunctionAt<'a>> {
        let mut found: Vec<FunctionAt<'a>> = Vec::new();
        for at in self.family(class) {
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
                let is_same = |other: &FunctionAt<'_>| {
                    other.definition.name == definition.name && other.function.role == function.role
                };
                let is_overridden = found.iter().take(known).any(is_same);
                if !is_own || is_overridden || function.role == Role::Overload {
                    continue;
                }
                // Of two definitions in one class the last one counts.
                let earlier = found.iter().skip(known).position(is_same);
                let method = FunctionAt {
                    module: at.module,
                    definition,
                    function,
                };
                match earlier.and_then(|place| found.get_mut(known + place)) {
                    Some(place) => *place = method,
                    None => found.push(method),
                }
            }
        }
        found
    }

    /// Bases of a class that are neither in the modules nor known to take nothing.
    pub(super) fn unknown_bases(&self, class: &Reference) -> Vec<String> {
        let family = self.family(class);
        let bases = family
            .iter()
            .flat_map(|at| at.class.bases.iter().map(|base| (at.module, base)));
        let mut unknown = Vec::new();
        for (module, base) in bases {
            let name = base.split(['[', '(']).next().unwrap_or(base);
            let is_known = self.class(&self.meaning(module, name)).is_some();
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

    /// Whether a class is an exception, by its own text or that of its bases.
    pub(super) fn is_exception(&self, class: &Reference) -> bool {
        let family = self.family(class);
        family.iter().any(|at| at.class.nature == Nature::Exception)
    }
}
