//! Facts about recorded units and classes that follow from the project's source.

use std::collections::BTreeSet;
use std::path::Path;

use crate::inspect::{
    ClassDefinition, CodeDefinition, DefinitionKind, FunctionRole, ProjectModule, PythonProject,
};
use crate::recording::{CodeUnit, Recording};
use crate::value::{ImportPath, Value, as_name};

/// The project's source, with queries about recorded units and classes.
pub struct Knowledge<'a> {
    /// The project.
    pub project: &'a PythonProject,
}

impl<'a> Knowledge<'a> {
    /// Creates the queries for a project.
    #[must_use]
    pub fn new(project: &'a PythonProject) -> Knowledge<'a> {
        Knowledge { project }
    }

    /// Returns the module and the definition of a unit.
    #[must_use]
    pub fn definition(&self, unit: &CodeUnit) -> Option<(&'a ProjectModule, &'a CodeDefinition)> {
        let module = self.project.module_at(Path::new(&unit.file))?;
        let found = module
            .definition_at(unit.line, &unit.qualified_name)
            .or_else(|| module.definition(&unit.qualified_name))?;
        Some((module, found))
    }

    /// Returns the quoted words in the module of a unit, which the unit may know as choices, such
    /// as `"grid"`.
    #[must_use]
    pub fn quoted_words(&self, unit: &CodeUnit) -> BTreeSet<String> {
        let module = self.project.module_at(Path::new(&unit.file));
        let path = module.map(|module| self.project.root.join(&module.path));
        let text = path.and_then(|path| std::fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let mut words = BTreeSet::new();
        for quote in ['"', '\''] {
            // Text between two strings is hardly ever a single word.
            let pieces = text.split(quote);
            let is_word = |piece: &&str| as_name(&Value::Text((*piece).to_owned())).is_some();
            words.extend(pieces.filter(is_word).map(str::to_owned));
        }
        words
    }

    /// Returns the role of a unit in its class.
    pub(super) fn role(&self, unit: &CodeUnit) -> Option<FunctionRole> {
        match &self.definition(unit)?.1.kind {
            DefinitionKind::Function(function) => Some(function.role),
            DefinitionKind::Class(_) => None,
        }
    }

    /// Returns true if a unit caches its results.
    pub(super) fn is_cached(&self, unit: &CodeUnit) -> bool {
        let Some((module, definition)) = self.definition(unit) else {
            return false;
        };
        // Only the outermost decorator is bound to the name of the unit.
        let outermost = definition.decorators.first();
        outermost.is_some_and(|decorator| {
            let name = decorator.split('(').next().unwrap_or(decorator);
            let decorator = module.resolve(name.trim());
            decorator.module == "functools"
                && matches!(decorator.path.as_str(), "lru_cache" | "cache")
        })
    }

    /// Returns true if a unit returns values, so that `None` is a result worth checking.
    pub(super) fn returns_values(&self, unit: &CodeUnit) -> bool {
        let Some((module, definition)) = self.definition(unit) else {
            return false;
        };
        if self.role(unit) == Some(FunctionRole::Getter) {
            return true;
        }
        let text = std::fs::read_to_string(self.project.root.join(&module.path));
        let text = text.unwrap_or_default();
        let lines = text.lines().take(definition.last_line as usize);
        let mut lines = lines.skip(definition.first_line.saturating_sub(1) as usize);
        lines.any(|line| {
            let returned = line.trim().strip_prefix("return ").map(str::trim);
            returned.is_some_and(|returned| !matches!(returned, "" | "None"))
        })
    }

    /// Returns true if a class overrides a method, so that the method is only reached through the
    /// override.
    pub(super) fn is_overridden(&self, class: &ImportPath, unit: &CodeUnit) -> bool {
        let Some((home, name)) = unit.qualified_name.rsplit_once('.') else {
            return false;
        };
        let mut pending = vec![class.clone()];
        let mut steps = 0;
        while let Some(class) = pending.pop() {
            let Some((module, found)) = self.class(&class) else {
                continue;
            };
            steps += 1;
            if class.path == home || steps > 50 {
                return false;
            }
            if found.methods.iter().any(|method| method == name) {
                return true;
            }
            for base in found.bases.iter().rev() {
                let base = base.split('[').next().unwrap_or(base);
                pending.push(module.resolve(base));
            }
        }
        false
    }

    /// Returns true if a module binds a name at import.
    pub(super) fn binds_at_import(&self, module: &str, name: &str) -> bool {
        self.project.module_named(module).is_none_or(|module| {
            module.problem.is_some()
                || module.variables.iter().any(|known| known == name)
                || module
                    .imports
                    .iter()
                    .any(|known| known.bound_name == name || known.bound_name == "*")
                || module
                    .definitions
                    .iter()
                    .any(|known| known.qualified_name == name)
        })
    }

    /// Returns the importable name of the module that was run as the main program, which may be
    /// this script. Returns `None` if importing it would run the program.
    pub(super) fn main_module(
        &self,
        recording: &Recording,
        execution: u32,
        script: Option<&str>,
    ) -> Option<String> {
        let calls = recording.calls.iter();
        let unit = calls
            .filter(|call| call.execution == execution)
            .filter_map(|call| recording.unit(call.unit))
            .find(|unit| unit.module == "__main__");
        let file = unit.map(|unit| unit.file.as_str()).or(script)?;
        let module = self.project.module_at(Path::new(file))?;
        module.main_guard.as_ref()?;
        Some(module.name.clone())
    }

    /// Finds a class of the project.
    fn class(&self, class: &ImportPath) -> Option<(&'a ProjectModule, &'a ClassDefinition)> {
        let module = self.project.module_named(&class.module)?;
        match &module.definition(&class.path)?.kind {
            DefinitionKind::Class(found) => Some((module, found)),
            DefinitionKind::Function(_) => None,
        }
    }

    /// Returns a class and its bases, as far as the project defines them.
    fn class_and_bases(&self, class: &ImportPath) -> Vec<&'a ClassDefinition> {
        let mut family = Vec::new();
        let mut pending = vec![class.clone()];
        while let Some(class) = pending.pop() {
            let Some((module, found)) = self.class(&class) else {
                continue;
            };
            // A class cannot be its own base, but its source can say so.
            if family.len() > 50 {
                break;
            }
            family.push(found);
            for base in found.bases.iter().rev() {
                let name = base.split('[').next().unwrap_or(base);
                pending.push(module.resolve(name));
            }
        }
        family
    }

    /// Returns true if instances of a class are compared by more than identity.
    pub(super) fn has_equality(&self, class: &ImportPath) -> bool {
        let family = self.class_and_bases(class);
        family
            .iter()
            .any(|class| class.methods.iter().any(|method| method == "__eq__"))
    }

    /// Returns true if a class is created without arguments, because neither it nor its bases
    /// define a constructor.
    pub(super) fn has_default_constructor(&self, class: &ImportPath) -> bool {
        let family = self.class_and_bases(class);
        let constructors = ["__init__", "__new__"];
        let has_none = |class: &&ClassDefinition| {
            let mut methods = class.methods.iter();
            !methods.any(|method| constructors.contains(&method.as_str()))
        };
        !family.is_empty() && family.iter().all(has_none)
    }

    /// Returns the fields that the constructor of a record class takes; `None` if the class is
    /// unknown.
    pub(super) fn fields(&self, class: &ImportPath) -> Option<Vec<String>> {
        let family = self.class_and_bases(class);
        if family.is_empty() {
            return None;
        }
        let fields = family.iter().rev().flat_map(|class| class.fields.iter());
        Some(fields.map(|field| field.name.clone()).collect())
    }
}
