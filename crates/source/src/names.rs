//! The names that a text reads, and those it binds.
//!
//! Python decides by *scope*: a name bound anywhere in a function is local to it; a class body sees
//! its own names but the functions in it do not; a comprehension is a small function of its own.
//! The visitor below follows those rules with a stack of scopes. Names that no scope binds reach
//! the outermost one, and are the free names of the text.

use std::collections::HashSet;

use ruff_python_ast::visitor::{Visitor, walk_except_handler, walk_expr, walk_pattern, walk_stmt};
use ruff_python_ast::{
    Alias, AnyParameterRef, Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern,
    Stmt, StmtClassDef, StmtFunctionDef, TypeParams,
};

use crate::check::SyntaxProblem;
use crate::parse;

/// The names that a text shares with its surroundings. No name occurs twice in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NameUsage {
    /// The names it reads before it has bound them itself, including builtins such as `len`. First
    /// those that are read as the text runs, in order, then those read later, inside functions.
    pub reads: Vec<String>,
    /// The names it binds, in order: by assignment, `import`, `def`, `class`, `for`, `with`,
    /// `except`, `case` and `:=`, and also by a function that declares them `global`. A star import
    /// binds `*`.
    pub binds: Vec<String>,
}

/// Returns the names that statements read and bind. The statements may be indented, and there may
/// be any number.
///
/// ```
/// use testwright_source::names;
///
/// let names = names("total = sum(x * k for x in xs)").unwrap_or_default();
/// assert_eq!(names.reads, ["sum", "xs", "k"]);
/// assert_eq!(names.binds, ["total"]);
/// ```
pub fn names(text: &str) -> Result<NameUsage, Vec<SyntaxProblem>> {
    let tree = parse::parse_fragment(text)?;
    Ok(names_of(tree.body()))
}

/// Returns the names of statements that run one after the other in one scope.
pub(crate) fn names_of(body: &[Stmt]) -> NameUsage {
    let mut visitor = NameVisitor::default();
    visitor.visit_body(body);
    let NameVisitor {
        scope: outermost,
        global_reads,
        global_binds,
        ..
    } = visitor;
    let mut reads = outermost.reads;
    for name in outermost.later_reads.list {
        if !outermost.binds.contains(name) {
            reads.add(name);
        }
    }
    for name in global_reads.list {
        reads.add(name);
    }
    let mut binds = outermost.binds;
    for name in global_binds.list {
        binds.add(name);
    }
    NameUsage {
        reads: reads.into_strings(),
        binds: binds.into_strings(),
    }
}

/// A set that keeps the order of insertion.
#[derive(Default)]
struct OrderedNames<'a> {
    list: Vec<&'a str>,
    known: HashSet<&'a str>,
}

impl<'a> OrderedNames<'a> {
    /// Inserts a name.
    fn add(&mut self, name: &'a str) {
        if self.known.insert(name) {
            self.list.push(name);
        }
    }

    /// Returns true if a name is in the set.
    fn contains(&self, name: &str) -> bool {
        self.known.contains(name)
    }

    /// Returns the names, in order.
    fn into_strings(self) -> Vec<String> {
        self.list.into_iter().map(str::to_owned).collect()
    }
}

/// The kind of a scope.
#[derive(Clone, Copy, Default, PartialEq)]
enum ScopeKind {
    /// The text itself. It runs from top to bottom, so a name is free until it is bound.
    #[default]
    Text,
    /// A class body: like the text, but invisible to the functions inside.
    Class,
    /// A function: a name bound anywhere in it is local everywhere in it.
    Function,
    /// A comprehension: like a function, but it runs at once, and `:=` binds outside it.
    Comprehension,
}

/// The names of one scope.
#[derive(Default)]
struct BindingScope<'a> {
    kind: ScopeKind,
    binds: OrderedNames<'a>,
    /// Names read here.
    reads: OrderedNames<'a>,
    /// Names read by an inner scope, perhaps later, and not found there.
    later_reads: OrderedNames<'a>,
    globals: HashSet<&'a str>,
    nonlocals: HashSet<&'a str>,
}

/// Collects the names of statements.
#[derive(Default)]
struct NameVisitor<'a> {
    /// The innermost scope.
    scope: BindingScope<'a>,
    /// The scopes around it.
    outer_scopes: Vec<BindingScope<'a>>,
    /// Names declared `global` and read; they skip all scopes in between.
    global_reads: OrderedNames<'a>,
    /// Names declared `global` and bound.
    global_binds: OrderedNames<'a>,
}

impl<'a> NameVisitor<'a> {
    /// Records that a name is read.
    fn read(&mut self, name: &'a str) {
        let runs_in_order = matches!(self.scope.kind, ScopeKind::Text | ScopeKind::Class);
        if self.scope.globals.contains(name) {
            self.global_reads.add(name);
        } else if !(runs_in_order && self.scope.binds.contains(name)) {
            self.scope.reads.add(name);
        }
    }

    /// Records that a name is bound.
    fn bind(&mut self, name: &'a str) {
        if self.scope.globals.contains(name) {
            // Also a read: code that includes this function needs the variable that it changes.
            self.global_reads.add(name);
            self.global_binds.add(name);
        } else if self.scope.nonlocals.contains(name) {
            self.scope.reads.add(name);
        } else {
            self.scope.binds.add(name);
        }
    }

    /// Runs `walk` in a new scope.
    ///
    /// Scopes nest as deeply as the text, so nothing large is kept on the stack here.
    fn in_scope(&mut self, kind: ScopeKind, walk: impl FnOnce(&mut Self)) {
        self.enter(kind);
        walk(self);
        self.leave();
    }

    /// Opens a scope.
    fn enter(&mut self, kind: ScopeKind) {
        let scope = BindingScope {
            kind,
            ..BindingScope::default()
        };
        self.outer_scopes
            .push(std::mem::replace(&mut self.scope, scope));
    }

    /// Closes a scope and passes the names it did not bind to the scope around it.
    fn leave(&mut self) {
        let Some(outer) = self.outer_scopes.pop() else {
            return;
        };
        let inner = std::mem::replace(&mut self.scope, outer);
        let is_class = inner.kind == ScopeKind::Class;
        let runs_at_once = matches!(inner.kind, ScopeKind::Class | ScopeKind::Comprehension)
            && self.scope.kind != ScopeKind::Class;
        for name in inner.reads.list {
            // A class has resolved its own reads in order already.
            if is_class || !inner.binds.contains(name) {
                if runs_at_once {
                    self.read(name);
                } else {
                    self.scope.later_reads.add(name);
                }
            }
        }
        for name in inner.later_reads.list {
            if is_class || !inner.binds.contains(name) {
                self.scope.later_reads.add(name);
            }
        }
    }

    /// Visits a function definition.
    fn visit_function(&mut self, function: &'a StmtFunctionDef) {
        for decorator in &function.decorator_list {
            self.visit_decorator(decorator);
        }
        self.visit_defaults(&function.parameters);
        self.with_type_parameters(function.type_params.as_deref(), |walk| {
            for parameter in function
                .parameters
                .iter()
                .map(AnyParameterRef::as_parameter)
            {
                walk.visit_parameter(parameter);
            }
            if let Some(returns) = &function.returns {
                walk.visit_annotation(returns);
            }
            walk.in_scope(ScopeKind::Function, |walk| {
                walk.bind_parameters(&function.parameters);
                walk.visit_body(&function.body);
            });
        });
        self.bind(&function.name);
    }

    /// Visits a class definition.
    fn visit_class(&mut self, class: &'a StmtClassDef) {
        for decorator in &class.decorator_list {
            self.visit_decorator(decorator);
        }
        self.with_type_parameters(class.type_params.as_deref(), |walk| {
            if let Some(arguments) = &class.arguments {
                walk.visit_arguments(arguments);
            }
            walk.in_scope(ScopeKind::Class, |walk| walk.visit_body(&class.body));
        });
        self.bind(&class.name);
    }

    /// Runs `walk` in a scope with these type parameters, which are visible only there.
    fn with_type_parameters(
        &mut self,
        parameters: Option<&'a TypeParams>,
        walk: impl FnOnce(&mut Self),
    ) {
        let Some(parameters) = parameters else {
            return walk(self);
        };
        // The rules of a comprehension fit: local names, evaluated at once.
        self.in_scope(ScopeKind::Comprehension, |inner| {
            for parameter in parameters.iter() {
                inner.bind(parameter.name());
            }
            inner.visit_type_params(parameters);
            walk(inner);
        });
    }

    /// Visits the defaults of parameters, which are evaluated where the function is defined.
    fn visit_defaults(&mut self, parameters: &'a Parameters) {
        for parameter in parameters.iter_non_variadic_params() {
            if let Some(default) = &parameter.default {
                self.visit_expr(default);
            }
        }
    }

    /// Binds the parameters of a function.
    fn bind_parameters(&mut self, parameters: &'a Parameters) {
        for parameter in parameters {
            self.bind(parameter.name());
        }
    }

    /// Visits a comprehension. Only the first iterable is evaluated outside its scope.
    fn visit_comprehension(&mut self, generators: &'a [Comprehension], elements: &[&'a Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.in_scope(ScopeKind::Comprehension, |walk| {
            for (position, generator) in generators.iter().enumerate() {
                if position > 0 {
                    walk.visit_expr(&generator.iter);
                }
                walk.visit_expr(&generator.target);
                for condition in &generator.ifs {
                    walk.visit_expr(condition);
                }
            }
            for element in elements {
                walk.visit_expr(element);
            }
        });
    }

    /// Binds a name with `:=`, in the nearest scope that is no comprehension.
    fn bind_walrus(&mut self, name: &'a str) {
        if self.scope.kind != ScopeKind::Comprehension {
            return self.bind(name);
        }
        let outer = self
            .outer_scopes
            .iter_mut()
            .rev()
            .find(|scope| scope.kind != ScopeKind::Comprehension);
        if let Some(outer) = outer {
            outer.binds.add(name);
        }
    }

    /// Binds the name of an import.
    fn bind_import(&mut self, alias: &'a Alias, from: bool) {
        let name = match &alias.asname {
            Some(name) => name.as_str(),
            None if from => alias.name.as_str(),
            // `import a.b` binds `a`.
            None => alias.name.split('.').next().unwrap_or_default(),
        };
        self.bind(name);
    }
}

impl<'a> Visitor<'a> for NameVisitor<'a> {
    fn visit_stmt(&mut self, statement: &'a Stmt) {
        match statement {
            Stmt::FunctionDef(function) => self.visit_function(function),
            Stmt::ClassDef(class) => self.visit_class(class),
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.bind_import(alias, false);
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    self.bind_import(alias, true);
                }
            }
            // At the top level everything is global anyway.
            Stmt::Global(global) if self.scope.kind != ScopeKind::Text => {
                let names = global.names.iter().map(|name| name.as_str());
                self.scope.globals.extend(names);
            }
            Stmt::Nonlocal(nonlocal) => {
                let names = nonlocal.names.iter().map(|name| name.as_str());
                self.scope.nonlocals.extend(names);
            }
            Stmt::AugAssign(assign) => {
                if let Expr::Name(name) = &*assign.target {
                    self.read(&name.id);
                }
                walk_stmt(self, statement);
            }
            Stmt::TypeAlias(alias) => {
                self.with_type_parameters(alias.type_params.as_deref(), |walk| {
                    walk.visit_expr(&alias.value);
                });
                self.visit_expr(&alias.name);
            }
            _ => walk_stmt(self, statement),
        }
    }

    fn visit_expr(&mut self, expression: &'a Expr) {
        match expression {
            Expr::Name(name) => match name.ctx {
                ExprContext::Store => self.bind(&name.id),
                ExprContext::Del => {
                    self.read(&name.id);
                    // A name that a function deletes is local to it.
                    if self.scope.kind == ScopeKind::Function {
                        self.bind(&name.id);
                    }
                }
                ExprContext::Load | ExprContext::Invalid => self.read(&name.id),
            },
            Expr::Named(named) => {
                self.visit_expr(&named.value);
                if let Expr::Name(name) = &*named.target {
                    self.bind_walrus(&name.id);
                }
            }
            Expr::Lambda(lambda) => {
                if let Some(parameters) = &lambda.parameters {
                    self.visit_defaults(parameters);
                }
                self.in_scope(ScopeKind::Function, |walk| {
                    if let Some(parameters) = &lambda.parameters {
                        walk.bind_parameters(parameters);
                    }
                    walk.visit_expr(&lambda.body);
                });
            }
            Expr::ListComp(list) => self.visit_comprehension(&list.generators, &[&list.elt]),
            Expr::SetComp(set) => self.visit_comprehension(&set.generators, &[&set.elt]),
            Expr::Generator(generator) => {
                self.visit_comprehension(&generator.generators, &[&generator.elt]);
            }
            Expr::DictComp(dict) => {
                let elements: Vec<&Expr> = dict
                    .key
                    .iter()
                    .map(|key| &**key)
                    .chain([&*dict.value])
                    .collect();
                self.visit_comprehension(&dict.generators, &elements);
            }
            _ => walk_expr(self, expression),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(parts) = handler;
        if let Some(name) = &parts.name {
            self.bind(name);
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name);
        }
        walk_pattern(self, pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the names, written as reads, an arrow, binds.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = match names(text) {
            Ok(names) => format!("{} -> {}", names.reads.join(" "), names.binds.join(" ")),
            Err(problems) => format!("{problems:?}"),
        };
        assert_eq!(shown.trim(), expected, "{text:?}");
    }

    #[test]
    fn statements() {
        check("", "->");
        check("x = y; z = x", "y -> x z");
        check("x = x + 1", "x -> x");
        check("x += y", "x y -> x");
        check("a.b = c[d]; e[f] = 1", "c d a e f ->");
        check("a, (b, *c) = d", "d -> a b c");
        check("x: T = 1", "T -> x");
        check("del x", "x ->");
        check("import a.b, c as d; from e import f, g as h", "-> a d f h");
        check("from m import *", "-> *");
        check("for i in a: b(i)", "a b -> i");
        check("with a as b, c: pass", "a c -> b");
        check("try:\n  a\nexcept E as e:\n  b(e)", "a E b -> e");
        check(
            "match a:\n  case {'k': v, **r} | C(x=[w, *s]) if g(v): pass",
            "a C g -> r v w s",
        );
        check("type A[T] = list[T]", "list -> A");
        check("  größe = 'ä'\r\n", "-> größe");
    }

    #[test]
    fn functions() {
        check(
            "def f(a, *b, c=d, **e): return a + b + c + g + f",
            "d g -> f",
        );
        check("@dec(k)\ndef f(a: T) -> U: pass", "dec k T U -> f");
        check(
            "def f():\n  x = 1\n  def g(): return x + y\n  return g",
            "y -> f",
        );
        check("def f(): return x\nx = 1", "-> f x");
        check("def f():\n  global n\n  n = m", "m n -> f n");
        check(
            "def f():\n  x = 1\n  def g():\n    nonlocal x\n    x = 2",
            "-> f",
        );
        check(
            "def f():\n  x = 1\n  def g():\n    global x\n    return x",
            "x -> f",
        );
        check("def f[T: B](a: T) -> T: return T, a", "B -> f");
        check("lambda a, b=c: a + b + d", "c d ->");
        check("f = lambda: x", "x -> f");
        check("def f():\n  del x", "-> f");
    }

    #[test]
    fn classes() {
        check(
            "class A(B, metaclass=M):\n  x = 1\n  y = x\n  def f(self): return x, A",
            "B M x -> A",
        );
        check("class A:\n  x = x", "x -> A");
        check("class A:\n  n = 1\n  l = [n for _ in m]", "m n -> A");
    }

    #[test]
    fn comprehensions_and_formatted_strings() {
        check("[x for x in x]", "x ->");
        check("{k: v + w for k, v in d.items() if k in e}", "d e w ->");
        check("[y := f(x), *[(z := x) for x in a]]", "f x a -> y z");
        check("[a for a in b for c in a if c]", "b ->");
        check("f'{a!r:>{b}} {f\"{c}\"}' + t'{d}'", "a b c d ->");
        check("y = [x for _ in a]; x = 1", "a x -> y x");
    }
}
