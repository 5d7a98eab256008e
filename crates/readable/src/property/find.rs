//! Finds the properties of a module, and their inputs.

use testwright_source::tree::{
    Class, Expression, ExpressionKind, Function, Keyword, Module, Parameter, ParameterKind,
    Statement, StatementKind,
};

use super::code::child_expressions;
use crate::term::{EmptyScope, Term};
use crate::value::PythonValue;

/// A function that says what must hold.
#[derive(Debug, Clone)]
pub struct PropertyFunction {
    /// The test class, if it is a method.
    pub class: Option<String>,
    /// The function.
    pub function: Function,
    /// The inputs, in the order of the parameters.
    pub inputs: Vec<PropertyInput>,
    /// The position of its statement, in bytes.
    pub start: usize,
    /// True if Hypothesis generates the inputs.
    pub is_given: bool,
}

/// One input of a property.
#[derive(Debug, Clone, PartialEq)]
pub struct PropertyInput {
    /// The name of the parameter.
    pub name: String,
    /// The strategy in `@given`, or else the annotation.
    pub generator: Option<Expression>,
}

impl PropertyInput {
    /// Returns values that deserve an example of their own: the bounds of a range, the members of a
    /// choice.
    #[must_use]
    pub fn landmarks(&self) -> Vec<PythonValue> {
        let Some(ExpressionKind::Call {
            function,
            arguments,
            keywords,
        }) = self.generator.as_ref().map(|generator| &generator.kind)
        else {
            return Vec::new();
        };
        let name = function
            .dotted_parts()
            .and_then(|words| words.last().copied());
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
            (Some("sampled_from"), [members]) => child_expressions(members),
            _ => Vec::new(),
        };
        let constant = |member: &Expression| {
            PythonValue::from_term(&Term::from_expression(member, "", &EmptyScope))
        };
        members.into_iter().filter_map(constant).collect()
    }
}

impl PropertyFunction {
    /// Returns `Class.method` or `function`, by which Python finds it.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.class {
            Some(class) => format!("{class}.{}", self.function.name),
            None => self.function.name.clone(),
        }
    }

    /// Returns the name without its test prefix.
    #[must_use]
    pub fn short_name(&self) -> &str {
        let name = self.function.name.as_str();
        let short = name
            .strip_prefix("test_")
            .or_else(|| name.strip_prefix("prop_"));
        short.filter(|short| !short.is_empty()).unwrap_or(name)
    }
}

/// Returns all properties of a module, in source order.
#[must_use]
pub(super) fn find_properties(module: &Module) -> Vec<PropertyFunction> {
    all_functions(module)
        .into_iter()
        .filter(is_property)
        .collect()
}

/// Returns the function of that name (`name`, `Class.method` or `Class::method`), even if it does
/// not look like a property.
#[must_use]
pub(super) fn find_property(module: &Module, name: &str) -> Option<PropertyFunction> {
    let path = name.replace("::", ".");
    // Python calls the last function of a name, for example below several `@overload` ones.
    all_functions(module)
        .into_iter()
        .rfind(|property| property.path() == path)
}

/// Returns true if a function is a property by its name and its decorators.
fn is_property(property: &PropertyFunction) -> bool {
    let name = property.function.name.as_str();
    match (property.is_given, &property.class) {
        (true, Some(_)) => true,
        (true, None) => name.starts_with("test_") || name.starts_with("prop_"),
        (false, None) => name.starts_with("prop_"),
        (false, Some(_)) => false,
    }
}

/// Returns every function of the module and every method of its classes.
fn all_functions(module: &Module) -> Vec<PropertyFunction> {
    let mut found = Vec::new();
    collect_functions(&module.body, None, &mut found);
    found
}

/// Appends the functions among statements.
fn collect_functions(body: &[Statement], class: Option<&Class>, found: &mut Vec<PropertyFunction>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(function) => {
                found.push(build_property(function, class, statement.range.start))
            }
            StatementKind::Class(inner) if class.is_none() => {
                collect_functions(&inner.body, Some(inner), found)
            }
            // Functions under a condition (`if sys.platform …`, `try: import …`) belong to the
            // module, too.
            StatementKind::If {
                body, otherwise, ..
            } => {
                collect_functions(body, class, found);
                collect_functions(otherwise, class, found);
            }
            StatementKind::Try {
                body, otherwise, ..
            } => {
                collect_functions(body, class, found);
                collect_functions(otherwise, class, found);
            }
            _ => {}
        }
    }
}

/// Reads the inputs of a function.
fn build_property(function: &Function, class: Option<&Class>, start: usize) -> PropertyFunction {
    let given = function.decorators.iter().find_map(given_arguments);
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
    PropertyFunction {
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

/// The positional and keyword arguments of `@given`.
type GivenArguments<'a> = (&'a [Expression], &'a [Keyword]);

/// Returns the arguments of `@given(…)` or `@hypothesis.given(…)`.
fn given_arguments(decorator: &Expression) -> Option<GivenArguments<'_>> {
    match &decorator.kind {
        ExpressionKind::Call {
            function,
            arguments,
            keywords,
        } if function.dotted_parts()?.last() == Some(&"given") => Some((arguments, keywords)),
        _ => None,
    }
}

/// Assigns strategies to parameters, by name or by position counted from the right, as Hypothesis
/// does. Parameters without one are fixtures of the test runner, and no inputs.
fn inputs_of_given(
    parameters: &[&Parameter],
    positions: &[Expression],
    keywords: &[Keyword],
) -> Vec<PropertyInput> {
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
            Some(PropertyInput {
                name: parameter.name.clone(),
                generator: strategy_of(index, parameter)?,
            })
        });
    inputs.collect()
}

/// Returns the parameters without a default, with their annotations.
fn inputs_of_annotations(parameters: &[&Parameter]) -> Vec<PropertyInput> {
    let without_default = parameters
        .iter()
        .filter(|parameter| parameter.default.is_none());
    let inputs = without_default.map(|parameter| PropertyInput {
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
        let inputs = |property: &PropertyFunction| {
            let inputs = property.inputs.iter().map(|input| {
                let generator = input.generator.as_ref();
                let source = generator.map_or("", |generator| &text[generator.range.clone()]);
                (input.name.clone(), source.to_owned())
            });
            inputs.collect()
        };
        let properties = find_properties(&module);
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
        let inputs = &find_properties(&module)[0].inputs;
        let notations = |input: &PropertyInput| {
            input
                .landmarks()
                .iter()
                .map(PythonValue::notation)
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
        assert!(find_properties(&module).is_empty());
        assert_eq!(
            find_property(&module, "A::m")
                .map(|found| found.path())
                .as_deref(),
            Some("A.m")
        );
        assert_eq!(
            find_property(&module, "A.m").map(|found| found.inputs.len()),
            Some(1)
        );
        assert!(find_property(&module, "f").is_some());
        assert!(find_property(&module, "g").is_none());
        let twice = tree::module("def f(n): ...\ndef f(n, m): ...\n").expect("Python");
        let inputs = find_property(&twice, "f").map(|found| found.inputs.len());
        assert_eq!(inputs, Some(2));
    }
}
