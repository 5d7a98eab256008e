//! Failing arguments as users type them and as Hypothesis prints them.

use testwright_source::tree::{self, ExpressionKind};

use crate::sample::SampleArgument;
use crate::value::PythonValue;

/// Parses arguments as typed on a command line: `n=7, xs=[7, 7]`.
///
/// # Errors
///
/// Returns a message with an example if the text is not understood.
pub fn parse_values(text: &str) -> Result<Vec<SampleArgument>, String> {
    let call = format!("given({text})");
    let (_, arguments) =
        parse_call(&call).ok_or_else(|| "write values like `n=7, xs=[7, 7]`".to_owned())?;
    if arguments.is_empty() {
        Err("write values like `n=7, xs=[7, 7]`".to_owned())
    } else {
        Ok(arguments)
    }
}

/// Finds the failing arguments in Hypothesis's output, and the function they belong to. Hypothesis
/// has used several headings for the minimal failing case, so the call below the heading is
/// searched for (trap 13).
#[must_use]
pub fn find_reported_values(text: &str, names: &[&str]) -> Option<(String, Vec<SampleArgument>)> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    names.iter().find_map(|name| {
        let opening = format!("{name}(");
        let mut found = text.match_indices(&opening);
        found.find_map(|(position, _)| {
            let before = text
                .get(..position)
                .and_then(|before| before.chars().next_back());
            if before.is_some_and(is_word) {
                return None;
            }
            let call = balanced_call(text.get(position..)?)?;
            let (name, arguments) = parse_call(&call)?;
            (!arguments.is_empty()).then_some((name, arguments))
        })
    })
}

/// Returns a call up to its closing bracket, without the margins of test runners.
fn balanced_call(text: &str) -> Option<String> {
    let text = text
        .lines()
        .map(without_margin)
        .collect::<Vec<_>>()
        .join("\n");
    let ends = text.match_indices(')').map(|(position, _)| position + 1);
    let mut calls = ends.filter_map(|end| text.get(..end));
    calls
        .find(|call| tree::expression(call).is_ok())
        .map(str::to_owned)
}

/// Removes the margin that test runners put before a line.
pub(super) fn without_margin(line: &str) -> &str {
    let line = line.trim_start();
    let margin = ["E ", "| "]
        .iter()
        .find_map(|margin| line.strip_prefix(margin));
    margin.unwrap_or(line).trim_start()
}

/// Parses a call with keyword arguments.
fn parse_call(call: &str) -> Option<(String, Vec<SampleArgument>)> {
    let expression = tree::expression(call).ok()?;
    let ExpressionKind::Call {
        function, keywords, ..
    } = &expression.kind
    else {
        return None;
    };
    let name = *function.dotted_parts()?.last()?;
    let arguments = keywords.iter().filter_map(|keyword| {
        let source = call.get(keyword.value.range.clone())?;
        let name = keyword.name.as_ref().filter(|name| *name != "self")?;
        // The value of some expressions is only known by running them; until then it is an object
        // of their class.
        let value = PythonValue::from_python(source)
            .unwrap_or_else(|| PythonValue::Object(class_name(source)));
        Some(SampleArgument {
            recipe: Some(source.to_owned()),
            ..SampleArgument::new(name, value)
        })
    });
    Some((name.to_owned(), arguments.collect()))
}

/// Returns the name of the class that an expression constructs.
fn class_name(source: &str) -> String {
    let name = source.split('(').next().unwrap_or_default();
    let name = name.rsplit('.').next().unwrap_or_default().trim();
    if name.is_empty() {
        "value".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(arguments: &[SampleArgument]) -> Vec<(&str, String)> {
        arguments
            .iter()
            .map(|argument| (argument.name.as_str(), argument.value.notation()))
            .collect()
    }

    #[test]
    fn values_can_be_typed() {
        let arguments = parse_values("n=7, xs=[7, 'a)']").expect("values");
        assert_eq!(
            sources(&arguments),
            [("n", "7".to_owned()), ("xs", "[7, \"a)\"]".to_owned())]
        );
        assert!(parse_values("n").is_err());
        assert!(parse_values("n=").is_err());
        assert!(parse_values("").is_err());
    }

    #[test]
    fn trap_13_hypothesis_is_understood_whatever_its_heading() {
        for heading in [
            "Falsifying example: ",
            "Failing test case: ",
            "E       Falsifying example: ",
        ] {
            let text = format!(
                "x\n{heading}test_delete(\nE           # or any other\n    n=7,\n    xs=[7, 7],  # why\n)\ny)\n"
            );
            let (name, arguments) = find_reported_values(&text, &["test_delete"]).expect(heading);
            assert_eq!(name, "test_delete");
            assert_eq!(
                sources(&arguments),
                [("n", "7".to_owned()), ("xs", "[7, 7]".to_owned())]
            );
        }
        assert_eq!(
            find_reported_values("def test_delete(n, xs):\n", &["test_delete"]),
            None
        );
    }

    #[test]
    fn values_that_only_code_can_make_keep_their_recipe() {
        let arguments = parse_values("user=users.find('x')").expect("values");
        assert_eq!(arguments[0].recipe.as_deref(), Some("users.find('x')"));
        assert_eq!(arguments[0].value, PythonValue::Object("find".to_owned()));
    }
}
