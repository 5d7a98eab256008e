//! What one file says.

use std::fs;
use std::path::{Path, PathBuf};

use testwright_source::tree::{
    self, Comparison, Expression, ExpressionKind, Statement, StatementKind,
};
use testwright_source::{Range, is_literal};

use super::definition::{
    Class, Default, Definition, DefinitionKind, Flow, Function, Parameter, Role, Signature,
};
use super::encoding;
use super::nature::{assigned, field, last_word, nature, role};
use super::settings::Settings;
use crate::value::Reference;

/// One file of a project.
#[derive(Debug, Clone)]
pub struct Module {
    /// Where it is, relative to the project's folder.
    pub path: PathBuf,
    /// Its dotted name as an importer would use it.
    pub name: String,
    /// Its functions and classes, in source order; what stands in another follows it.
    pub definitions: Vec<Definition>,
    /// What it imports outside of functions and classes.
    pub imports: Vec<Imported>,
    /// The names that it assigns outside of functions and classes.
    pub variables: Vec<String>,
    /// Where it says `if __name__ == "__main__":`.
    pub main_guard: Option<Range>,
    /// Where new imports can be added: a place at the start of a line.
    pub after_imports: usize,
    /// Whether it holds tests, by its file's name.
    pub is_test: bool,
    /// Why nothing else is known of it.
    pub problem: Option<Trouble>,
}

/// Why a file could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The module, with dots in front if it is relative.
    pub module: String,
    /// What is taken from it: a name, `*`, or nothing if it is the module itself.
    pub name: Option<String>,
    /// The name that is bound here.
    pub bound: String,
}

impl Module {
    /// Reads a file of a project.
    pub(super) fn read(root: &Path, path: &Path, settings: &Settings) -> Module {
        let empty = Module::empty(root, path, settings);
        let bytes = match fs::read(root.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => return empty.broken(1, format!("cannot be read: {error}")),
        };
        match encoding::readable(&bytes) {
            Ok(text) => empty.filled(text.strip_prefix('\u{feff}').unwrap_or(&text), settings),
            Err(line) => empty.broken(line, "is not UTF-8 text".to_owned()),
        }
    }

    /// What a text says that is not in a file of a project.
    #[must_use]
    pub fn of_text(path: &Path, text: &str, settings: &Settings) -> Module {
        Module::empty(Path::new(""), path, settings).filled(text, settings)
    }

    fn empty(root: &Path, path: &Path, settings: &Settings) -> Module {
        let file_name = path.file_name().and_then(|name| name.to_str());
        Module {
            path: path.to_owned(),
            name: dotted_name(root, path),
            definitions: Vec::new(),
            imports: Vec::new(),
            variables: Vec::new(),
            main_guard: None,
            after_imports: 0,
            is_test: file_name.is_some_and(|name| settings.is_test_file(name)),
            problem: None,
        }
    }

    fn broken(mut self, line: usize, message: String) -> Module {
        self.problem = Some(Trouble { line, message });
        self
    }

    fn filled(self, text: &str, settings: &Settings) -> Module {
        match tree::module(text) {
            Ok(tree) => {
                let mut reader = Reader {
                    text,
                    lines: line_starts(text),
                    settings,
                    module: self,
                };
                reader.module.after_imports = after_imports(text, &tree);
                reader.top_level(&tree.body);
                reader.module
            }
            Err(problems) => {
                let problem = problems.into_iter().next();
                let (start, message) = problem.map_or_else(
                    || (0, "is not Python".to_owned()),
                    |problem| (problem.range.start, problem.message),
                );
                let before = text.as_bytes().get(..start).unwrap_or_default();
                self.broken(newlines(before) + 1, message)
            }
        }
    }

    /// The definition whose code object starts on this line and has this qualified name.
    #[must_use]
    pub fn definition_at(&self, first_line: u32, qualified_name: &str) -> Option<&Definition> {
        self.definitions.iter().find(|definition| {
            let last = qualified_name.rsplit('.').next().unwrap_or(qualified_name);
            definition.first_line == first_line
                && (definition.qualified_name == qualified_name
                    || (definition.code_name == "<lambda>" && last == "<lambda>"))
        })
    }

    /// What a name means in this module, as far as its imports tell.
    #[must_use]
    pub fn resolved(&self, name: &str) -> Reference {
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (name, None),
        };
        let Some(import) = self.imports.iter().find(|import| import.bound == first) else {
            return Reference::new(self.name.clone(), name);
        };
        let from = self.imported_from(import);
        match (&import.name, rest) {
            (Some(name), None) => Reference::new(from, name.clone()),
            (Some(name), Some(rest)) => Reference::new(format!("{from}.{name}"), rest),
            // `import os.path` binds `os`.
            (None, Some(_)) if from.split('.').next() == Some(first) => {
                Reference::new(first, rest.unwrap_or(""))
            }
            (None, rest) => Reference::new(from, rest.unwrap_or("")),
        }
    }

    /// The whole name of the module that an import takes something from.
    pub(crate) fn imported_from(&self, import: &Imported) -> String {
        let relative = import.module.trim_start_matches('.');
        let dots = import.module.len() - relative.len();
        if dots == 0 {
            return relative.to_owned();
        }
        // One dot is the package that the module is in, or that it is; each further one is the package around that.
        let above = dots - usize::from(self.is_package());
        let words: Vec<&str> = self.name.split('.').collect();
        let kept = words.len().saturating_sub(above);
        let package = words.into_iter().take(kept);
        let relative = Some(relative).filter(|name| !name.is_empty());
        package.chain(relative).collect::<Vec<&str>>().join(".")
    }

    /// Whether it is the file that a package begins with.
    #[must_use]
    pub fn is_package(&self) -> bool {
        self.path.file_stem().is_some_and(|name| name == "__init__")
    }

    /// The definition of this qualified name; the last one, as in Python.
    #[must_use]
    pub fn definition(&self, qualified_name: &str) -> Option<&Definition> {
        self.definitions
            .iter()
            .rev()
            .find(|definition| definition.qualified_name == qualified_name)
    }
}

/// The name by which a file is imported: from `src` if it is below such a folder that is no package itself, else from the
/// project's folder. Folders without `__init__.py` are packages too.
fn dotted_name(root: &Path, path: &Path) -> String {
    let below_src = path
        .strip_prefix("src")
        .ok()
        .filter(|rest| rest.components().next().is_some())
        .filter(|_| !root.join("src/__init__.py").exists());
    let path = below_src.unwrap_or(path).with_extension("");
    let mut words: Vec<String> = path
        .components()
        .map(|word| word.as_os_str().to_string_lossy().into_owned())
        .collect();
    if words.len() > 1 && words.last().is_some_and(|word| word == "__init__") {
        words.pop();
    }
    words.join(".")
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(end, _)| end + 1);
    std::iter::once(0).chain(ends).collect()
}

/// The start of the line behind the last import that stands before any function or class; without an import, behind the
/// docstring, or at the first statement.
fn after_imports(text: &str, tree: &tree::Module) -> usize {
    let header = tree.body.iter().take_while(|statement| {
        !matches!(
            statement.kind,
            StatementKind::Function(_) | StatementKind::Class(_)
        )
    });
    let last = header
        .filter(|statement| holds_import(statement))
        .last()
        .map(|statement| statement.range.end);
    match (last, tree.body.first()) {
        (Some(place), _) => line_end(text, place),
        (None, Some(first)) if tree.docstring.is_some() => line_end(text, first.range.end),
        (None, Some(first)) => line_start(text, first.range.start),
        (None, None) => text.len(),
    }
}

fn holds_import(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Import(_) | StatementKind::ImportFrom { .. } => true,
        StatementKind::If {
            body, otherwise, ..
        } => body.iter().chain(otherwise).any(holds_import),
        StatementKind::Try { body, handlers, .. } => {
            let handled = handlers.iter().flat_map(|handler| &handler.body);
            body.iter().chain(handled).any(holds_import)
        }
        _ => false,
    }
}

fn line_start(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or("");
    before.rfind('\n').map_or(0, |end| end + 1)
}

fn line_end(text: &str, place: usize) -> usize {
    let behind = text.get(place..).unwrap_or("");
    behind.find('\n').map_or(text.len(), |end| place + end + 1)
}

/// Fills a module from its tree.
struct Reader<'a> {
    text: &'a str,
    lines: Vec<usize>,
    settings: &'a Settings,
    module: Module,
}

/// What a definition stands in.
#[derive(Clone, Copy)]
struct Surrounding<'a> {
    /// What comes before the name, its dot included.
    prefix: &'a str,
    in_class: bool,
    in_function: bool,
    is_test: bool,
}

impl Reader<'_> {
    fn line(&self, place: usize) -> u32 {
        let line = self.lines.partition_point(|start| *start <= place);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    fn written(&self, expression: &Expression) -> String {
        let text = self.text.get(expression.range.clone());
        text.unwrap_or_default().to_owned()
    }

    fn top_level(&mut self, body: &[Statement]) {
        let around = Surrounding {
            prefix: "",
            in_class: false,
            in_function: false,
            is_test: self.module.is_test,
        };
        self.block(body, around);
    }

    fn block(&mut self, body: &[Statement], around: Surrounding<'_>) {
        for statement in body {
            self.statement(statement, around);
        }
    }

    fn statement(&mut self, statement: &Statement, around: Surrounding<'_>) {
        let outside = !around.in_class && !around.in_function;
        match &statement.kind {
            StatementKind::Function(function) => self.function(statement, function, around),
            StatementKind::Class(class) => self.class(statement, class, around),
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => {
                if outside && asks_for_main(condition) {
                    self.module.main_guard = Some(statement.range.clone());
                }
                self.block(body, around);
                self.block(otherwise, around);
            }
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                self.block(body, around);
                self.block(otherwise, around);
            }
            StatementKind::With { body, .. } => self.block(body, around),
            StatementKind::Match { cases, .. } => {
                for case in cases {
                    self.block(&case.body, around);
                }
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                self.block(body, around);
                for handler in handlers {
                    self.block(&handler.body, around);
                }
                self.block(otherwise, around);
                self.block(finally, around);
            }
            StatementKind::Assign { targets, value } => {
                for target in targets {
                    if let (Some(name), ExpressionKind::Lambda { parameters, .. }) =
                        (target.as_name(), &value.kind)
                    {
                        self.lambda(name, parameters, value, around);
                    } else if outside {
                        self.variable(target);
                    }
                }
            }
            StatementKind::Annotated { target, .. } if outside => self.variable(target),
            StatementKind::Import(aliases) if outside => {
                self.module
                    .imports
                    .extend(aliases.iter().map(|alias| Imported {
                        module: alias.name.clone(),
                        name: None,
                        bound: alias.alias.clone().unwrap_or_else(|| {
                            let first = alias.name.split('.').next();
                            first.unwrap_or(&alias.name).to_owned()
                        }),
                    }));
            }
            StatementKind::ImportFrom {
                module,
                names,
                level,
            } if outside => {
                let dots = ".".repeat(usize::try_from(*level).unwrap_or(0));
                let module = format!("{dots}{}", module.as_deref().unwrap_or(""));
                self.module
                    .imports
                    .extend(names.iter().map(|alias| Imported {
                        module: module.clone(),
                        name: Some(alias.name.clone()),
                        bound: alias.alias.as_ref().unwrap_or(&alias.name).clone(),
                    }));
            }
            _ => {}
        }
    }

    fn variable(&mut self, target: &Expression) {
        match &target.kind {
            ExpressionKind::Name(name) if !self.module.variables.contains(name) => {
                self.module.variables.push(name.clone());
            }
            ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
                for part in parts {
                    self.variable(part);
                }
            }
            ExpressionKind::Starred(part) => self.variable(part),
            _ => {}
        }
    }

    fn definition(
        &self,
        range: &Range,
        name: &str,
        around: Surrounding<'_>,
        kind: DefinitionKind,
    ) -> Definition {
        Definition {
            qualified_name: format!("{}{name}", around.prefix),
            name: name.to_owned(),
            code_name: name.to_owned(),
            first_line: self.line(range.start),
            last_line: self.line(range.end.saturating_sub(1)),
            range: range.clone(),
            decorators: Vec::new(),
            is_test: around.is_test,
            kind,
        }
    }

    fn function(
        &mut self,
        statement: &Statement,
        function: &tree::Function,
        around: Surrounding<'_>,
    ) {
        let decorators: Vec<String> = function
            .decorators
            .iter()
            .map(|decorator| self.written(decorator))
            .collect();
        let flow = match (function.is_async, function.yields) {
            (false, false) => Flow::Plain,
            (false, true) => Flow::Generator,
            (true, false) => Flow::Coroutine,
            (true, true) => Flow::AsyncGenerator,
        };
        let kind = DefinitionKind::Function(Function {
            signature: Signature {
                parameters: self.parameters(&function.parameters),
                returns: function.returns.as_ref().map(|given| self.written(given)),
            },
            flow,
            role: role(&decorators, function, around.in_class, around.in_function),
        });
        let mut definition = self.definition(&statement.range, &function.name, around, kind);
        definition.decorators = decorators;
        let prefix = format!("{}.<locals>.", definition.qualified_name);
        let is_test = definition.is_test;
        self.module.definitions.push(definition);
        self.block(
            &function.body,
            Surrounding {
                prefix: &prefix,
                in_class: false,
                in_function: true,
                is_test,
            },
        );
    }

    fn lambda(
        &mut self,
        name: &str,
        parameters: &[tree::Parameter],
        value: &Expression,
        around: Surrounding<'_>,
    ) {
        let role = if around.in_function {
            Role::Nested
        } else if around.in_class {
            Role::Method
        } else {
            Role::Function
        };
        let kind = DefinitionKind::Function(Function {
            signature: Signature {
                parameters: self.parameters(parameters),
                returns: None,
            },
            flow: Flow::Plain,
            role,
        });
        let mut definition = self.definition(&value.range, name, around, kind);
        definition.code_name = "<lambda>".to_owned();
        self.module.definitions.push(definition);
    }

    fn parameters(&self, parameters: &[tree::Parameter]) -> Vec<Parameter> {
        parameters
            .iter()
            .map(|parameter| Parameter {
                name: parameter.name.clone(),
                kind: parameter.kind,
                default: parameter
                    .default
                    .as_ref()
                    .map(|default| self.default(default)),
                annotation: parameter
                    .annotation
                    .as_ref()
                    .map(|annotation| self.written(annotation)),
            })
            .collect()
    }

    fn default(&self, default: &Expression) -> Default {
        let text = self.written(default);
        let literal = is_literal(&text);
        Default { text, literal }
    }

    fn fields(&self, class: &tree::Class) -> Vec<Parameter> {
        let fields = class.body.iter().filter_map(field);
        fields
            .map(|(name, annotation, default)| Parameter {
                name: name.to_owned(),
                kind: tree::ParameterKind::Normal,
                default: default.map(|default| self.default(default)),
                annotation: Some(self.written(annotation)),
            })
            .collect()
    }

    fn class(&mut self, statement: &Statement, class: &tree::Class, around: Surrounding<'_>) {
        let decorators: Vec<String> = class
            .decorators
            .iter()
            .map(|decorator| self.written(decorator))
            .collect();
        let bases: Vec<String> = class.bases.iter().map(|base| self.written(base)).collect();
        let methods = class.body.iter().filter_map(|inner| match &inner.kind {
            StatementKind::Function(function) => Some(function.name.clone()),
            _ => None,
        });
        let is_test_class = bases.iter().any(|base| last_word(base) == "TestCase")
            || (bases.is_empty() && self.settings.is_test_class(&class.name));
        let kind = DefinitionKind::Class(Class {
            nature: nature(&decorators, &bases, class),
            methods: methods.collect(),
            fields: self.fields(class),
            members: class.body.iter().flat_map(assigned).collect(),
            bases,
        });
        let mut definition = self.definition(&statement.range, &class.name, around, kind);
        definition.decorators = decorators;
        definition.is_test |= is_test_class;
        let prefix = format!("{}.", definition.qualified_name);
        let is_test = definition.is_test;
        self.module.definitions.push(definition);
        self.block(
            &class.body,
            Surrounding {
                prefix: &prefix,
                in_class: true,
                in_function: around.in_function,
                is_test,
            },
        );
    }
}

/// `__name__ == "__main__"`, either way round.
fn asks_for_main(condition: &Expression) -> bool {
    let ExpressionKind::Compare { first, rest } = &condition.kind else {
        return false;
    };
    let [(Comparison::Equal, second)] = rest.as_slice() else {
        return false;
    };
    let is_name = |side: &Expression| side.as_name() == Some("__name__");
    let is_main =
        |side: &Expression| matches!(&side.kind, ExpressionKind::Text(text) if text == "__main__");
    (is_name(first) && is_main(second)) || (is_main(first) && is_name(second))
}

#[cfg(test)]
mod tests;
