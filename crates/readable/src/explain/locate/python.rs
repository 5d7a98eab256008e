//! Collects the definitions of a module or a class, as far as they are known without running it.

use std::collections::{BTreeMap, BTreeSet};

use testwright_source::Range;
use testwright_source::tree::{
    Alias, Expression, ExpressionKind, Function, Operator, Statement, StatementKind,
};

use super::Callable;
use super::cases::without_cases;
use crate::term::MUTATING_METHODS;

/// Names that a module or a class defines.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModuleNames {
    /// Last definition of each function.
    pub(crate) functions: BTreeMap<String, Callable>,
    /// Assigned values in order. A name may occur several times.
    pub(crate) values: Vec<(String, Expression, Range)>,
    /// `name[key] = value`, in order.
    pub(crate) entries: Vec<(String, Expression, Expression)>,
    pub(crate) imported: Vec<String>,
}

impl ModuleNames {
    /// Collects the definitions in the statements of a module or class.
    pub(crate) fn read(body: &[Statement]) -> ModuleNames {
        let mut module = ModuleNames::default();
        module.statements(body);
        module
    }

    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            match &statement.kind {
                StatementKind::Function(function) => {
                    let callable = callable(function, &statement.range);
                    self.functions.insert(function.name.clone(), callable);
                }
                StatementKind::Assign { targets, value } => {
                    for target in targets {
                        self.assign(target, value, &statement.range);
                    }
                }
                StatementKind::Annotated {
                    target,
                    value: Some(value),
                    ..
                } => self.assign(target, value, &statement.range),
                StatementKind::Augmented {
                    target,
                    operator,
                    value,
                } => self.add(target, *operator, value, &statement.range),
                StatementKind::Import(aliases)
                | StatementKind::ImportFrom { names: aliases, .. } => {
                    self.imported.extend(aliases.iter().map(bound_name));
                }
                StatementKind::Try { body, .. } | StatementKind::With { body, .. } => {
                    self.statements(body);
                }
                _ => {}
            }
        }
    }

    fn assign(&mut self, target: &Expression, value: &Expression, range: &Range) {
        match (&target.kind, &value.kind) {
            (ExpressionKind::Name(name), _) => {
                self.values
                    .push((name.clone(), value.clone(), range.clone()));
            }
            (
                ExpressionKind::Tuple(targets) | ExpressionKind::List(targets),
                ExpressionKind::Tuple(values) | ExpressionKind::List(values),
            ) if targets.len() == values.len() => {
                for (target, value) in targets.iter().zip(values) {
                    self.assign(target, value, range);
                }
            }
            (ExpressionKind::Subscript { object, index }, _) => {
                if let Some(name) = object.as_name() {
                    let entry = (name.to_owned(), (**index).clone(), value.clone());
                    self.entries.push(entry);
                }
            }
            _ => {}
        }
    }

    /// Records `actions += (more,)` as the sum of the previous value and the addition.
    fn add(&mut self, target: &Expression, operator: Operator, value: &Expression, range: &Range) {
        let Some(name) = target.as_name() else { return };
        let Some(before) = self.value(name).cloned() else {
            return;
        };
        let kind = ExpressionKind::Binary {
            left: Box::new(before),
            operator,
            right: Box::new(value.clone()),
        };
        let sum = Expression {
            range: range.clone(),
            kind,
        };
        self.values.push((name.to_owned(), sum, range.clone()));
    }

    /// Returns the last value of a name.
    pub(crate) fn value(&self, name: &str) -> Option<&Expression> {
        let all = self.values.iter().rev();
        all.clone()
            .find(|(given, ..)| given == name)
            .map(|(_, value, _)| value)
    }

    /// Returns the last value of each name.
    pub(crate) fn all_values(&self) -> BTreeMap<String, Expression> {
        let all = self.values.iter();
        all.map(|(name, value, _)| (name.clone(), value.clone()))
            .collect()
    }

    /// Returns the place of the first assignment of a name.
    pub(crate) fn place(&self, name: &str) -> Option<Range> {
        let first = self.values.iter().find(|(given, ..)| given == name);
        first.map(|(.., range)| range.clone())
    }

    /// Returns the function that an expression stands for: by its name, by an alias, or as a
    /// lambda.
    pub(crate) fn callable(&self, expression: &Expression) -> Option<Callable> {
        let mut expression = expression;
        // A name may be an alias of another alias. A cycle of aliases stands for nothing.
        for _ in 0..20 {
            match &expression.kind {
                ExpressionKind::Lambda { parameters, body } => {
                    let given = StatementKind::Return(Some((**body).clone()));
                    return Some(Callable {
                        name: String::new(),
                        parameters: parameters.clone(),
                        docstring: None,
                        body: vec![Statement {
                            range: body.range.clone(),
                            kind: given,
                        }],
                        range: expression.range.clone(),
                    });
                }
                ExpressionKind::Name(name) => {
                    let is_later = |value: &Expression, function: &Callable| {
                        value.range.start > function.range.start
                    };
                    match (self.functions.get(name), self.value(name)) {
                        (Some(function), Some(value)) if is_later(value, function) => {
                            expression = value;
                        }
                        (Some(function), _) => return Some(function.clone()),
                        (None, Some(value)) => expression = value,
                        (None, None) => return None,
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// Follows names to the expression that they stand for.
    pub(crate) fn resolved<'e>(&'e self, expression: &'e Expression) -> &'e Expression {
        let mut expression = expression;
        for _ in 0..20 {
            match expression.as_name().and_then(|name| self.value(name)) {
                Some(value) => expression = value,
                None => break,
            }
        }
        expression
    }

    /// Returns the members of a display, of a sum of displays, or of names of those.
    pub(crate) fn members(&self, expression: &Expression) -> Option<Vec<Expression>> {
        match &self.resolved(expression).kind {
            ExpressionKind::List(members)
            | ExpressionKind::Tuple(members)
            | ExpressionKind::Set(members) => {
                let mut all = Vec::new();
                for member in members {
                    match &member.kind {
                        ExpressionKind::Starred(inner) => all.extend(self.members(inner)?),
                        _ => all.push(member.clone()),
                    }
                }
                Some(all)
            }
            ExpressionKind::Binary {
                left,
                operator: Operator::Add | Operator::BitOr,
                right,
            } => {
                let mut all = self.members(left)?;
                all.extend(self.members(right)?);
                Some(all)
            }
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => match (function.as_name()?, arguments.as_slice()) {
                ("list" | "tuple" | "set" | "frozenset", [inner]) => self.members(inner),
                ("list" | "tuple" | "set" | "frozenset", []) => Some(vec![]),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the entries of a named dictionary, with those that are added later.
    pub(crate) fn dictionary(&self, name: &str) -> Vec<(Expression, Expression)> {
        let mut all = match self.value(name) {
            Some(value) => self.pairs(value),
            None => vec![],
        };
        for (_, key, value) in self.entries.iter().filter(|(owner, ..)| owner == name) {
            all.push((key.clone(), value.clone()));
        }
        all
    }

    /// Returns the entries of a dictionary display.
    pub(crate) fn pairs(&self, expression: &Expression) -> Vec<(Expression, Expression)> {
        let mut all = Vec::new();
        match &self.resolved(expression).kind {
            ExpressionKind::Dictionary(entries) => {
                for (key, value) in entries {
                    match key {
                        Some(key) => all.push((key.clone(), value.clone())),
                        None => all.extend(self.pairs(value)),
                    }
                }
            }
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } if function.as_name() == Some("dict") => {
                all.extend(arguments.iter().flat_map(|inner| self.pairs(inner)));
                for keyword in keywords {
                    if let Some(name) = &keyword.name {
                        let key = Expression {
                            range: keyword.value.range.clone(),
                            kind: ExpressionKind::Text(name.clone()),
                        };
                        all.push((key, keyword.value.clone()));
                    }
                }
            }
            _ => {}
        }
        all
    }

    /// Returns the names that are assigned once and never changed by any statement of the text.
    pub(crate) fn constants(&self, whole: &[Statement]) -> BTreeMap<String, Expression> {
        let mut scan = ChangeScan::default();
        scan.statements(whole);
        let mut constants = BTreeMap::new();
        for (name, value, _) in &self.values {
            let given = self.values.iter().filter(|(other, ..)| other == name);
            let is_function = self.functions.contains_key(name);
            if given.count() == 1 && !is_function && !scan.changed.contains(name) {
                constants.insert(name.clone(), value.clone());
            }
        }
        constants
    }
}

fn bound_name(alias: &Alias) -> String {
    let name = alias.alias.as_ref().unwrap_or(&alias.name);
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Converts a `def`.
pub(crate) fn callable(function: &Function, range: &Range) -> Callable {
    Callable {
        name: function.name.clone(),
        parameters: function.parameters.clone(),
        docstring: function.docstring.clone(),
        body: without_cases(&function.body),
        range: range.clone(),
    }
}

/// Global names that statements change: by `global`, or in place.
#[derive(Debug, Default)]
pub(crate) struct ChangeScan {
    pub(crate) changed: BTreeSet<String>,
}

impl ChangeScan {
    /// Scans statements and everything inside them.
    pub(crate) fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Global(names) => self.changed.extend(names.iter().cloned()),
            StatementKind::Function(function) => self.statements(&function.body),
            StatementKind::Class(class) => self.statements(&class.body),
            StatementKind::Assign { targets, .. } | StatementKind::Delete(targets) => {
                targets.iter().for_each(|target| self.target(target));
            }
            StatementKind::Augmented { target, .. } => {
                self.target(target);
                self.changed.extend(target.as_name().map(str::to_owned));
            }
            StatementKind::Expression(expression) => self.expression(expression),
            StatementKind::Return(Some(expression)) => self.expression(expression),
            StatementKind::For {
                body, otherwise, ..
            }
            | StatementKind::While {
                body, otherwise, ..
            }
            | StatementKind::If {
                body, otherwise, ..
            } => {
                self.statements(body);
                self.statements(otherwise);
            }
            StatementKind::With { body, .. } => self.statements(body),
            StatementKind::Try {
                body,
                handlers,
                otherwise,
                finally,
            } => {
                self.statements(body);
                handlers
                    .iter()
                    .for_each(|handler| self.statements(&handler.body));
                self.statements(otherwise);
                self.statements(finally);
            }
            StatementKind::Match { cases, .. } => {
                cases.iter().for_each(|case| self.statements(&case.body));
            }
            _ => {}
        }
        if let StatementKind::Assign { value, .. } = &statement.kind {
            self.expression(value);
        }
    }

    fn target(&mut self, target: &Expression) {
        match &target.kind {
            ExpressionKind::Subscript { object, .. } | ExpressionKind::Attribute { object, .. } => {
                self.root(object);
            }
            ExpressionKind::Tuple(all) | ExpressionKind::List(all) => {
                all.iter().for_each(|one| self.target(one));
            }
            _ => {}
        }
    }

    fn root(&mut self, object: &Expression) {
        match &object.kind {
            ExpressionKind::Name(name) => {
                self.changed.insert(name.clone());
            }
            ExpressionKind::Subscript { object, .. } | ExpressionKind::Attribute { object, .. } => {
                self.root(object);
            }
            _ => {}
        }
    }

    /// Scans calls such as `name.append(…)`.
    fn expression(&mut self, expression: &Expression) {
        if let ExpressionKind::Call { function, .. } = &expression.kind
            && let ExpressionKind::Attribute { object, name } = &function.kind
            && MUTATING_METHODS.contains(&name.as_str())
        {
            self.root(object);
        }
    }
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    fn read(text: &str) -> (ModuleNames, Vec<Statement>) {
        let tree = tree::module(text).expect("Python");
        (ModuleNames::read(&tree.body), tree.body)
    }

    #[test]
    fn names_lead_to_functions() {
        let (module, _) = read("def f(): pass\ng = f\nh = g\na = b\nb = a\nk = lambda x: 1\n");
        let lead = |name: &str| {
            let name = tree::expression(name).expect("a name");
            module.callable(&name).map(|found| found.name)
        };
        assert_eq!(lead("h").as_deref(), Some("f"));
        assert_eq!(lead("k").as_deref(), Some(""));
        assert_eq!(lead("a"), None);
    }

    #[test]
    fn r7_constants_are_never_changed() {
        let text = "A, B = 1, [2]\nC = []\nD = 3\nD = 4\nE = {}\nF = 0\nG = []\n\
            def f():\n    global F\n    C.append(1)\n    E['a'] = 1\n    x = G.pop()\n";
        let (module, body) = read(text);
        let names: Vec<String> = module.constants(&body).into_keys().collect();
        assert_eq!(names, ["A", "B"]);
    }

    #[test]
    fn members_of_sums_and_names() {
        let (module, _) = read("a = (x, y)\nb = [*a, z]\nb += [w]\n");
        let b = tree::expression("b").expect("a name");
        let members = module.members(&b).expect("members");
        let names: Vec<_> = members.iter().filter_map(Expression::as_name).collect();
        assert_eq!(names, ["x", "y", "z", "w"]);
    }

    #[test]
    fn dictionaries_can_grow() {
        let (module, _) = read("e = {a: 1, **f}\nf = {b: 2}\ne[c] = 3\n");
        let keys: Vec<_> = module.dictionary("e");
        let keys: Vec<_> = keys.iter().filter_map(|(key, _)| key.as_name()).collect();
        assert_eq!(keys, ["a", "b", "c"]);
    }
}
