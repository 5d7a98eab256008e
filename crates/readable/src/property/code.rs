//! The Python code of a step (S2: a step runs the code that its text was made from).
//!
//! It is the user's own source with names replaced, so its meaning cannot change on the way.

use testwright_source::Range;
use testwright_source::tree::{
    ComprehensionClause, Expression, ExpressionKind, FStringPiece, Keyword, Parameter,
};

/// The replacements for names and calls in code.
pub(super) trait NameReplacements {
    /// Returns the code that replaces a name, or nothing if it stays.
    fn name(&self, name: &str) -> Option<String>;

    /// Returns the code that replaces a call whose result is already stored.
    fn call(&self, call: &Expression) -> Option<String>;
}

/// Returns the source of an expression with its names replaced.
pub(super) fn rewrite_expression(
    expression: &Expression,
    text: &str,
    stored: &dyn NameReplacements,
) -> String {
    let mut edits = CodeRewriter {
        text,
        stored,
        bound: Vec::new(),
        edits: Vec::new(),
    };
    edits.expression(expression);
    let code = apply_edits(text, expression.range.clone(), edits.edits);
    if code.contains('\n') {
        format!("({code})")
    } else {
        code
    }
}

/// Adds brackets if the code would fall apart between operators.
pub(super) fn parenthesise_code(code: &str) -> String {
    let is_one = |letter: char| letter.is_alphanumeric() || "_.".contains(letter);
    let stored = code
        .split_once("[\"")
        .and_then(|(store, rest)| Some((store, rest.strip_suffix("\"]")?)));
    let is_stored =
        stored.is_some_and(|(store, name)| store.chars().all(is_one) && !name.contains('"'));
    let is_simple = code.chars().all(is_one) || is_stored;
    if is_simple {
        code.to_owned()
    } else {
        format!("({code})")
    }
}

/// Returns a Python string literal that every version of Python reads alike.
pub(crate) fn python_string(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() || ('\u{2028}'..='\u{2029}').contains(&letter) => {
                quoted.push_str(&format!("\\U{:08x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Applies replacements to a range of a text.
fn apply_edits(text: &str, range: Range, mut edits: Vec<(Range, String)>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let mut code = String::new();
    let mut position = range.start;
    for (edit, replacement) in edits {
        // Edits inside a range that was replaced as a whole are obsolete.
        if edit.start >= position {
            code.push_str(text.get(position..edit.start).unwrap_or_default());
            code.push_str(&replacement);
            position = edit.end;
        }
    }
    code.push_str(text.get(position..range.end).unwrap_or_default());
    code
}

/// Collects the replacements in an expression.
struct CodeRewriter<'a> {
    text: &'a str,
    stored: &'a dyn NameReplacements,
    /// The names that enclosing comprehensions and lambdas bind.
    bound: Vec<String>,
    /// The replacements so far.
    edits: Vec<(Range, String)>,
}

impl CodeRewriter<'_> {
    /// Collects the replacements in an expression.
    fn expression(&mut self, expression: &Expression) {
        match &expression.kind {
            ExpressionKind::Name(name) => self.name(name, expression.range.clone()),
            ExpressionKind::FormattedText(pieces) => {
                self.formatted(pieces, expression.range.clone())
            }
            ExpressionKind::Call {
                function,
                arguments,
                keywords,
            } => match self.stored.call(expression) {
                Some(code) if self.bound.is_empty() => {
                    self.edits.push((expression.range.clone(), code))
                }
                _ => {
                    self.expression(function);
                    self.all(arguments);
                    self.keywords(keywords);
                }
            },
            ExpressionKind::Lambda { parameters, body } => self.lambda(parameters, body),
            ExpressionKind::Comprehension {
                element, clauses, ..
            } => {
                self.comprehension(clauses, |edits| edits.expression(element));
            }
            ExpressionKind::DictionaryComprehension {
                key,
                value,
                clauses,
            } => self.comprehension(clauses, |edits| {
                key.iter().for_each(|key| edits.expression(key));
                edits.expression(value);
            }),
            ExpressionKind::Named { target, value } => {
                // From here on the name belongs to this text alone.
                bound_names(target, &mut self.bound);
                self.expression(value);
            }
            _ => child_expressions(expression)
                .into_iter()
                .for_each(|child| self.expression(child)),
        }
    }

    /// Replaces a name unless it is bound here.
    fn name(&mut self, name: &str, range: Range) {
        if self.bound.iter().any(|bound| bound == name) {
            return;
        }
        if let Some(code) = self.stored.name(name) {
            self.edits.push((range, parenthesise_code(&code)));
        }
    }

    /// Passes the names of a formatted text to it from outside. Older versions of Python do not
    /// allow the same quotation marks inside it again.
    fn formatted(&mut self, pieces: &[FStringPiece], range: Range) {
        let mut names = Vec::new();
        for piece in pieces {
            if let FStringPiece::Value(value) = piece {
                collect_free_names(value, &mut self.bound.clone(), &mut names);
            }
        }
        let given: Vec<(String, String)> = (names.into_iter())
            .filter_map(|name| self.stored.name(&name).map(|code| (name, code)))
            .collect();
        if given.is_empty() {
            return;
        }
        let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<&str> = given.iter().map(|(_, code)| code.as_str()).collect();
        let source = self.text.get(range.clone()).unwrap_or_default();
        let code = format!(
            "(lambda {}: {source})({})",
            names.join(", "),
            values.join(", ")
        );
        self.edits.push((range, code));
    }

    /// Collects the replacements in a lambda, whose parameters stay.
    fn lambda(&mut self, parameters: &[Parameter], body: &Expression) {
        let defaults = parameters
            .iter()
            .filter_map(|parameter| parameter.default.as_ref());
        defaults.for_each(|default| self.expression(default));
        let depth = self.bound.len();
        self.bound
            .extend(parameters.iter().map(|parameter| parameter.name.clone()));
        self.expression(body);
        self.bound.truncate(depth);
    }

    /// Collects the replacements in a comprehension, whose targets stay.
    fn comprehension(&mut self, clauses: &[ComprehensionClause], element: impl FnOnce(&mut Self)) {
        let depth = self.bound.len();
        for clause in clauses {
            self.expression(&clause.iterable);
            bound_names(&clause.target, &mut self.bound);
            self.all(&clause.conditions);
        }
        element(self);
        self.bound.truncate(depth);
    }

    /// Collects the replacements in several expressions.
    fn all(&mut self, expressions: &[Expression]) {
        expressions
            .iter()
            .for_each(|expression| self.expression(expression));
    }

    /// Collects the replacements in keyword arguments.
    fn keywords(&mut self, keywords: &[Keyword]) {
        keywords
            .iter()
            .for_each(|keyword| self.expression(&keyword.value));
    }
}

/// Appends the names that an expression reads and does not bind itself.
pub(super) fn collect_free_names(
    expression: &Expression,
    bound: &mut Vec<String>,
    names: &mut Vec<String>,
) {
    let depth = bound.len();
    match &expression.kind {
        ExpressionKind::Name(name) if !bound.contains(name) && !names.contains(name) => {
            names.push(name.clone())
        }
        ExpressionKind::Lambda { parameters, .. } => {
            bound.extend(parameters.iter().map(|parameter| parameter.name.clone()));
        }
        ExpressionKind::Comprehension { clauses, .. }
        | ExpressionKind::DictionaryComprehension { clauses, .. } => {
            clauses
                .iter()
                .for_each(|clause| bound_names(&clause.target, bound));
        }
        _ => {}
    }
    for child in child_expressions(expression) {
        collect_free_names(child, bound, names);
    }
    bound.truncate(depth);
}

/// Appends the names that a target binds.
pub(super) fn bound_names(target: &Expression, names: &mut Vec<String>) {
    match &target.kind {
        ExpressionKind::Name(name) => names.push(name.clone()),
        ExpressionKind::Tuple(parts) | ExpressionKind::List(parts) => {
            parts.iter().for_each(|part| bound_names(part, names));
        }
        ExpressionKind::Starred(inner) => bound_names(inner, names),
        _ => {}
    }
}

/// Returns the expressions that an expression is made of, as they are written. The targets of
/// comprehensions are not among them.
pub(crate) fn child_expressions(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::FormattedText(pieces) => {
            let values = pieces.iter().filter_map(|piece| match piece {
                FStringPiece::Value(value) => Some(value),
                FStringPiece::Text(_) => None,
            });
            values.collect()
        }
        ExpressionKind::List(items)
        | ExpressionKind::Tuple(items)
        | ExpressionKind::Set(items)
        | ExpressionKind::And(items)
        | ExpressionKind::Or(items) => items.iter().collect(),
        ExpressionKind::Dictionary(entries) => entries
            .iter()
            .flat_map(|(key, value)| key.iter().chain(Some(value)))
            .collect(),
        ExpressionKind::Attribute { object, .. } => vec![object],
        ExpressionKind::Subscript { object, index } => vec![object, index],
        ExpressionKind::Slice { start, stop, step } => [start, stop, step]
            .into_iter()
            .filter_map(|part| part.as_deref())
            .collect(),
        ExpressionKind::Call {
            function,
            arguments,
            keywords,
        } => {
            let keywords = keywords.iter().map(|keyword| &keyword.value);
            std::iter::once(&**function)
                .chain(arguments)
                .chain(keywords)
                .collect()
        }
        ExpressionKind::Unary { operand, .. } => vec![operand],
        ExpressionKind::Binary { left, right, .. } => vec![left, right],
        ExpressionKind::Compare { first, rest } => std::iter::once(&**first)
            .chain(rest.iter().map(|(_, operand)| operand))
            .collect(),
        ExpressionKind::Conditional {
            condition,
            then,
            otherwise,
        } => vec![then, condition, otherwise],
        ExpressionKind::Lambda { parameters, body } => {
            let defaults = parameters
                .iter()
                .filter_map(|parameter| parameter.default.as_ref());
            defaults.chain(Some(&**body)).collect()
        }
        ExpressionKind::Comprehension {
            element, clauses, ..
        } => std::iter::once(&**element)
            .chain(clauses.iter().flat_map(clause_expressions))
            .collect(),
        ExpressionKind::DictionaryComprehension {
            key,
            value,
            clauses,
        } => {
            let entry = key.as_deref().into_iter().chain(Some(&**value));
            entry
                .chain(clauses.iter().flat_map(clause_expressions))
                .collect()
        }
        ExpressionKind::Starred(inner)
        | ExpressionKind::Await(inner)
        | ExpressionKind::YieldFrom(inner) => vec![inner],
        ExpressionKind::Yield(inner) => inner.as_deref().into_iter().collect(),
        ExpressionKind::Named { value, .. } => vec![value],
        ExpressionKind::None
        | ExpressionKind::Boolean(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::Float(_)
        | ExpressionKind::Imaginary(_)
        | ExpressionKind::Text(_)
        | ExpressionKind::Bytes(_)
        | ExpressionKind::Ellipsis
        | ExpressionKind::Name(_)
        | ExpressionKind::Other => Vec::new(),
    }
}

/// Returns the iterable and the conditions of a clause.
fn clause_expressions(clause: &ComprehensionClause) -> impl Iterator<Item = &Expression> {
    std::iter::once(&clause.iterable).chain(&clause.conditions)
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    struct TestReplacements;

    impl NameReplacements for TestReplacements {
        fn name(&self, name: &str) -> Option<String> {
            match name {
                "n" | "xs" => Some(format!("v[\"{name}\"]")),
                "size" => Some("len(v[\"xs\"])".to_owned()),
                "f" => Some("lists.f".to_owned()),
                _ => None,
            }
        }

        fn call(&self, call: &Expression) -> Option<String> {
            let heard = tree::expression("g(n)").expect("a call");
            (*call == heard).then(|| "v[\"the result\"]".to_owned())
        }
    }

    fn check(text: &str, expected: &str) {
        let expression = tree::expression(text).expect("Python");
        assert_eq!(
            rewrite_expression(&expression, text, &TestReplacements),
            expected
        );
    }

    #[test]
    fn s2_names_are_looked_up_where_they_are_stored() {
        check(
            "n not in f(n, xs)",
            "v[\"n\"] not in lists.f(v[\"n\"], v[\"xs\"])",
        );
        check(
            "len(xs) == size + 1",
            "len(v[\"xs\"]) == (len(v[\"xs\"])) + 1",
        );
        check("g( n ) + 1", "v[\"the result\"] + 1");
        check("xs[n:size]", "v[\"xs\"][v[\"n\"]:(len(v[\"xs\"]))]");
        check("f(\n  n)", "(lists.f(\n  v[\"n\"]))");
    }

    #[test]
    fn names_of_comprehensions_and_lambdas_stay() {
        check("all(n > 0 for n in xs)", "all(n > 0 for n in v[\"xs\"])");
        check(
            "sorted(xs, key=lambda n: -n + size)",
            "sorted(v[\"xs\"], key=lambda n: -n + (len(v[\"xs\"])))",
        );
        check("{k: n for k in xs}", "{k: v[\"n\"] for k in v[\"xs\"]}");
        check(
            "[n for n in xs] + [n]",
            "[n for n in v[\"xs\"]] + [v[\"n\"]]",
        );
    }

    #[test]
    fn formatted_texts_get_their_names_from_outside() {
        check(
            "f\"{n:>3}\" in xs",
            "(lambda n: f\"{n:>3}\")(v[\"n\"]) in v[\"xs\"]",
        );
        check("f\"{k}\"", "f\"{k}\"");
    }

    #[test]
    fn texts_are_quoted_for_python() {
        assert_eq!(
            python_string("a \"b\" \\ é\n\u{7f}"),
            "\"a \\\"b\\\" \\\\ é\\n\\U0000007f\""
        );
    }
}
