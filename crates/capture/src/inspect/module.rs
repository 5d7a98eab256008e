//! The definitions and imports of one source file.

use std::fs;
use std::path::{Path, PathBuf};

use testwright_source::tree::{
    self, Comparison, Expression, ExpressionKind, Statement, StatementKind,
};
use testwright_source::{Range, is_literal};

use super::classify::{assigned_names, class_kind, function_role, last_word, record_field};
use super::definition::{
    ClassDefinition, CodeDefinition, DefaultValue, DefinitionKind, ExecutionKind,
    FunctionDefinition, FunctionRole, FunctionSignature, SignatureParameter,
};
use super::encoding;
use super::settings::PytestSettings;
use crate::value::ImportPath;

/// A source file of a project.
#[derive(Debug, Clone)]
pub struct ProjectModule {
    /// Its path, relative to the project's folder.
    pub path: PathBuf,
    /// Its dotted name, as it is imported.
    pub name: String,
    /// Its functions and classes in source order. Nested ones follow the one around them.
    pub definitions: Vec<CodeDefinition>,
    /// Its imports outside of functions and classes.
    pub imports: Vec<ImportedName>,
    /// The names that it assigns outside of functions and classes.
    pub variables: Vec<String>,
    /// The range of `if __name__ == "__main__":`.
    pub main_guard: Option<Range>,
    /// The offset at which new imports can be added, at the start of a line.
    pub imports_end: usize,
    /// True if it contains tests, by its file's name.
    pub is_test: bool,
    /// The reason why it could not be parsed.
    pub problem: Option<ModuleProblem>,
}

/// The reason why a file could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleProblem {
    /// The line, from 1.
    pub line: usize,
    /// The error message.
    pub message: String,
}

/// A name that an import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedName {
    /// The module, with leading dots if it is relative.
    pub module: String,
    /// The imported name, or `*`; `None` for the module itself.
    pub name: Option<String>,
    /// The name that is bound.
    pub bound_name: String,
}

impl ProjectModule {
    /// Reads a file of a project.
    pub(super) fn read(root: &Path, path: &Path, settings: &PytestSettings) -> ProjectModule {
        let empty = ProjectModule::empty(root, path, settings);
        let bytes = match fs::read(root.join(path)) {
            Ok(bytes) => bytes,
            Err(error) => {
                return empty.with_problem(1, format!("cannot be read: {}", error.kind()));
            }
        };
        match encoding::decode_source(&bytes) {
            Ok(text) => empty.with_source(text.strip_prefix('\u{feff}').unwrap_or(&text), settings),
            Err(line) => empty.with_problem(line, "this is not UTF-8 text".to_owned()),
        }
    }

    /// Parses a text that is not in a file of a project.
    #[must_use]
    pub fn from_text(path: &Path, text: &str, settings: &PytestSettings) -> ProjectModule {
        ProjectModule::empty(Path::new(""), path, settings).with_source(text, settings)
    }

    /// Creates a module without content.
    fn empty(root: &Path, path: &Path, settings: &PytestSettings) -> ProjectModule {
        let file_name = path.file_name().and_then(|name| name.to_str());
        ProjectModule {
            path: path.to_owned(),
            name: dotted_name(root, path),
            definitions: Vec::new(),
            imports: Vec::new(),
            variables: Vec::new(),
            main_guard: None,
            imports_end: 0,
            is_test: file_name.is_some_and(|name| settings.is_test_file(name)),
            problem: None,
        }
    }

    /// Sets the reason why the file could not be parsed.
    fn with_problem(mut self, line: usize, message: String) -> ProjectModule {
        self.problem = Some(ModuleProblem { line, message });
        self
    }

    /// Fills the module from its source.
    fn with_source(self, text: &str, settings: &PytestSettings) -> ProjectModule {
        match tree::module(text) {
            Ok(tree) => {
                let mut reader = DefinitionReader {
                    text,
                    lines: line_starts(text),
                    settings,
                    module: self,
                };
                reader.module.imports_end = find_imports_end(text, &tree);
                reader.read_top_level(&tree.body);
                reader.module
            }
            Err(problems) => {
                let problem = problems.into_iter().next();
                let (start, message) = problem.map_or_else(
                    || (0, "is not Python".to_owned()),
                    |problem| (problem.range.start, problem.message),
                );
                let before = text.as_bytes().get(..start).unwrap_or_default();
                self.with_problem(count_newlines(before) + 1, message)
            }
        }
    }

    /// Returns the definition whose code object starts on this line and has this qualified name.
    #[must_use]
    pub fn definition_at(&self, first_line: u32, qualified_name: &str) -> Option<&CodeDefinition> {
        self.definitions.iter().find(|definition| {
            let last = qualified_name.rsplit('.').next().unwrap_or(qualified_name);
            definition.first_line == first_line
                && (definition.qualified_name == qualified_name
                    || (definition.code_name == "<lambda>" && last == "<lambda>"))
        })
    }

    /// Resolves a name in this module by its imports.
    #[must_use]
    pub fn resolve(&self, name: &str) -> ImportPath {
        let (first, rest) = match name.split_once('.') {
            Some((first, rest)) => (first, Some(rest)),
            None => (name, None),
        };
        let Some(import) = self
            .imports
            .iter()
            .find(|import| import.bound_name == first)
        else {
            return ImportPath::new(self.name.clone(), name);
        };
        let from = self.import_source(import);
        match (&import.name, rest) {
            (Some(name), None) => ImportPath::new(from, name.clone()),
            (Some(name), Some(rest)) => ImportPath::new(format!("{from}.{name}"), rest),
            // `import os.path` binds `os`.
            (None, Some(_)) if from.split('.').next() == Some(first) => {
                ImportPath::new(first, rest.unwrap_or(""))
            }
            (None, rest) => ImportPath::new(from, rest.unwrap_or("")),
        }
    }

    /// Returns the absolute name of the module that an import takes something from.
    pub(crate) fn import_source(&self, import: &ImportedName) -> String {
        let relative = import.module.trim_start_matches('.');
        let dots = import.module.len() - relative.len();
        if dots == 0 {
            return relative.to_owned();
        }
        // One dot is the package of the module, or the module itself if it is a package. Each
        // further dot is the package around that.
        let above = dots - usize::from(self.is_package());
        let components: Vec<&str> = self.name.split('.').collect();
        let kept = components.len().saturating_sub(above);
        let package = components.into_iter().take(kept);
        let relative = Some(relative).filter(|name| !name.is_empty());
        package.chain(relative).collect::<Vec<&str>>().join(".")
    }

    /// Returns true if it is the `__init__.py` of a package.
    #[must_use]
    pub fn is_package(&self) -> bool {
        self.path.file_stem().is_some_and(|name| name == "__init__")
    }

    /// Returns the definition with this qualified name; the last one, as in Python.
    #[must_use]
    pub fn definition(&self, qualified_name: &str) -> Option<&CodeDefinition> {
        self.definitions
            .iter()
            .rev()
            .find(|definition| definition.qualified_name == qualified_name)
    }
}

/// Returns the dotted name of a file: relative to `src` if it is below such a folder that is no
/// package itself, otherwise to the project's folder. Folders without `__init__.py` count as
/// packages.
fn dotted_name(root: &Path, path: &Path) -> String {
    let below_src = path
        .strip_prefix("src")
        .ok()
        .filter(|rest| rest.components().next().is_some())
        .filter(|_| !root.join("src/__init__.py").exists());
    let path = below_src.unwrap_or(path).with_extension("");
    let mut components: Vec<String> = path
        .components()
        .map(|word| word.as_os_str().to_string_lossy().into_owned())
        .collect();
    if components.len() > 1 && components.last().is_some_and(|word| word == "__init__") {
        components.pop();
    }
    components.join(".")
}

/// Counts line ends.
fn count_newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns the offsets of the lines.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.match_indices('\n').map(|(end, _)| end + 1);
    std::iter::once(0).chain(ends).collect()
}

/// Returns the offset of the line after the last import before any function or class. Without an
/// import, it is after the docstring, or at the first statement.
fn find_imports_end(text: &str, tree: &tree::Module) -> usize {
    let header = tree.body.iter().take_while(|statement| {
        !matches!(
            statement.kind,
            StatementKind::Function(_) | StatementKind::Class(_)
        )
    });
    let last = header
        .filter(|statement| contains_import(statement))
        .last()
        .map(|statement| statement.range.end);
    match (last, tree.body.first()) {
        (Some(end), _) => line_end(text, end),
        (None, Some(first)) if tree.docstring.is_some() => line_end(text, first.range.end),
        (None, Some(first)) => line_start(text, first.range.start),
        (None, None) => text.len(),
    }
}

/// Returns true if a statement is an import, or a block that contains one.
fn contains_import(statement: &Statement) -> bool {
    match &statement.kind {
        StatementKind::Import(_) | StatementKind::ImportFrom { .. } => true,
        StatementKind::If {
            body, otherwise, ..
        } => body.iter().chain(otherwise).any(contains_import),
        StatementKind::Try { body, handlers, .. } => {
            let handled = handlers.iter().flat_map(|handler| &handler.body);
            body.iter().chain(handled).any(contains_import)
        }
        _ => false,
    }
}

/// Returns the start of the line at an offset.
fn line_start(text: &str, offset: usize) -> usize {
    let before = text.get(..offset).unwrap_or("");
    before.rfind('\n').map_or(0, |end| end + 1)
}

/// Returns the end of the line at an offset, its line end included.
fn line_end(text: &str, offset: usize) -> usize {
    let behind = text.get(offset..).unwrap_or("");
    behind.find('\n').map_or(text.len(), |end| offset + end + 1)
}

/// The state of filling a module from its syntax tree.
struct DefinitionReader<'a> {
    /// The source.
    text: &'a str,
    /// The offsets of the lines.
    lines: Vec<usize>,
    /// The pytest settings, which decide what is a test.
    settings: &'a PytestSettings,
    /// The module so far.
    module: ProjectModule,
}

/// The surroundings of a definition.
#[derive(Clone, Copy)]
struct DefinitionContext<'a> {
    /// The prefix of qualified names, its dot included.
    prefix: &'a str,
    /// True in the body of a class.
    in_class: bool,
    /// True inside of a function.
    in_function: bool,
    /// True inside of a test or a test file.
    is_test: bool,
}

impl DefinitionReader<'_> {
    /// Returns the line of an offset.
    fn line(&self, offset: usize) -> u32 {
        let line = self.lines.partition_point(|start| *start <= offset);
        u32::try_from(line).unwrap_or(u32::MAX)
    }

    /// Returns the source of an expression.
    fn source(&self, expression: &Expression) -> String {
        let text = self.text.get(expression.range.clone());
        text.unwrap_or_default().to_owned()
    }

    /// Reads the body of the module.
    fn read_top_level(&mut self, body: &[Statement]) {
        let context = DefinitionContext {
            prefix: "",
            in_class: false,
            in_function: false,
            is_test: self.module.is_test,
        };
        self.read_block(body, context);
    }

    /// Reads a block.
    fn read_block(&mut self, body: &[Statement], context: DefinitionContext<'_>) {
        for statement in body {
            self.read_statement(statement, context);
        }
    }

    /// Reads a statement and the blocks in it.
    fn read_statement(&mut self, statement: &Statement, context: DefinitionContext<'_>) {
        let is_top_level = !context.in_class && !context.in_function;
        match &statement.kind {
            StatementKind::Function(function) => self.add_function(statement, function, context),
            StatementKind::Class(class) => self.add_class(statement, class, context),
            StatementKind::If {
                condition,
                body,
                otherwise,
            } => {
                if is_top_level && is_main_check(condition) {
                    self.module.main_guard = Some(statement.range.clone());
                }
                self.read_block(body, context);
                self.read_block(otherwise, context);
            }
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            } => {
                self.read_block(body, context);
                self.read_block(otherwise, context);
            }
            StatementKind::With { body, .. } => self.read_block(body, context),
            StatementKind::Match { cases, .. } => {
                for case in cases {
                    self.read_block(&case.body, context);
                }
            }
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                self.read_block(body, context);
                for handler in handlers {
                    self.read_block(&handler.body, context);
                }
                self.read_block(otherwise, context);
                self.read_block(finally, context);
            }
            StatementKind::Assign { targets, value } => {
                for target in targets {
                    if let (Some(name), ExpressionKind::Lambda { parameters, .. }) =
                        (target.as_name(), &value.kind)
                    {
                        self.add_lambda(name, parameters, value, context);
                    } else if is_top_level {
                        self.add_variable(target);
                    }
                }
            }
            StatementKind::Annotated { target, .. } if is_top_level => self.add_variable(target),
            StatementKind::Import(aliases) if is_top_level => {
                self.module
                    .imports
                    .extend(aliases.iter().map(|alias| ImportedName {
                        module: alias.name.clone(),
                        name: None,
                        bound_name: alias.alias.clone().unwrap_or_else(|| {
                            let first = alias.name.split('.').next();
                            first.unwrap_or(&alias.name).to_owned()
                        }),
                    }));
            }
            StatementKind::ImportFrom {
                module,
                names,
                level,
            } if is_top_level => {
                let dots = ".".repeat(usize::try_from(*level).unwrap_or(0));
                let module = format!("{dots}{}", module.as_deref().unwrap_or(""));
                self.module
                    .imports
                    .extend(names.iter().map(|alias| ImportedName {
                        module: module.clone(),
                        name: Some(alias.name.clone()),
                        bound_name: alias.alias.as_ref().unwrap_or(&alias.name).clone(),
                    }));
            }
            _ => {}
        }
    }

    /// Adds the names that an assignment binds.
    fn add_variable(&mut self, target: &Expression) {
        match &target.kind {
            ExpressionKind::Name(name) if !self.module.variables.contains(name) => {
                self.module.variables.push(name.clone());
            }
            ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
                for part in parts {
                    self.add_variable(part);
                }
            }
            ExpressionKind::Starred(part) => self.add_variable(part),
            _ => {}
        }
    }

    /// Creates a definition.
    fn definition(
        &self,
        range: &Range,
        name: &str,
        context: DefinitionContext<'_>,
        kind: DefinitionKind,
    ) -> CodeDefinition {
        CodeDefinition {
            qualified_name: format!("{}{name}", context.prefix),
            name: name.to_owned(),
            code_name: name.to_owned(),
            first_line: self.line(range.start),
            last_line: self.line(range.end.saturating_sub(1)),
            range: range.clone(),
            decorators: Vec::new(),
            is_test: context.is_test,
            kind,
        }
    }

    /// Adds a function and the definitions inside of it.
    fn add_function(
        &mut self,
        statement: &Statement,
        function: &tree::Function,
        context: DefinitionContext<'_>,
    ) {
        let decorators: Vec<String> = function
            .decorators
            .iter()
            .map(|decorator| self.source(decorator))
            .collect();
        let execution = match (function.is_async, function.yields) {
            (false, false) => ExecutionKind::Plain,
            (false, true) => ExecutionKind::Generator,
            (true, false) => ExecutionKind::Coroutine,
            (true, true) => ExecutionKind::AsyncGenerator,
        };
        let kind = DefinitionKind::Function(FunctionDefinition {
            signature: FunctionSignature {
                parameters: self.parameters(&function.parameters),
                returns: function
                    .returns
                    .as_ref()
                    .map(|annotation| self.source(annotation)),
            },
            execution,
            role: function_role(&decorators, function, context.in_class, context.in_function),
        });
        let mut definition = self.definition(&statement.range, &function.name, context, kind);
        definition.decorators = decorators;
        let prefix = format!("{}.<locals>.", definition.qualified_name);
        let is_test = definition.is_test;
        self.module.definitions.push(definition);
        self.read_block(
            &function.body,
            DefinitionContext {
                prefix: &prefix,
                in_class: false,
                in_function: true,
                is_test,
            },
        );
    }

    /// Adds a lambda that is assigned to a name.
    fn add_lambda(
        &mut self,
        name: &str,
        parameters: &[tree::Parameter],
        value: &Expression,
        context: DefinitionContext<'_>,
    ) {
        let role = if context.in_function {
            FunctionRole::Nested
        } else if context.in_class {
            FunctionRole::Method
        } else {
            FunctionRole::Function
        };
        let kind = DefinitionKind::Function(FunctionDefinition {
            signature: FunctionSignature {
                parameters: self.parameters(parameters),
                returns: None,
            },
            execution: ExecutionKind::Plain,
            role,
        });
        let mut definition = self.definition(&value.range, name, context, kind);
        definition.code_name = "<lambda>".to_owned();
        self.module.definitions.push(definition);
    }

    /// Converts the parameters of a function.
    fn parameters(&self, parameters: &[tree::Parameter]) -> Vec<SignatureParameter> {
        parameters
            .iter()
            .map(|parameter| SignatureParameter {
                name: parameter.name.clone(),
                kind: parameter.kind,
                default: parameter
                    .default
                    .as_ref()
                    .map(|default| self.default(default)),
                annotation: parameter
                    .annotation
                    .as_ref()
                    .map(|annotation| self.source(annotation)),
            })
            .collect()
    }

    /// Converts the default of a parameter.
    fn default(&self, default: &Expression) -> DefaultValue {
        let text = self.source(default);
        let literal = is_literal(&text);
        DefaultValue { text, literal }
    }

    /// Returns the fields of a record class.
    fn fields(&self, class: &tree::Class) -> Vec<SignatureParameter> {
        let fields = class.body.iter().filter_map(record_field);
        fields
            .map(|(name, annotation, default)| SignatureParameter {
                name: name.to_owned(),
                kind: tree::ParameterKind::Normal,
                default: default.map(|default| self.default(default)),
                annotation: Some(self.source(annotation)),
            })
            .collect()
    }

    /// Adds a class and the definitions inside of it.
    fn add_class(
        &mut self,
        statement: &Statement,
        class: &tree::Class,
        context: DefinitionContext<'_>,
    ) {
        let decorators: Vec<String> = class
            .decorators
            .iter()
            .map(|decorator| self.source(decorator))
            .collect();
        let bases: Vec<String> = class.bases.iter().map(|base| self.source(base)).collect();
        let methods = class.body.iter().filter_map(|inner| match &inner.kind {
            StatementKind::Function(function) => Some(function.name.clone()),
            _ => None,
        });
        let is_test_class = bases.iter().any(|base| last_word(base) == "TestCase")
            || (bases.is_empty() && self.settings.is_test_class(&class.name));
        let kind = DefinitionKind::Class(ClassDefinition {
            kind: class_kind(&decorators, &bases, class),
            methods: methods.collect(),
            fields: self.fields(class),
            members: class.body.iter().flat_map(assigned_names).collect(),
            bases,
        });
        let mut definition = self.definition(&statement.range, &class.name, context, kind);
        definition.decorators = decorators;
        definition.is_test |= is_test_class;
        let prefix = format!("{}.", definition.qualified_name);
        let is_test = definition.is_test;
        self.module.definitions.push(definition);
        self.read_block(
            &class.body,
            DefinitionContext {
                prefix: &prefix,
                in_class: true,
                in_function: context.in_function,
                is_test,
            },
        );
    }
}

/// Returns true for `__name__ == "__main__"`, in either order.
fn is_main_check(condition: &Expression) -> bool {
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
