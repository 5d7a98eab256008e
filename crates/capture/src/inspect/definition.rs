//! Functions and classes as plain data.

use testwright_source::Range;
use testwright_source::tree::ParameterKind;

/// A function, method or class, with its position.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeDefinition {
    /// The qualified name of CPython: `Outer.method`, `make.<locals>.inner`.
    pub qualified_name: String,
    /// The last part of the qualified name.
    pub name: String,
    /// The name of its code object. It differs only for `name = lambda …`.
    pub code_name: String,
    /// The line at which it starts according to CPython: that of its first decorator.
    pub first_line: u32,
    /// The last line of its text.
    pub last_line: u32,
    /// The range of its text, decorators included.
    pub range: Range,
    /// The source of each decorator, without `@`.
    pub decorators: Vec<String>,
    /// True if it is a test or contains tests.
    pub is_test: bool,
    /// The class or function itself.
    pub kind: DefinitionKind,
}

/// A class or a function.
#[derive(Debug, Clone, PartialEq)]
pub enum DefinitionKind {
    /// A `class`.
    Class(ClassDefinition),
    /// A `def`, or a lambda with a name.
    Function(FunctionDefinition),
}

/// A class.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassDefinition {
    /// The source of its bases.
    pub bases: Vec<String>,
    /// The kind of class.
    pub kind: ClassKind,
    /// The names of its methods.
    pub methods: Vec<String>,
    /// The parameters of a record's constructor: the names that its body annotates.
    pub fields: Vec<SignatureParameter>,
    /// The public names that its body assigns: the members of an enumeration.
    pub members: Vec<String>,
}

/// The kind of a class, as far as its own source shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    /// An ordinary class.
    Plain,
    /// Made by `dataclasses` or `attrs`: its constructor takes its fields.
    Record,
    /// A named tuple.
    NamedTuple,
    /// An enumeration, whose members exist already.
    Enum,
    /// An exception.
    Exception,
    /// An abstract class or protocol, which cannot be instantiated.
    Abstract,
}

/// A function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDefinition {
    /// Its parameters and result.
    pub signature: FunctionSignature,
    /// The way in which it runs.
    pub execution: ExecutionKind,
    /// Its role in the class or function around it.
    pub role: FunctionRole,
}

/// The way in which a function runs when it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecutionKind {
    /// It runs from start to end.
    Plain,
    /// It returns a generator.
    Generator,
    /// It returns a coroutine.
    Coroutine,
    /// It returns an asynchronous generator.
    AsyncGenerator,
}

/// The role of a function in its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FunctionRole {
    /// A function of the module.
    Function,
    /// A method: its first argument is the object.
    Method,
    /// A class method: its first argument is the class.
    ClassMethod,
    /// A static method, without a special first argument.
    StaticMethod,
    /// A property getter: called by reading an attribute.
    Getter,
    /// A property setter: called by assigning to an attribute.
    Setter,
    /// A property deleter: called by deleting an attribute.
    Deleter,
    /// An `@overload`: for type checkers only.
    Overload,
    /// A function inside of a function. It is matched to calls, but never tested by itself.
    Nested,
}

/// The parameters and the result of a function.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionSignature {
    /// Its parameters in order.
    pub parameters: Vec<SignatureParameter>,
    /// The annotation of its result.
    pub returns: Option<String>,
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct SignatureParameter {
    /// Its name, without stars.
    pub name: String,
    /// The kinds of arguments that it takes.
    pub kind: ParameterKind,
    /// Its default value, if it has one.
    pub default: Option<DefaultValue>,
    /// The source of its annotation.
    pub annotation: Option<String>,
}

/// The default value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultValue {
    /// Its source.
    pub text: String,
    /// True if the source is a literal: a number, a string, `None` and the like.
    pub literal: bool,
}

impl CodeDefinition {
    /// Returns true if tests are written for this: it is public, no test, and not inside of a
    /// function.
    #[must_use]
    pub fn is_target(&self) -> bool {
        self.qualified_name.split('.').all(is_public) && self.can_be_tested()
    }

    /// Returns true if tests can be written for this, private or not.
    #[must_use]
    pub fn can_be_tested(&self) -> bool {
        // Python mangles such names.
        let is_hidden = |name: &str| name.starts_with("__") && !is_public(name);
        let mut names = self.qualified_name.split('.');
        let can_be_named = !names.any(|name| name.starts_with('<') || is_hidden(name));
        let fits = match &self.kind {
            DefinitionKind::Class(class) => match class.kind {
                ClassKind::Abstract | ClassKind::Enum => false,
                ClassKind::Exception => class
                    .methods
                    .iter()
                    .any(|name| !matches!(name.as_str(), "__init__" | "__str__" | "__repr__")),
                ClassKind::Plain | ClassKind::Record | ClassKind::NamedTuple => true,
            },
            DefinitionKind::Function(function) => {
                !matches!(function.role, FunctionRole::Overload | FunctionRole::Nested)
            }
        };
        can_be_named && fits && !self.is_test
    }
}

/// Returns true if a name is public: special methods are, `_this` is not, and nothing inside of a
/// function is.
pub(crate) fn is_public(name: &str) -> bool {
    let special = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    special || !(name.starts_with('_') || name.starts_with('<'))
}
