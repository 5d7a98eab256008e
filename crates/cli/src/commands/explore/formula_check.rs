//! Checks a formula about models before they are explored: its names, and its Python expressions.

use testwright_core::explore::temporal::{Atom, Formula};
use testwright_core::product::{ModelError, NameId};
use testwright_core::{Error, spelling};
use testwright_python::Models;

/// Returns the formula with each `took "Name"` completed to stand for the action with any arguments.
/// Fails if the formula names an action that does not exist, or if an expression cannot be
/// evaluated where runs begin.
pub(super) fn check(models: &mut Models<'_>, formula: Formula) -> Result<Formula, ModelError> {
    let start = models.product.initial_state(0)?;
    let names = ActionTexts::collect(models, start.as_deref());
    let mut problem = None;
    let formula = formula.map_atoms(&mut |atom| match atom {
        Atom::Took(pattern) => Atom::Took(match names.complete(&pattern) {
            Ok(pattern) => pattern,
            Err(error) => {
                problem.get_or_insert(error);
                pattern
            }
        }),
        predicate @ Atom::Predicate(_) => predicate,
    });
    if let Some(problem) = problem {
        return Err(problem.into());
    }
    let evaluator = models.state_evaluator();
    for atom in formula.atoms() {
        if let (Atom::Predicate(text), Some(start)) = (atom, &start) {
            evaluator.holds(&models.product, std::slice::from_ref(start), &text)?;
        }
    }
    Ok(formula)
}

/// The actions that a formula can name, as texts.
struct ActionTexts {
    /// The names, each with true if its arguments are the same in all states.
    names: Vec<(String, bool)>,
    /// The actions that the models try where runs begin, such as `Want(1,)`, with their names.
    tried: Vec<(String, String)>,
}

impl ActionTexts {
    /// Collects the actions of models.
    fn collect(
        models: &mut Models<'_>,
        start: Option<&[testwright_core::product::ModelState]>,
    ) -> ActionTexts {
        let product = &mut models.product;
        let mut labels = Vec::new();
        if let Some(start) = start {
            // An error of a model is told by the exploration.
            let possible = product.possible_steps(start, Default::default());
            let possible = possible.unwrap_or_default().into_iter();
            labels.extend(possible.map(|step| (step.label.name, step.label.arguments)));
            let blocked = product.explain(start).unwrap_or_default().into_iter();
            labels.extend(blocked.map(|action| (action.name, action.arguments)));
        }
        let interner = product.interner();
        let text = |name: NameId| interner.name_text(name).to_owned();
        let names = product.vocabulary().iter();
        ActionTexts {
            names: names
                .map(|name| (text(*name), product.has_fixed_arguments(*name)))
                .collect(),
            tried: labels
                .into_iter()
                .map(|(name, arguments)| {
                    let arguments = interner.value_text(arguments).plain();
                    (text(name), format!("{}{arguments}", text(name)))
                })
                .collect(),
        }
    }

    /// Returns the pattern in the form in which actions are written, or an error if it names none.
    fn complete(&self, pattern: &str) -> Result<String, Error> {
        let name = pattern.split('(').next().unwrap_or_default().trim();
        if let Some((prefix, _)) = name.split_once('*') {
            let mut names = self.names.iter();
            return if names.any(|(name, _)| name.starts_with(prefix)) {
                Ok(pattern.to_owned())
            } else {
                Err(self.unknown(pattern))
            };
        }
        let Some((_, is_fixed)) = self.names.iter().find(|(known, _)| known == name) else {
            return Err(self.unknown(pattern));
        };
        if name == pattern.trim() {
            return Ok(format!("{name}(*)"));
        }
        let pattern = as_tuple(pattern);
        let mut tried = self
            .tried
            .iter()
            .filter(|(known, _)| known == name)
            .peekable();
        if pattern.contains('*') || !is_fixed || tried.peek().is_none() {
            return Ok(pattern);
        }
        if tried.any(|(_, text)| *text == pattern) {
            return Ok(pattern);
        }
        Err(self.unknown(&pattern))
    }

    /// Returns the error for a pattern that fits no action.
    fn unknown(&self, pattern: &str) -> Error {
        let name = pattern.split('(').next().unwrap_or_default();
        let texts = self.tried.iter().filter(|(known, _)| {
            known == name || spelling::closest(name, [known.clone()]).is_some()
        });
        let mut texts: Vec<String> = texts.map(|(_, text)| text.clone()).collect();
        if pattern == name || texts.is_empty() {
            texts = self.names.iter().map(|(name, _)| name.clone()).collect();
        }
        texts.dedup();
        let advice = spelling::advice(pattern, "actions", texts);
        Error::new(format!(
            "the formula has `took \"{pattern}\"`, and no action has that text"
        ))
        .with_help(format!(
            "{advice}; `took \"Name\"` stands for the action with any arguments"
        ))
    }
}

/// Returns a pattern with the comma of a tuple with one member: `Want(1)` means `Want(1,)`.
fn as_tuple(pattern: &str) -> String {
    let pattern = pattern.trim();
    let Some((name, arguments)) = pattern.split_once('(') else {
        return pattern.to_owned();
    };
    let Some(arguments) = arguments.strip_suffix(')') else {
        return pattern.to_owned();
    };
    let (mut depth, mut quoted_by, mut has_comma) = (0, None, false);
    for letter in arguments.chars() {
        match (quoted_by, letter) {
            (Some(mark), _) if mark == letter => quoted_by = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quoted_by = Some(letter),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            (None, ',') if depth == 0 => has_comma = true,
            (None, _) => {}
        }
    }
    let is_single = !has_comma && !arguments.trim().is_empty() && arguments.trim() != "*";
    let comma = if is_single { "," } else { "" };
    format!("{name}({arguments}{comma})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_argument_needs_no_comma() {
        for (written, meant) in [
            ("Want(1)", "Want(1,)"),
            ("Want(1,)", "Want(1,)"),
            ("Want('a, b')", "Want('a, b',)"),
            ("Move((1, 2))", "Move((1, 2),)"),
            ("Move(1, 2)", "Move(1, 2)"),
            ("Done()", "Done()"),
            ("Want(*)", "Want(*)"),
            ("Want", "Want"),
        ] {
            assert_eq!(as_tuple(written), meant);
        }
    }

    #[test]
    fn names_are_checked_and_completed() {
        let texts = ActionTexts {
            names: vec![("Want".to_owned(), true), ("Done".to_owned(), true)],
            tried: vec![
                ("Want".to_owned(), "Want(1,)".to_owned()),
                ("Done".to_owned(), "Done()".to_owned()),
            ],
        };
        let complete = |pattern| texts.complete(pattern).ok();
        assert_eq!(complete("Want").as_deref(), Some("Want(*)"));
        assert_eq!(complete("Want(1)").as_deref(), Some("Want(1,)"));
        assert_eq!(complete("W*").as_deref(), Some("W*"));
        for unknown in ["Wnat", "Want()", "Want(9,)", "Dnoe()", "X*"] {
            assert_eq!(complete(unknown), None, "{unknown}");
        }
        let help = texts.unknown("Dnoe()").help.unwrap_or_default();
        assert!(help.starts_with("did you mean `Done()`?"), "{help}");
    }
}
