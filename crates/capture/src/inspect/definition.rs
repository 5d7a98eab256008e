//! Functions and classes, as plain data.

use testwright_source::Range;
use testwright_source::tree::ParameterKind;

/// A function, method or class, and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// As CPython names it: `Outer.method`, `make.<locals>.inner`.
    pub qualified_name: String,
    /// The last word of it.
    pub name: String,
    /// The name that its code object has; another one only for `name = lambda …`.
    pub code_name: String,
    /// The line on which CPython says that it starts: that of its first decorator.
    pub first_line: u32,
    /// The last line of its text.
    pub last_line: u32,
    /// Its text, decorators included.
    pub range: Range,
    /// What is written behind each `@`.
    pub decorators: Vec<String>,
    /// Whether it is a test or holds tests.
    pub is_test: bool,
    /// What it is.
    pub kind: DefinitionKind,
}

/// What a definition is.
#[derive(Debug, Clone, PartialEq)]
pub enum DefinitionKind {
    /// A `class`.
    Class(Class),
    /// A `def`, or a lambda with a name.
    Function(Function),
}

/// What is known of a class.
#[derive(Debug, Clone, PartialEq)]
pub struct Class {
    /// Its bases as written.
    pub bases: Vec<String>,
    /// What kind of class it is.
    pub nature: Nature,
    /// The names of its methods.
    pub methods: Vec<String>,
    /// What its constructor takes, if it is a record: the names that it annotates.
    pub fields: Vec<Parameter>,
    /// The public names that its body assigns: its members, if it is an enumeration.
    pub members: Vec<String>,
}

/// What kind of class a class is, as far as its own text tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nature {
    /// None of the others.
    Plain,
    /// Made by `dataclasses` or `attrs`: its constructor takes its fields.
    Record,
    /// A named tuple.
    NamedTuple,
    /// An enumeration: its members exist already.
    Enum,
    /// An exception.
    Exception,
    /// Abstract, or a protocol: cannot be instantiated.
    Abstract,
}

/// What is known of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its parameters and what it returns.
    pub signature: Signature,
    /// How it runs.
    pub flow: Flow,
    /// What it is to the class or function around it.
    pub role: Role,
}

/// How a function runs when it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// From start to end.
    Plain,
    /// It gives a generator.
    Generator,
    /// It gives a coroutine.
    Coroutine,
    /// It gives an asynchronous generator.
    AsyncGenerator,
}

/// What a function is to what is around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A function of the module.
    Function,
    /// A method: its first argument is the object.
    Method,
    /// A class method: its first argument is the class.
    ClassMethod,
    /// A static method.
    StaticMethod,
    /// Called by reading an attribute.
    Getter,
    /// Called by assigning to an attribute.
    Setter,
    /// Called by deleting an attribute.
    Deleter,
    /// An `@overload`: for type checkers only.
    Overload,
    /// A function inside a function: matched to calls, never tested by itself.
    Nested,
}

/// What a function takes and gives.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Signature {
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// The annotation of its result.
    pub returns: Option<String>,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, without stars.
    pub name: String,
    /// How it takes its argument.
    pub kind: ParameterKind,
    /// What it is if nothing is given.
    pub default: Option<Default>,
    /// Its annotation as written.
    pub annotation: Option<String>,
}

/// What a parameter is if nothing is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Default {
    /// As written.
    pub text: String,
    /// Whether the text is all that there is to know: a number, a string, `None` and the like.
    pub literal: bool,
}

impl Definition {
    /// Whether this is something to write tests for: public, and neither a test nor inside of a function.
    #[must_use]
    pub fn is_target(&self) -> bool {
        self.qualified_name.split('.').all(is_public) && self.can_be_tested()
    }

    /// Whether tests can be written for this, private or not.
    #[must_use]
    pub fn can_be_tested(&self) -> bool {
        // Python changes such names behind the scenes.
        let is_hidden = |name: &str| name.starts_with("__") && !is_public(name);
        let mut names = self.qualified_name.split('.');
        let can_be_named = !names.any(|name| name.starts_with('<') || is_hidden(name));
        let fits = match &self.kind {
            DefinitionKind::Class(class) => match class.nature {
                Nature::Abstract | Nature::Enum => false,
                Nature::Exception => class
                    .methods
                    .iter()
                    .any(|name| !matches!(name.as_str(), "__init__" | "__str__" | "__repr__")),
                Nature::Plain | Nature::Record | Nature::NamedTuple => true,
            },
            DefinitionKind::Function(function) => {
                !matches!(function.role, Role::Overload | Role::Nested)
            }
        };
        can_be_named && fits && !self.is_test
    }
}

/// Whether a name is for others: special methods are, `_this` is not, and nothing inside of a function is.
pub(crate) fn is_public(name: &str) -> bool {
    let special = name.len() > 4 && name.starts_with("__") && name.ends_with("__");
    special || !(name.starts_with('_') || name.starts_with('<'))
}
