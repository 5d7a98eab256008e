//! What the project's own text tells about the units and classes of a recording.

use std::collections::BTreeSet;
use std::path::Path;

use crate::inspect::{Class, Definition, DefinitionKind, Module, Project, Role};
use crate::recording::{Recording, Unit};
use crate::value::{Reference, Value, word};

/// A project, asked about what was recorded.
pub struct Knowledge<'a> {
    /// The project.
    pub project: &'a Project,
}

impl<'a> Knowledge<'a> {
    /// What is known from these files.
    #[must_use]
    pub fn new(project: &'a Project) -> Knowledge<'a> {
        Knowledge { project }
    }

    /// The module and the definition of a unit.
    #[must_use]
    pub fn definition(&self, unit: &Unit) -> Option<(&'a Module, &'a Definition)> {
        let module = self.project.module_at(Path::new(&unit.file))?;
        let found = module
            .definition_at(unit.line, &unit.qualified_name)
            .or_else(|| module.definition(&unit.qualified_name))?;
        Some((module, found))
    }

    /// The words that stand in quotes in the module of a unit: what it knows by name, such as `"grid"`.
    #[must_use]
    pub fn words(&self, unit: &Unit) -> BTreeSet<String> {
        let module = self.project.module_at(Path::new(&unit.file));
        let path = module.map(|module| self.project.root.join(&module.path));
        let text = path.and_then(|path| std::fs::read_to_string(path).ok());
        let text = text.unwrap_or_default();
        let mut words = BTreeSet::new();
        for quote in ['"', '\''] {
            // What is between two quotes and not in any is hardly ever a single word.
            let pieces = text.split(quote);
            let is_word = |piece: &&str| word(&Value::Text((*piece).to_owned())).is_some();
            words.extend(pieces.filter(is_word).map(str::to_owned));
        }
        words
    }

    /// What a unit is to the class around it.
    pub(super) fn role(&self, unit: &Unit) -> Option<Role> {
        match &self.definition(unit)?.1.kind {
            DefinitionKind::Function(function) => Some(function.role),
            DefinitionKind::Class(_) => None,
        }
    }

    /// Whether a unit remembers what it gave, so that it is not run again for the same arguments.
    pub(super) fn is_cached(&self, unit: &Unit) -> bool {
        let Some((module, definition)) = self.definition(unit) else {
            return false;
        };
        // Only the outermost decorator is what one gets by the name of the unit.
        let outermost = definition.decorators.first();
        outermost.is_some_and(|decorator| {
            let name = decorator.split('(').next().unwrap_or(decorator);
            let decorator = module.resolved(name.trim());
            decorator.module == "functools"
                && matches!(decorator.path.as_str(), "lru_cache" | "cache")
        })
    }

    /// Whether a unit is written to give something, so that nothing is an answer, too.
    pub(super) fn gives_values(&self, unit: &Unit) -> bool {
        let Some((module, definition)) = self.definition(unit) else {
            return false;
        };
        if self.role(unit) == Some(Role::Getter) {
            return true;
        }
        let text = std::fs::read_to_string(self.project.root.join(&module.path));
        let text = text.unwrap_or_default();
        let lines = text.lines().take(definition.last_line as usize);
        let mut lines = lines.skip(definition.first_line.saturating_sub(1) as usize);
        lines.any(|line| {
            let given = line.trim().strip_prefix("return ").map(str::trim);
            given.is_some_and(|given| !matches!(given, "" | "None"))
        })
    }

    /// Whether objects of a class have their own version of a method, so that this one is only reached through that.
    pub(super) fn is_overridden(&self, class: &Reference, unit: &Unit) -> bool {
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
                pending.push(module.resolved(base));
            }
        }
        false
    }

    /// Whether a module binds a name as it is imported.
    pub(super) fn binds(&self, module: &str, name: &str) -> bool {
        self.project.module_named(module).is_none_or(|module| {
            module.problem.is_some()
                || module.variables.iter().any(|known| known == name)
                || module
                    .imports
                    .iter()
                    .any(|known| known.bound == name || known.bound == "*")
                || module
                    .definitions
                    .iter()
                    .any(|known| known.qualified_name == name)
        })
    }

    /// The name by which the module is imported that was run as the program, which may be this script. There is none if
    /// importing it would run the program.
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

    fn class(&self, class: &Reference) -> Option<(&'a Module, &'a Class)> {
        let module = self.project.module_named(&class.module)?;
        match &module.definition(&class.path)?.kind {
            DefinitionKind::Class(found) => Some((module, found)),
            DefinitionKind::Function(_) => None,
        }
    }

    /// A class and those that it inherits from, as far as the project defines them.
    fn family(&self, class: &Reference) -> Vec<&'a Class> {
        let mut family = Vec::new();
        let mut pending = vec![class.clone()];
        while let Some(class) = pending.pop() {
            let Some((module, found)) = self.class(&class) else {
                continue;
            };
            // A class cannot be its own base, but a text can say so.
            if family.len() > 50 {
                break;
            }
            family.push(found);
            for base in found.bases.iter().rev() {
                let name = base.split('[').next().unwrap_or(base);
                pending.push(module.resolved(name));
            }
        }
        family
    }

    /// Whether instances of a class are compared by more than identity.
    pub(super) fn has_equality(&self, class: &Reference) -> bool {
        let family = self.family(class);
        family
            .iter()
            .any(|class| class.methods.iter().any(|method| method == "__eq__"))
    }

    /// Whether a class is made without arguments, since neither it nor anything that it inherits from defines a constructor.
    pub(super) fn is_made_of_nothing(&self, class: &Reference) -> bool {
        let family = self.family(class);
        let constructors = ["__init__", "__new__"];
        let has_none = |class: &&Class| {
            let mut methods = class.methods.iter();
            !methods.any(|method| constructors.contains(&method.as_str()))
        };
        !family.is_empty() && family.iter().all(has_none)
    }

    /// The fields that the constructor of a record takes; nothing if the class is not known.
    pub(super) fn fields(&self, class: &Reference) -> Option<Vec<String>> {
        let family = self.family(class);
        if family.is_empty() {
            return None;
        }
        let fields = family.iter().rev().flat_map(|class| class.fields.iter());
        Some(fields.map(|field| field.name.clone()).collect())
    }
}
