//! Recognition of modules that only define names.
//!
//! Running such a module a second time has no further effect: it creates the same functions,
//! classes and values again. To restore its initial state, it need not be run again, as long as the
//! objects it created were not changed. The answer is conservative: a module that is not understood
//! counts as one that does more.

use std::collections::{HashMap, HashSet};

use ruff_python_ast::{
    Arguments, Decorator, ExceptHandler, Expr, Operator, Parameters, Stmt, StmtClassDef,
    StmtFunctionDef, StmtIf, StmtTry,
};

use crate::names::names_of;
use crate::parse;

/// Builtin functions that, given plain values, only return a plain value.
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

/// Library functions that, called again with the same plain values, have no effect but return an
/// equal value without state of its own, or the same object as before.
const HARMLESS_FUNCTIONS: [(&str, &str); 3] = [
    ("re", "compile"),
    ("logging", "getLogger"),
    ("typing", "TypeVar"),
];

/// Builtin decorators that keep nothing but the function.
const BUILTIN_DECORATORS: [&str; 3] = ["property", "staticmethod", "classmethod"];

/// Library decorators that keep nothing but the function.
const LIBRARY_DECORATORS: [(&str, &str); 4] = [
    ("abc", "abstractmethod"),
    ("contextlib", "contextmanager"),
    ("typing", "final"),
    ("typing", "override"),
];

/// Returns the names that a module defines itself, not by an import, if defining names is all that
/// running it does; `None` for any other module, and for a text that is not understood.
///
/// ```
/// use testwright_source::only_definitions;
///
/// let module = "import math\nLIMIT = 2 ** 10\ndef area(r):\n    return math.pi * r * r\n";
/// assert_eq!(only_definitions(module).unwrap_or_default(), ["LIMIT", "area"]);
/// assert_eq!(only_definitions("import registry\nregistry.add('x')\n"), None);
/// ```
pub fn only_definitions(text: &str) -> Option<Vec<String>> {
    let tree = parse::parse_module(text).ok()?;
    let mut scope = DefinitionScope {
        outer: None,
        bound: bound_in(tree.body()),
        defined: Vec::new(),
        plain_names: HashSet::new(),
        classes: HashSet::new(),
        imported: HashMap::new(),
    };
    scope.are_all_harmless(tree.body()).then_some(scope.defined)
}

/// Returns the names that statements bind.
fn bound_in(body: &[Stmt]) -> HashSet<String> {
    names_of(body).binds.into_iter().collect()
}

/// The effect of evaluating an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueEffect {
    /// A number, a text or a container of such: operators and builtin functions have no special
    /// effect on it.
    Plain,
    /// An existing object, or a new function: harmless by itself.
    Harmless,
    /// Possibly an effect beyond a value.
    Unknown,
}

/// The scope of a module or of a class body.
struct DefinitionScope<'a> {
    outer: Option<&'a DefinitionScope<'a>>,
    /// All names it binds anywhere.
    bound: HashSet<String>,
    /// The names it has bound so far, without imports, in order.
    defined: Vec<String>,
    /// The defined names that hold plain values.
    plain_names: HashSet<String>,
    /// The defined names that are classes.
    classes: HashSet<String>,
    /// Imported names: the module, and for `from module import name` the name there.
    imported: HashMap<String, (String, Option<String>)>,
}

impl DefinitionScope<'_> {
    /// Returns true if statements only define names.
    fn are_all_harmless(&mut self, body: &[Stmt]) -> bool {
        body.iter().all(|statement| self.is_harmless(statement))
    }

    /// Returns true if a statement only defines names, and records them.
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
                let value = self.value_effect(&assign.value);
                value != ValueEffect::Unknown
                    && assign
                        .targets
                        .iter()
                        .all(|target| self.assign(target, &assign.value, value))
            }
            Stmt::AnnAssign(assign) => {
                let value = assign.value.as_ref();
                let known = value.map_or(ValueEffect::Harmless, |value| self.value_effect(value));
                let bind = |scope: &mut Self| match value {
                    Some(value) => scope.assign(&assign.target, value, known),
                    None => assign.target.is_name_expr(),
                };
                is_annotation(&assign.annotation) && known != ValueEffect::Unknown && bind(self)
            }
            Stmt::AugAssign(assign) => {
                assign.target.is_name_expr()
                    && self.value_effect(&assign.target) == ValueEffect::Plain
                    && self.value_effect(&assign.value) == ValueEffect::Plain
            }
            Stmt::FunctionDef(function) => self.is_harmless_function(function),
            Stmt::ClassDef(class) => self.is_harmless_class(class),
            Stmt::If(inner) => {
                let harmless = self.is_harmless_if(inner);
                self.forget_all(statement);
                harmless
            }
            Stmt::Try(inner) => {
                let harmless = self.is_harmless_try(inner);
                self.forget_all(statement);
                harmless
            }
            _ => false,
        }
    }

    /// Records an import.
    fn import(&mut self, name: &str, module: &str, original: Option<&str>) {
        self.forget(name);
        let source = (module.to_owned(), original.map(str::to_owned));
        self.imported.insert(name.to_owned(), source);
    }

    /// Forgets everything about a name.
    fn forget(&mut self, name: &str) {
        self.plain_names.remove(name);
        self.classes.remove(name);
        self.imported.remove(name);
    }

    /// Forgets the names that a statement binds, since it is unknown which branch bound them.
    fn forget_all(&mut self, statement: &Stmt) {
        for name in names_of(std::slice::from_ref(statement)).binds {
            self.forget(&name);
        }
    }

    /// Records a definition. Returns false if the name has a special meaning.
    fn define(&mut self, name: &str) -> bool {
        self.forget(name);
        if !self.defined.iter().any(|known| known == name) {
            self.defined.push(name.to_owned());
        }
        // Objects are attributed to their modules by it.
        name != "__module__"
    }

    /// Records an assignment. Returns true if it is harmless.
    fn assign(&mut self, target: &Expr, value: &Expr, known: ValueEffect) -> bool {
        match (target, value) {
            (Expr::Name(name), _) => {
                let fine = self.define(name.id.as_str());
                if known == ValueEffect::Plain {
                    self.plain_names.insert(name.id.to_string());
                }
                fine
            }
            // Only a display is sure to be unpacked without side effects.
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

    /// Records a function definition. Returns true if it is harmless.
    fn is_harmless_function(&mut self, function: &StmtFunctionDef) -> bool {
        let annotated = function
            .returns
            .as_ref()
            .is_none_or(|returns| is_annotation(returns));
        let fine = function.type_params.is_none()
            && annotated
            && self.are_harmless_parameters(&function.parameters)
            && function
                .decorator_list
                .iter()
                .all(|decorator| self.is_harmless_decorator(decorator));
        fine && self.define(function.name.as_str())
    }

    /// Returns true if the annotations and defaults of parameters are harmless.
    fn are_harmless_parameters(&self, parameters: &Parameters) -> bool {
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
                        .is_none_or(|default| self.value_effect(default) != ValueEffect::Unknown)
            })
    }

    /// Returns true if a decorator keeps nothing but the function.
    fn is_harmless_decorator(&self, decorator: &Decorator) -> bool {
        match &decorator.expression {
            Expr::Name(name) if BUILTIN_DECORATORS.contains(&name.id.as_str()) => {
                self.is_builtin(name.id.as_str())
            }
            // `@size.setter`: the name was defined in this class, so it is a property if anything.
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

    /// Records a class definition. Returns true if it is harmless.
    fn is_harmless_class(&mut self, class: &StmtClassDef) -> bool {
        let is_base =
            |base: &Expr| matches!(base, Expr::Name(_)) || self.is_known_dotted_name(base);
        let plain_head = class.type_params.is_none()
            && class.decorator_list.is_empty()
            && class.arguments.as_ref().is_none_or(|arguments| {
                arguments.keywords.is_empty() && arguments.args.iter().all(is_base)
            });
        let mut inner = DefinitionScope {
            outer: Some(self),
            bound: bound_in(&class.body),
            defined: Vec::new(),
            plain_names: HashSet::new(),
            classes: HashSet::new(),
            imported: HashMap::new(),
        };
        let fine = plain_head && inner.are_all_harmless(&class.body);
        let fine = fine && self.define(class.name.as_str());
        self.classes.insert(class.name.to_string());
        fine
    }

    /// Returns true if all branches of an `if` that can run only define names.
    fn is_harmless_if(&mut self, statement: &StmtIf) -> bool {
        if is_main_program(&statement.test) || self.is_type_checking(&statement.test) {
            // Never runs in an imported module.
            return statement
                .elif_else_clauses
                .iter()
                .all(|clause| clause.test.is_none() && self.are_all_harmless(&clause.body));
        }
        self.is_stable_test(&statement.test)
            && self.are_all_harmless(&statement.body)
            && statement.elif_else_clauses.iter().all(|clause| {
                clause
                    .test
                    .as_ref()
                    .is_none_or(|test| self.is_stable_test(test))
                    && self.are_all_harmless(&clause.body)
            })
    }

    /// Returns true if a condition depends only on plain values and on what `sys` and `os` say
    /// about the machine.
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
            _ => self.value_effect(test) == ValueEffect::Plain,
        }
    }

    /// Returns true if a condition is `typing.TYPE_CHECKING`.
    fn is_type_checking(&self, test: &Expr) -> bool {
        self.library_name(test) == Some(("typing", "TYPE_CHECKING"))
    }

    /// Returns true if all parts of a `try` statement only define names.
    fn is_harmless_try(&mut self, statement: &StmtTry) -> bool {
        let harmless = self.are_all_harmless(&statement.body)
            && self.are_all_harmless(&statement.orelse)
            && self.are_all_harmless(&statement.finalbody);
        harmless
            && !statement.is_star
            && statement.handlers.iter().all(|handler| {
                let ExceptHandler::ExceptHandler(handler) = handler;
                handler.name.is_none()
                    && handler
                        .type_
                        .as_ref()
                        .is_none_or(|expected| self.value_effect(expected) != ValueEffect::Unknown)
                    && self.are_all_harmless(&handler.body)
            })
    }

    /// Classifies an expression.
    fn value_effect(&self, expression: &Expr) -> ValueEffect {
        match expression {
            _ if is_constant(expression) => ValueEffect::Plain,
            Expr::Name(name) => {
                if self.is_plain(name.id.as_str()) {
                    ValueEffect::Plain
                } else {
                    ValueEffect::Harmless
                }
            }
            Expr::Tuple(tuple) => self.worst_of_elements(&tuple.elts),
            Expr::List(list) => self.worst_of_elements(&list.elts),
            Expr::Set(set) => self.operation_effect(&set.elts),
            Expr::Dict(dict) => {
                let keys = dict.items.iter().map(|item| match &item.key {
                    Some(key) => self.operation_effect([key]),
                    None => ValueEffect::Unknown,
                });
                let values = dict.items.iter().map(|item| self.value_effect(&item.value));
                worst_effect(keys.chain(values))
            }
            Expr::UnaryOp(operation) => self.operation_effect([&*operation.operand]),
            Expr::BinOp(operation) => self.operation_effect([&*operation.left, &*operation.right]),
            Expr::BoolOp(operation) => self.operation_effect(&operation.values),
            Expr::If(choice) => {
                self.operation_effect([&*choice.test, &*choice.body, &*choice.orelse])
            }
            Expr::Compare(comparison) => {
                self.operation_effect(comparison.comparators.iter().chain([&*comparison.left]))
            }
            Expr::Lambda(lambda) => {
                let fine = |parameters: &Parameters| self.are_harmless_parameters(parameters);
                if lambda.parameters.as_deref().is_none_or(fine) {
                    ValueEffect::Harmless
                } else {
                    ValueEffect::Unknown
                }
            }
            Expr::Attribute(_) if self.is_known_dotted_name(expression) => ValueEffect::Harmless,
            Expr::Call(call) => self.call_effect(&call.func, &call.arguments),
            _ => ValueEffect::Unknown,
        }
    }

    /// Classifies several expressions: the worst of them counts.
    fn worst_of_elements<'e>(&self, elements: impl IntoIterator<Item = &'e Expr>) -> ValueEffect {
        worst_effect(
            elements
                .into_iter()
                .map(|element| self.value_effect(element)),
        )
    }

    /// Classifies an operation, which is harmless only for plain operands.
    fn operation_effect<'e>(&self, operands: impl IntoIterator<Item = &'e Expr>) -> ValueEffect {
        match self.worst_of_elements(operands) {
            ValueEffect::Plain => ValueEffect::Plain,
            _ => ValueEffect::Unknown,
        }
    }

    /// Classifies a call.
    fn call_effect(&self, function: &Expr, arguments: &Arguments) -> ValueEffect {
        let named = arguments.keywords.iter().map(|keyword| match keyword.arg {
            Some(_) => self.value_effect(&keyword.value),
            None => ValueEffect::Unknown,
        });
        let is_own_name = |argument: &Expr| matches!(argument, Expr::Name(name) if name.id.as_str() == "__name__");
        let positional = arguments.args.iter().map(|argument| {
            if is_own_name(argument) {
                ValueEffect::Plain
            } else {
                self.value_effect(argument)
            }
        });
        if worst_effect(positional.chain(named)) != ValueEffect::Plain {
            return ValueEffect::Unknown;
        }
        let name = match function {
            Expr::Name(name) => name.id.as_str(),
            _ => "",
        };
        if self.is_builtin(name) && PLAIN_FUNCTIONS.contains(&name) {
            return ValueEffect::Plain;
        }
        let is_sentinel = name == "object" && self.is_builtin(name) && arguments.args.is_empty();
        match self.library_name(function) {
            Some(("math", _)) => ValueEffect::Plain,
            Some(name) if HARMLESS_FUNCTIONS.contains(&name) => ValueEffect::Harmless,
            _ if is_sentinel => ValueEffect::Harmless,
            _ => ValueEffect::Unknown,
        }
    }

    /// Returns true if an expression is a dotted name below an imported module or a class of this
    /// module.
    fn is_known_dotted_name(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => {
                    let name = name.id.as_str();
                    self.is_class(name)
                        || self
                            .import_origin(name)
                            .is_some_and(|(_, original)| original.is_none())
                }
                inner => self.is_known_dotted_name(inner),
            },
            _ => false,
        }
    }

    /// Returns the module and the original name, if an expression names something in another
    /// module.
    fn library_name<'e>(&'e self, expression: &'e Expr) -> Option<(&'e str, &'e str)> {
        match expression {
            Expr::Name(name) => {
                let (module, original) = self.import_origin(name.id.as_str())?;
                Some((module, original.as_deref()?))
            }
            Expr::Attribute(attribute) => match &*attribute.value {
                Expr::Name(name) => {
                    let (module, original) = self.import_origin(name.id.as_str())?;
                    original
                        .is_none()
                        .then_some((module, attribute.attr.as_str()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the origin of an imported name, as visible in this scope.
    fn import_origin(&self, name: &str) -> Option<&(String, Option<String>)> {
        self.look_up(name, |scope| scope.imported.get(name))
    }

    /// Returns true if a name is a class of this module.
    fn is_class(&self, name: &str) -> bool {
        self.look_up(name, |scope| scope.classes.get(name))
            .is_some()
    }

    /// Returns true if a name holds a plain value.
    fn is_plain(&self, name: &str) -> bool {
        self.look_up(name, |scope| scope.plain_names.get(name))
            .is_some()
    }

    /// Looks a name up in this scope, or in the outer one if it is not bound here.
    fn look_up<'s, R>(
        &'s self,
        name: &str,
        found: impl Fn(&'s DefinitionScope<'s>) -> Option<R>,
    ) -> Option<R> {
        match self.outer {
            Some(outer) if !self.bound.contains(name) => outer.look_up(name, found),
            _ => found(self),
        }
    }

    /// Returns true if a name is a builtin that is not shadowed.
    fn is_builtin(&self, name: &str) -> bool {
        !self.bound.contains(name) && self.outer.is_none_or(|outer| outer.is_builtin(name))
    }
}

/// Returns the worst of several classifications.
fn worst_effect(values: impl Iterator<Item = ValueEffect>) -> ValueEffect {
    values.fold(ValueEffect::Plain, |worst, value| match (worst, value) {
        (ValueEffect::Unknown, _) | (_, ValueEffect::Unknown) => ValueEffect::Unknown,
        (ValueEffect::Harmless, _) | (_, ValueEffect::Harmless) => ValueEffect::Harmless,
        _ => ValueEffect::Plain,
    })
}

/// Returns true if an expression is a literal constant.
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

/// Returns true if an annotation consists of names, brackets and `|`, as types do.
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

/// Returns true for `__name__ == "__main__"`.
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
