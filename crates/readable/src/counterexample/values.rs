//! Failing arguments, as people and Hypothesis write them (5.1).

use testwright_source::tree::{self, ExpressionKind};

use crate::sample::Argument;
use crate::value::Value;

/// `n=7, xs=[7, 7]`, as typed on a command line.
///
/// # Errors
/// What cannot be understood.
pub fn given(text: &str) -> Result<Vec<Argument>, String> {
    let call = format!("given({text})");
    let (_, arguments) =
        call_in(&call).ok_or_else(|| "write values like `n=7, xs=[7, 7]`".to_owned())?;
    if arguments.is_empty() {
        Err("write values like `n=7, xs=[7, 7]`".to_owned())
    } else {
        Ok(arguments)
    }
}

/// The failing arguments in what Hypothesis printed, and the function they are for. It has used several headings for the
/// minimal failing case, so the call below the heading is looked for and not the heading.
#[must_use]
pub fn reported(text: &str, names: &[&str]) -> Option<(String, Vec<Argument>)> {
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
            let call = balanced(text.get(position..)?)?;
            let (name, arguments) = call_in(&call)?;
            (!arguments.is_empty()).then_some((name, arguments))
        })
    })
}

/// A call up to the bracket that closes it, without the margins that test runners put before lines.
fn balanced(text: &str) -> Option<String> {
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

/// A line without what test runners put before it.
pub(super) fn without_margin(line: &str) -> &str {
    let line = line.trim_start();
    let margin = ["E ", "| "]
        .iter()
        .find_map(|margin| line.strip_prefix(margin));
    margin.unwrap_or(line).trim_start()
}

fn call_in(call: &str) -> Option<(String, Vec<Argument>)> {
    let expression = tree::expression(call).ok()?;
    let ExpressionKind::Call {
        function, keywords, ..
    } = &expression.kind
    else {
        return None;
    };
    let name = *function.dotted()?.last()?;
    let arguments = keywords.iter().filter_map(|keyword| {
        let source = call.get(keyword.value.range.clone())?;
        let name = keyword.name.as_ref().filter(|name| *name != "self")?;
        // Only running can tell what some expressions make; until then that is a thing of their class.
        let value = Value::of_python(source).unwrap_or_else(|| Value::Object(class_of(source)));
        Some(Argument {
            recipe: Some(source.to_owned()),
            ..Argument::new(name, value)
        })
    });
    Some((name.to_owned(), arguments.collect()))
}

fn class_of(source: &str) -> String {
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

    fn sources(arguments: &[Argument]) -> Vec<(&str, String)> {
        arguments
            .iter()
            .map(|argument| (argument.name.as_str(), argument.value.notation()))
            .collect()
    }

    #[test]
    fn values_can_be_typed() {
        let arguments = given("n=7, xs=[7, 'a)']").expect("values");
        assert_eq!(
            sources(&arguments),
            [("n", "7".to_owned()), ("xs", "[7, \"a)\"]".to_owned())]
        );
        assert!(given("n").is_err());
        assert!(given("n=").is_err());
        assert!(given("").is_err());
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
            let (name, arguments) = reported(&text, &["test_delete"]).expect(heading);
            assert_eq!(name, "test_delete");
            assert_eq!(
                sources(&arguments),
                [("n", "7".to_owned()), ("xs", "[7, 7]".to_owned())]
            );
        }
        assert_eq!(
            reported("def test_delete(n, xs):\n", &["test_delete"]),
            None
        );
    }

    #[test]
    fn what_only_running_can_make_keeps_its_recipe() {
        let arguments = given("user=users.find('x')").expect("values");
        assert_eq!(arguments[0].recipe.as_deref(), Some("users.find('x')"));
        assert_eq!(arguments[0].value, Value::Object("find".to_owned()));
    }
}
