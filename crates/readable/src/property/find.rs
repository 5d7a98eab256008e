//! Which functions of a module are properties (4.1), and what they must hold for.

use testwright_source::tree::{
    Class, Expression, ExpressionKind, Function, Keyword, Module, Parameter, ParameterKind,
    Statement, StatementKind,
};

use super::code::children;
use crate::term::{Term, Unscoped};
use crate::value::Value;

/// A function that says what must hold.
#[derive(Debug, Clone)]
pub struct Property {
    /// The test class that it is a method of.
    pub class: Option<String>,
    /// The function itself.
    pub function: Function,
    /// What it must hold for, in the order of its parameters.
    pub inputs: Vec<Input>,
    /// Where its statement begins, in bytes.
    pub start: usize,
    /// Whether Hypothesis makes its inputs.
    pub is_given: bool,
}

/// One thing that a property must hold for.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// The name of the parameter.
    pub name: String,
    /// What says which values it takes: a strategy of `@given`, or else its annotation.
    pub generator: Option<Expression>,
}

impl Input {
    /// Values that deserve an example of their own: the bounds of a range, the members of a choice.
    #[must_use]
    pub fn landmarks(&self) -> Vec<Value> {
        let Some(ExpressionKind::Call {
            function,
            arguments,
            keywords,
        }) = self.generator.as_ref().map(|generator| &generator.kind)
        else {
            return Vec::new();
        };
        let name = function.dotted().and_then(|words| words.last().copied());
        let members = match (name, arguments.as_slice()) {
            (Some("integers" | "floats"), bounds) => {
                let named = keywords.iter().filter(|keyword| {
                    matches!(keyword.name.as_deref(), Some("min_value" | "max_value"))
                });
                bounds
                    .iter()
                    .chain(named.map(|keyword| &keyword.value))
                    .collect()
            }
            (Some("sampled_from"), [members]) => children(members),
            _ => Vec::new(),
        };
        let constant = |member: &Expression| Value::of_term(&Term::read(member, "", &Unscoped));
        members.into_iter().filter_map(constant).collect()
    }
}

impl Property {
    /// `Class.method` or `function`: how Python finds it.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.class {
            Some(class) => format!("{class}.{}", self.function.name),
            None => self.function.name.clone(),
        }
    }

    /// The name without the prefix that makes it a test.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let name = self.function.name.as_str();
        let short = name
            .strip_prefix("test_")
            .or_else(|| name.strip_prefix("prop_"));
        short.filter(|short| !short.is_empty()).unwrap_or(name)
    }
}

/// All properties of a module, in the order in which they are written.
#[must_use]
pub(super) fn all(module: &Module) -> Vec<Property> {
    each(module).into_iter().filter(is_property).collect()
}

/// The function of that name (`name`, `Class.method` or `Class::method`), whether or not it looks like a property.
#[must_use]
pub(super) fn named(module: &Module, name: &str) -> Option<Property> {
    let path = name.replace("::", ".");
    // The last of that name is what Python calls, as where `@overload` stands above the others.
    each(module)
        .into_iter()
        .rfind(|property| property.path() == path)
}

fn is_property(property: &Property) -> bool {
    let name = property.function.name.as_str();
    match (property.is_given, &property.class) {
        (true, Some(_)) => true,
        (true, None) => name.starts_with("test_") || name.starts_with("prop_"),
        (false, None) => name.starts_with("prop_"),
        (false, Some(_)) => false,
    }
}

/// Every function of the module and every method of its classes.
fn each(module: &Module) -> Vec<Property> {
    let mut found = Vec::new();
    functions(&module.body, None, &mut found);
    found
}

fn functions(body: &[Statement], class: Option<&Class>, found: &mut Vec<Property>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(function) => {
                found.push(property(function, class, statement.range.start))
            }
            StatementKind::Class(inner) if class.is_none() => {
                functions(&inner.body, Some(inner), found)
            }
            // What is defined under a condition (`if sys.platform …`, `try: import …`) is defined in the module, too.
            StatementKind::If {
                body, otherwise, ..
            } => {
                functions(body, class, found);
                functions(otherwise, class, found);
            }
            StatementKind::Try {
                body, otherwise, ..
            } => {
                functions(body, class, found);
                functions(otherwise, class, found);
            }
            _ => {}
        }
    }
}

fn property(function: &Function, class: Option<&Class>, start: usize) -> Property {
    let given = function.decorators.iter().find_map(given);
    let is_static =
        (function.decorators.iter()).any(|decorator| decorator.as_name() == Some("staticmethod"));
    let skipped = usize::from(class.is_some() && !is_static);
    let parameters: Vec<&Parameter> = (function.parameters.iter().skip(skipped))
        .filter(|parameter| {
            !matches!(
                parameter.kind,
                ParameterKind::Variadic | ParameterKind::KeywordVariadic
            )
        })
        .collect();
    Property {
        class: class.map(|class| class.name.clone()),
        function: function.clone(),
        inputs: match &given {
            Some((positions, keywords)) => inputs_of_given(&parameters, positions, keywords),
            None => inputs_of_annotations(&parameters),
        },
        start,
        is_given: given.is_some(),
    }
}

type Arguments<'a> = (&'a [Expression], &'a [Keyword]);

/// The arguments of `@given(…)` or `@hypothesis.given(…)`.
fn given(decorator: &Expression) -> Option<Arguments<'_>> {
    match &decorator.kind {
        ExpressionKind::Call {
            function,
            arguments,
            keywords,
        } if function.dotted()?.last() == Some(&"given") => Some((arguments, keywords)),
        _ => None,
    }
}

/// Strategies by name, or by position counted from the right, as Hypothesis does. Parameters without one are fixtures of
/// the test runner and no part of what must hold.
fn inputs_of_given(
    parameters: &[&Parameter],
    positions: &[Expression],
    keywords: &[Keyword],
) -> Vec<Input> {
    let infers_all = matches!(positions, [only] if only.kind == ExpressionKind::Ellipsis);
    let first = parameters.len().saturating_sub(positions.len());
    let strategy_of = |index: usize, parameter: &Parameter| {
        let by_name = keywords
            .iter()
            .find(|keyword| keyword.name.as_deref() == Some(&parameter.name));
        let by_position = || {
            index
                .checked_sub(first)
                .and_then(|position| positions.get(position))
        };
        let strategy = match by_name {
            Some(keyword) => &keyword.value,
            None if infers_all => return Some(parameter.annotation.clone()),
            None => by_position()?,
        };
        match strategy.kind {
            ExpressionKind::Ellipsis => Some(parameter.annotation.clone()),
            _ => Some(Some(strategy.clone())),
        }
    };
    let inputs = parameters
        .iter()
        .enumerate()
        .filter_map(|(index, parameter)| {
            Some(Input {
                name: parameter.name.clone(),
                generator: strategy_of(index, parameter)?,
            })
        });
    inputs.collect()
}

fn inputs_of_annotations(parameters: &[&Parameter]) -> Vec<Input> {
    let without_default = parameters
        .iter()
        .filter(|parameter| parameter.default.is_none());
    let inputs = without_default.map(|parameter| Input {
        name: parameter.name.clone(),
        generator: parameter.annotation.clone(),
    });
    inputs.collect()
}

#[cfg(test)]
mod tests {
    use testwright_source::tree;

    use super::*;

    fn found(text: &str) -> Vec<(String, Vec<(String, String)>)> {
        let module = tree::module(text).expect("Python");
        let inputs = |property: &Property| {
            let inputs = property.inputs.iter().map(|input| {
                let generator = input.generator.as_ref();
                let source = generator.map_or("", |generator| &text[generator.range.clone()]);
                (input.name.clone(), source.to_owned())
            });
            inputs.collect()
        };
        let properties = all(&module);
        properties
            .iter()
            .map(|property| (property.path(), inputs(property)))
            .collect()
    }

    fn check(text: &str, expected: &[(&str, &[(&str, &str)])]) {
        let found = found(text);
        let found: Vec<(&str, Vec<(&str, &str)>)> = (found.iter())
            .map(|(path, inputs)| {
                let inputs = inputs
                    .iter()
                    .map(|(name, source)| (name.as_str(), source.as_str()));
                (path.as_str(), inputs.collect())
            })
            .collect();
        let expected: Vec<(&str, Vec<(&str, &str)>)> = expected
            .iter()
            .map(|(path, inputs)| (*path, inputs.to_vec()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn functions_with_given_and_functions_called_prop() {
        check(
            "@given(n=st.integers())\ndef test_a(n): ...\n@hypothesis.given(st.text())\n@settings(max_examples=5)\n\
             def prop_b(s): ...\ndef prop_c(x: int, y, z=3): ...\ndef test_d(n): ...\n@given(st.text())\ndef other(s): ...\n",
            &[
                ("test_a", &[("n", "st.integers()")]),
                ("prop_b", &[("s", "st.text()")]),
                ("prop_c", &[("x", "int"), ("y", "")]),
            ],
        );
    }

    #[test]
    fn methods_need_given_and_lose_self() {
        check(
            "class TestStack:\n  @given(st.lists(st.text()), st.text())\n  def test_push(self, xs, x): ...\n  \
             def prop_no(self, a): ...\n",
            &[(
                "TestStack.test_push",
                &[("xs", "st.lists(st.text())"), ("x", "st.text()")],
            )],
        );
    }

    #[test]
    fn positions_count_from_the_right_and_fixtures_are_no_inputs() {
        check(
            "@given(st.integers())\ndef test_a(tmp_path, n): ...\n@given(...)\ndef test_b(n: int, s: str): ...\n\
             @given(n=...)\ndef test_c(tmp, n: int): ...\n",
            &[
                ("test_a", &[("n", "st.integers()")]),
                ("test_b", &[("n", "int"), ("s", "str")]),
                ("test_c", &[("n", "int")]),
            ],
        );
    }

    #[test]
    fn bounds_and_members_are_landmarks() {
        let text = "@given(st.integers(-1, max_value=9), st.sampled_from(['a', None]), st.text())\ndef test_a(n, m, s): ...\n";
        let module = tree::module(text).expect("Python");
        let inputs = &all(&module)[0].inputs;
        let notations = |input: &Input| {
            input
                .landmarks()
                .iter()
                .map(Value::notation)
                .collect::<Vec<_>>()
        };
        assert_eq!(notations(&inputs[0]), ["-1", "9"]);
        assert_eq!(notations(&inputs[1]), ["\"a\"", "nothing"]);
        assert!(inputs[2].landmarks().is_empty());
    }

    #[test]
    fn any_function_on_request() {
        let module =
            tree::module("class A:\n  def m(self, n): ...\ndef f(): ...\n").expect("Python");
        assert!(all(&module).is_empty());
        assert_eq!(
            named(&module, "A::m").map(|found| found.path()).as_deref(),
            Some("A.m")
        );
        assert_eq!(
            named(&module, "A.m").map(|found| found.inputs.len()),
            Some(1)
        );
        assert!(named(&module, "f").is_some());
        assert!(named(&module, "g").is_none());
        let twice = tree::module("def f(n): ...\ndef f(n, m): ...\n").expect("Python");
        let inputs = named(&twice, "f").map(|found| found.inputs.len());
        assert_eq!(inputs, Some(2));
    }
}
