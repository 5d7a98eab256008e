//! Recognising modules that do nothing but define names.
//!
//! Running such a module a second time changes nothing that running it once did not: it makes the same functions,
//! classes and values again. Whoever wants its first state back need not run it, as long as nobody changed what it made.
//! The answer is on the safe side: a module that is not understood counts as one that does more.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{
    Arguments, Decorator, ExceptHandler, Expr, Operator, Parameters, Stmt, StmtClassDef,
    StmtFunctionDef, StmtIf, StmtTry,
};

use crate::names::names_of;
use crate::parse;

/// Builtin functions that, given plain values, do nothing but return a plain value.
const PLAIN_FUNCTIONS: [&str; 24] = [
    "abs",
    "bool",
    "bytes",
    "chr",
    "complex",
    "dict",
    "divmod",
    "float",
    "frozenset",
    "int",
    "len",
    "list",
    "max",
    "min",
    "ord",
    "pow",
    "range",
    "repr",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
];

/// Functions of the standard library that do nothing, called again with the same plain values, but return an equal
/// value without state of its own, or the same object as before.
const HARMLESS_FUNCTIONS: [(&str, &str); 3] = [
    ("re", "compile"),
    ("logging", "getLogger"),
    ("typing", "TypeVar"),
];

/// Decorators that keep nothing but the function, and are known to be builtin.
const BUILTIN_DECORATORS: [&str; 3] = ["property", "staticmethod", "classmethod"];

/// The same, from modules of the standard library.
const LIBRARY_DECORATORS: [(&str, &str); 4] = [
    ("abc", "abstractmethod"),
    ("contextlib", "contextmanager"),
    ("typing", "final"),
    ("typing", "override"),
];

/// The names that a module defines itself, not by an import, if defining names is all that running it does; `None` for
/// any other module, and for a text that is not understood.
///
/// ```
/// use testwright_source::only_definitions;
///
/// let module = "import math\nLIMIT = 2 ** 10\ndef area(r):\n    return math.pi * r * r\n";
/// assert_eq!(only_definitions(module).unwrap_or_default(), ["LIMIT", "area"]);
/// assert_eq!(only_definitions("import registry\nregistry.add('x')\n"), None);
/// ```
pub fn only_definitions(text: &str) -> Option<Vec<String>> {
    let tree = parse::module(text).ok()?;
    let mut scope = Scope {
        outer: None,
        bound: bound_in(tree.body()),
        defined: Vec::new(),
        plain: HashSet::new(),
        classes: HashSet::new(),
        imported: HashMap::new(),
    };
    scope.are_harmless(tree.body()).then_some(scope.defined)
}

fn bound_in(body: &[Stmt]) -> HashSet<String> {
    names_of(body).binds.into_iter().collect()
}

/// What evaluating an expression comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    /// A number, a text or a container of such: operators and builtin functions do nothing special with it.
    Plain,
    /// Something that exists already, or a new function: harmless by itself.
    Harmless,
    /// Perhaps more than a value.
    Unknown,
}

/// A module or the body of a class.
struct Scope<'a> {
    outer: Option<&'a Scope<'a>>,
    /// All names it binds anywhere.
    bound: HashSet<String>,
    /// The names it has bound so far, without imports, in order.
    defined: Vec<String>,
    /// Those of them that hold plain values.
    plain: HashSet<String>,
    /// Those of them that are classes.
    classes: HashSet<String>,
    /// Imported names: the module, and for `from module import name` the name there.
    imported: HashMap<String, (String, Option<String>)>,
}

impl Scope<'_> {
    fn are_harmless(&mut self, body: &[Stmt]) -> bool {
        body.iter().all(|statement| self.is_harmless(statement))
    }

    fn is_harmless(&mut self, statement: &Stmt) -> bool {
        match statement {
            Stmt::Pass(_) => true,
            // A docstring, or dots in place of a body.
            Stmt::Expr(expression) => is_constant(&expression.value),
            Stmt::Import(import) if self.outer.is_none() => {
                for alias in &import.names {
                    let (name, module) = match &alias.asname {
                        Some(name) => (name.as_str(), alias.name.as_str()),
                        None => {
                            let first = alias.name.split('.').next().unwrap_or_default();
                            (first, first)
                        }
                    };
                    self.import(name, module, None);
                }
                true
            }
            Stmt::ImportFrom(import) if self.outer.is_none() => {
                let module = match (&import.module, import.level) {
                    (Some(module), 0) => module.as_str(),
                    _ => "",
                };
                for alias in &import.names {
                    let name = alias.asname.as_ref().unwrap_or(&alias.name);
                    self.import(name.as_str(), module, Some(alias.name.as_str()));
                }
                true
            }
            Stmt::Assign(assign) => {
                let value = self.value(&assign.value);
                value != Value::Unknown
                    && assign
                        .targets
                        .iter()
                        .all(|target| self.assign(target, &assign.value, value))
            }
            Stmt::AnnAssign(assign) => {
                let value = assign.value.as_ref();
                let known = value.map_or(Value::Harmless, |value| self.value(value));
                let bind = |scope: &mut Self| match value {
                    Some(value) => scope.assign(&assign.target, value, known),
                    None => assign.target.is_name_expr(),
                };
                is_annotation(&assign.annotation) && known != Value::Unknown && bind(self)
            }
            Stmt::AugAssign(assign) => {
                assign.target.is_name_expr()
                    && self.value(&assign.target) == Value::Plain
                    && self.value(&assign.value) == Value::Plain
            }
            Stmt::FunctionDef(function) => self.function(function),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::If(inner) => {
                let harmless = self.conditional(inner);
                self.forget_all(statement);
                harmless
            }
            Stmt::Try(inner) => {
                let harmless = self.attempt(inner);
                self.forget_all(statement);
                harmless
            }
            _ => false,
        }
    }

    fn import(&mut self, name: &str, module: &str, original: Option<&str>) {
        self.forget(name);
        let source = (module.to_owned(), original.map(str::to_owned));
        self.imported.insert(name.to_owned(), source);
    }

    /// Whatever is known of a name no longer holds.
    fn forget(&mut self, name: &str) {
        self.plain.remove(name);
        self.classes.remove(name);
        self.imported.remove(name);
    }

    /// Nobody knows which branch has bound the names of a statement.
    fn forget_all(&mut self, statement: &Stmt) {
        for name in names_of(std::slice::from_ref(statement)).binds {
            self.forget(&name);
        }
    }

    fn define(&mut self, name: &str) -> bool {
        self.forget(name);
        if !self.defined.iter().any(|known| known == name) {
            self.defined.push(name.to_owned());
        }
        // Objects are told from those of other modules by it.
        name != "__module__"
    }

    fn assign(&mut self, target: &Expr, value: &Expr, known: Value) -> bool {
        match (target, value) {
            (Expr::Name(name), _) => {
                let fine = self.define(name.id.as_str());
                if known == Value::Plain {
                    self.plain.insert(name.id.to_string());
                }
                fine
            }
            // Nothing but a display is sure to be taken apart without further ado.
            (Expr::Tuple(targets), Expr::Tuple(values)) => {
                targets.elts.len() == values.elts.len()
                    && targets
                        .elts
                        .iter()
                        .zip(&values.elts)
                        .all(|(target, value)| {
                            target.is_name_expr() && self.assign(target, value, known)
                        })
            }
            _ => false,
        }
    }

    fn function(&mut self, function: &StmtFunctionDef) -> bool {
        let annotated = function
            .returns
            .as_ref()
            .is_none_or(|returns| is_annotation(returns));
        let fine = function.type_params.is_none()
            && annotated
            && self.parameters(&function.parameters)
            && function
                .decorator_list
                .iter()
                .all(|decorator| self.is_harmless_decorator(decorator));
        fine && self.define(function.name.as_str())
    }

    fn parameters(&self, parameters: &Parameters) -> bool {
        let variadic = parameters.vararg.iter().chain(&parameters.kwarg);
        let is_fine = |annotation: Option<&Expr>| annotation.is_none_or(is_annotation);
        variadic
            .into_iter()
            .all(|parameter| is_fine(parameter.annotation()))
            && parameters.iter_non_variadic_params().all(|parameter| {
                is_fine(parameter.parameter.annotation())
                    && parameter
                        .default
                        .as_ref()
                        .is_none_or(|default| self.value(default) != Value::Unknown)
            })
    }

    fn is_harmless_decorator(&self, decorator: &Decorator) -> bool {
        match &decorator.expression {
            Expr::Name(name) if BUILTIN_DECORATORS.contains(&name.id.as_str()) => {
                self.is_builtin(name.id.as_str())
            }
            // `@size.setter`: whatever has the name in this class was made here, so it is a property if anything.
            Expr::Attribute(attribute)
                if matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter") =>
            {
                matches!(&*attribute.value, Expr::Name(name)
                    if self.outer.is_some() && self.defined.iter().any(|known| known == name.id.as_str()))
            }
            expression => self
                .library_name(expression)
                .is_some_and(|name| LIBRARY_DECORATORS.contains(&name)),
        }
    }

    fn class(&mut self, class: &StmtClassDef) -> bool {
        let is_base = |base: &Expr| matches!(base, Expr::Name(_)) || self.is_path(base);
        let plain_head = class.type_params.is_none()
            && class.decorator_list.is_empty()
            && class.arguments.as_ref().is_none_or(|arguments| {
                arguments.keywords.is_empty() && arguments.args.iter().all(is_base)
            });
        let mut inner = Scope {
            outer: Some(self),
            bound: bound_in(&class.body),
            defined: Vec::new(),
            plain: HashSet::new(),
            classes: HashSet::new(),
            imported: HashMap::new(),
        };
        let fine = plain_head && inner.are_harmless(&class.body);
        let fine = fine && self.define(class.name.as_str());
        self.classes.insert(class.name.to_string());
        fine
    }

    fn conditional(&mut self, statement: &StmtIf) -> bool {
        if is_main_program(&statement.test) || self.is_type_checking(&statement.test) {
            // Never run in a module that is imported.
            return statement
                .elif_else_clauses
                .iter()
                .all(|clause| clause.test.is_none() && self.are_harmless(&clause.body));
        }
        self.is_stable_test(&statement.test)
            && self.are_harmless(&statement.body)
            && statement.elif_else_clauses.iter().all(|clause| {
                clause
                    .test
                    .as_ref()
                    .is_none_or(|test| self.is_stable_test(test))
                    && self.are_harmless(&clause.body)
            })
    }

    /// Whether a condition is made of plain values and of what `sys` and `os` say about the machine.
    fn is_stable_test(&self, test: &Expr) -> bool {
        match test {
            Expr::BoolOp(operation) => operation
                .values
                .iter()
                .all(|value| self.is_stable_test(value)),
            Expr::UnaryOp(operation) => self.is_stable_test(&operation.operand),
            Expr::Compare(comparison) => {
                self.is_stable_test(&comparison.left)
                    && comparison
                        .comparators
                        .iter()
                        .all(|value| self.is_stable_test(value))
            }
            Expr::Subscript(subscript) => {
                self.is_stable_test(&subscript.value) && is_constant(&subscript.slice)
            }
            Expr::Attribute(_) => matches!(
                self.library_name(test),
                Some(
                    ("sys", "version_info" | "platform" | "maxsize" | "byteorder") | ("os", "name")
                )
            ),
            _ => self.value(test) == Value::Plain,
        }
    }

    fn is_type_checking(&self, test: &Expr) -> bool {
        self.library_name(test) == Some(("typing", "TYPE_CHECKING"))
    }

    fn attempt(&mut self, statement: &StmtTry) -> bool {
        let harmless = self.are_harmless(&statement.body)
            && self.are_harmless(&statement.orelse)
            && self.are_harmless(&statement.finalbody);
        harmless
            && !statement.is_star
            && statement.handlers.iter().all(|handler| {
                let ExceptHandler::ExceptHandler(handler) = handler;
                handler.name.is_none()
                    && handler
                        .type_
                        .as_ref()
                        .is_none_or(|expected| self.value(expected) != Value::Unknown)
                    && self.are_harmless(&handler.body)
            })
    }

    fn value(&self, expression: &Expr) -> Value {
        match expression {
            _ if is_constant(expression) => Value::Plain,
            Expr::Name(name) => {
                if self.is_plain(name.id.as_str()) {
                    Value::Plain
                } else {
                    Value::Harmless
                }
            }
            Expr::Tuple(tuple) => self.all(&tuple.elts),
            Expr::List(list) => self.all(&list.elts),
            Expr::Set(set) => self.operation(&set.elts),
            Expr::Dict(dict) => {
                let keys = dict.items.iter().map(|item| match &item.key {
                    Some(key) => self.operation([key]),
                    None => Value::Unknown,
                });
                let values = dict.items.iter().map(|item| self.value(&item.value));
                worst(keys.chain(values))
            }
            Expr::UnaryOp(operation) => self.operation([&*operation.operand]),
            Expr::BinOp(operation) => self.operation([&*operation.left, &*operation.right]),
            Expr::BoolOp(operation) => self.operation(&operation.values),
            Expr::If(choice) => self.operation([&*choice.test, &*choice.body, &*choice.orelse]),
            Expr::Compare(comparison) => {
                self.operation(comparison.comparators.iter().chain([&*comparison.left]))
            }
            Expr::Lambda(lambda) => {
                let fine = |parameters: &Parameters| self.parameters(parameters);
                if lambda.parameters.as_deref().is_none_or(fine) {
                    Value::Harmless
                } else {
                    Value::Unknown
                }
            }
            Expr::Attribute(_) if self.is_path(expression) => Value::Harmless,
            Expr::Call(call) => self.call(&call.func, &call.arguments),
            _ => Value::Unknown,
        }
    }

    fn all<'e>(&self, elements: impl IntoIterator<Item = &'e Expr>) -> Value {
        worst(elements.into_iter().map(|element| self.value(element)))
    }

    /// The value of an operation, which is known only for plain operands.
    fn operation<'e>(&self, operands: impl IntoIterator<Item = &'e Expr>) -> Value {
        match self.all(operands) {
            Value::Plain => Value::Plain,
            _ => Value::Unknown,
        }
    }

    fn call(&self, function: &Expr, arguments: &Arguments) -> Value {
        let named = arguments.keywords.iter().map(|keyword| match keyword.arg {
            Some(_) => self.value(&keyword.value),
            None => Value::Unknown,
        });
        let is_own_name = |argument: &Expr| matches!(argument, Expr::Name(name) if name.id.as_str() == "__name__");
        let positional = arguments.args.iter().map(|argument| {
            if is_own_name(argument) {
                Value::Plain
            } else {
                self.value(argument)
            }
        });
        if worst(positional.chain(named)) != Value::Plain {
            return Value::Unknown;
        }
        let name = match function {
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        if self.is_builtin(name) && PLAIN_FUNCTIONS.contains(&name) {
            return Value::Plain;
        }
        let is_sentinel = name == "object" && self.is_builtin(name) && arguments.args.is_empty();
        match self.library_name(function) {
            Some(("math", _)) => Value::Plain,
            Some(name) if HARMLESS_FUNCTIONS.contains(&name) => Value::Harmless,
            _ if is_sentinel => Value::Harmless,
            _ => Value::Unknown,
        }
    }

    /// A name with dots, below an imported module or a class of this module.
    fn is_path(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => {
                    let name = name.id.as_str();
                    self.is_class(name)
                        || self
                            .source(name)
                            .is_some_and(|(_, original)| original.is_none())
                }
                inner => self.is_path(inner),
            },
            _ => false,
        }
    }

    /// What an expression means if it names something in another module: the module and the name there.
    fn library_name<'e>(&'e self, expression: &'e Expr) -> Option<(&'e str, &'e str)> {
        match expression {
            Expr::Name(name) => {
                let (module, original) = self.source(name.id.as_str())?;
                Some((module, original.as_deref()?))
            }
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => {
                    let (module, original) = self.source(name.id.as_str())?;
                    original
                        .is_none()
                        .then_some((module, attribute.attr.as_str()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Where a name is imported from, as far as code at this place sees it.
    fn source(&self, name: &str) -> Option<&(String, Option<String>)> {
        self.look_up(name, |scope| scope.imported.get(name))
    }

    fn is_class(&self, name: &str) -> bool {
        self.look_up(name, |scope| scope.classes.get(name))
            .is_some()
    }

    fn is_plain(&self, name: &str) -> bool {
        self.look_up(name, |scope| scope.plain.get(name)).is_some()
    }

    fn look_up<'s, R>(
        &'s self,
        name: &str,
        found: impl Fn(&'s Scope<'s>) -> Option<R>,
    ) -> Option<R> {
        match self.outer {
            Some(outer) if !self.bound.contains(name) => outer.look_up(name, found),
            _ => found(self),
        }
    }

    /// Whether a name is nothing but the interpreter's own.
    fn is_builtin(&self, name: &str) -> bool {
        !self.bound.contains(name) && self.outer.is_none_or(|outer| outer.is_builtin(name))
    }
}

fn worst(values: impl Iterator<Item = Value>) -> Value {
    values.fold(Value::Plain, |worst, value| match (worst, value) {
        (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
        (Value::Harmless, _) | (_, Value::Harmless) => Value::Harmless,
        _ => Value::Plain,
    })
}

fn is_constant(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::StringLiteral(_)
            | Expr::BytesLiteral(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::EllipsisLiteral(_)
    )
}

/// Whether an annotation is made of names, brackets and `|`, as types are.
fn is_annotation(annotation: &Expr) -> bool {
    match annotation {
        _ if is_constant(annotation) => true,
        Expr::Name(_) => true,
        Expr::Attribute(attribute) => is_annotation(&attribute.value),
        Expr::Subscript(subscript) => {
            is_annotation(&subscript.value) && is_annotation(&subscript.slice)
        }
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_annotation),
        Expr::List(list) => list.elts.iter().all(is_annotation),
        Expr::BinOp(operation) => {
            operation.op == Operator::BitOr
                && is_annotation(&operation.left)
                && is_annotation(&operation.right)
        }
        _ => false,
    }
}

/// `__name__ == "__main__"`.
fn is_main_program(test: &Expr) -> bool {
    let Expr::Compare(comparison) = test else {
        return false;
    };
    let is_name = |side: &Expr| matches!(side, Expr::Name(name) if name.id.as_str() == "__name__");
    let is_main = |side: &Expr| matches!(side, Expr::StringLiteral(text) if text.value.to_str() == "__main__");
    match (&*comparison.ops, &*comparison.comparators) {
        ([ruff_python_ast::CmpOp::Eq], [right]) => {
            is_name(&comparison.left) && is_main(right)
                || is_main(&comparison.left) && is_name(right)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::only_definitions;

    #[test]
    fn modules_that_only_define() {
        for text in [
            "",
            "'''About it.'''\nfrom __future__ import annotations\nimport os.path as p, sys\nfrom a import *\n",
            "class A(object):\n  'doc'\n  __slots__ = ['x']\n  limit = 3\n  def f(self, x=1, *, y=()): self.x = print()\n  __repr__ = f\n",
            "class E(ValueError): pass\nclass F(E): ...\n",
            "class A:\n  @property\n  def x(self): return 1\n  @x.setter\n  def x(self, v): pass\n  @staticmethod\n  def s(): pass\n",
            "import abc\nclass A:\n  @abc.abstractmethod\n  def f(self): pass\n",
            "A = 1\nB = A * 2 + len('xyz')\nC = (A, B, 'x')\nD = {'a': [1, 2], 'b': {1}}\nA += 1\n__all__ = ['f'] + ['g']\n",
            "def f(): pass\ng = f\nTABLE = {'f': f, 'g': lambda x: x}\nmissing = object()\nx, y = 1, f\n",
            "import re, math, logging\nWORD = re.compile(r'\\w+')\nlog = logging.getLogger(__name__)\nTAU = 2 * math.sqrt(2)\npi = math.pi\n",
            "try:\n  import json\nexcept ImportError:\n  json = None\n",
            "import sys\nif sys.version_info >= (3, 8):\n  x = 1\nelse:\n  x = 2\n",
            "def main(): pass\nif __name__ == '__main__':\n  main()\n",
            "from typing import TYPE_CHECKING, List\nif TYPE_CHECKING:\n  import x\nlimit: int = 3\ndef f(x: List[int] | None) -> 'A': pass\n",
            "class A:\n  class B: pass\n  x = 1\n  y = x + 1\nz = A.x\n",
            "count = 0\ndef more():\n  global count\n  count += 1\n",
        ] {
            assert!(only_definitions(text).is_some(), "{text}");
        }
    }

    #[test]
    fn modules_that_may_do_more() {
        for text in [
            "print(1)\n",
            "x = f()\n",
            "import m\nm.add(1)\n",
            "import m\nm.x = 1\n",
            "table = {}\ntable['x'] = 1\n",
            "def f(): pass\nf.calls = 0\n",
            "import functools\n@functools.lru_cache\ndef f(): pass\n",
            "@register\nclass A: pass\n",
            "class A(metaclass=M): pass\n",
            "class A(make()): pass\n",
            "class A:\n  print(1)\n",
            "class A:\n  items = make()\n",
            "class A:\n  __module__ = 'b'\n",
            "def f(x=make()): pass\n",
            "def f(x: make()): pass\n",
            "x = [make()]\n",
            "x = y.z\n",
            "x = f'{y}'\n",
            "x = [i for i in y]\n",
            "import m\nx = m.thing + 1\n",
            "def len(x): print(x)\nn = len('x')\n",
            "for i in range(3): pass\n",
            "x, y = z\n",
            "if make(): pass\n",
            "import m\nif m.x: y = 1\n",
            "def property(f): return make(f)\nclass A:\n  @property\n  def f(self): pass\n",
            "import sys\nif sys.maxsize > 1:\n  from m import x\nelse:\n  x = 1\ny = x + 1\n",
            "with x: pass\n",
            "x = (y := 1)\n",
            "del x\n",
            "not Python\n",
        ] {
            assert!(only_definitions(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_names_of_a_module_are_not_those_it_imports() {
        let text = "import a\nfrom b import c\nc = 1\ndef d(): pass\nclass E: x = 1\nf = g = 2\n";
        assert_eq!(
            only_definitions(text).unwrap_or_default(),
            ["c", "d", "E", "f", "g"]
        );
    }
}
