//! Titles for the actions of a harness, and the sentence about a new value (L7: actions are called
//! "choose a", "make a", "set a" or after their function).

use testwright_core::Axis;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::fragment::{Holes, told};
use super::{HarnessStep, HarnessWriter, bare_frame};
use crate::explain::run::{Execution, Path};
use crate::term::Term;
use crate::words::{is_plural, to_sentence, with_article_or_some};

impl<'w> HarnessWriter<'_, 'w> {
    /// Returns a title such as "choose a key", "make a tree", "insert", "set a list" or "check a
    /// list". A repeated title gets a number.
    pub(super) fn title(&self, step: &HarnessStep<'_>, titles: &mut Vec<String>) -> String {
        let title = self.bare_title(step);
        titles.push(title.clone());
        match titles.iter().filter(|known| **known == title).count() {
            1 => title,
            several => format!("{title} ({several})"),
        }
    }

    fn bare_title(&self, step: &HarnessStep<'_>) -> String {
        if let Some((axis, value)) = step.defines() {
            let pool = with_article_or_some(&self.pool_words(step, axis));
            if choice(step, value).is_some() {
                return format!("choose {pool}");
            }
            return match called(value) {
                Some((_, true)) => format!("make {pool}"),
                Some((name, false)) => self.phraser.words(&name),
                None => format!("set {pool}"),
            };
        }
        let body = step.body.code.as_deref().unwrap_or_default();
        let first = body.first().map(|one| &one.kind);
        if let Some(name) = first_call(body) {
            return self.phraser.words(&name);
        }
        let target = first.and_then(|one| match one {
            StatementKind::Assign { targets, .. } => targets.first()?.as_name(),
            StatementKind::Augmented { target, .. } => target.as_name(),
            _ => None,
        });
        let target = target.and_then(Holes::axis_of);
        let name = match target.as_ref().or(step.used().first()) {
            Some(axis) => with_article_or_some(&self.pool_words(step, *axis)),
            None => "something".to_owned(),
        };
        // An expression that only reads or checks a value does not set it.
        let verb = match first {
            Some(StatementKind::Expression(_)) => "look at",
            Some(StatementKind::Assert { .. }) => "check",
            _ => "set",
        };
        format!("{verb} {name}")
    }

    fn pool_words(&self, step: &HarnessStep<'_>, axis: usize) -> String {
        match step.axes.get(axis) {
            Some(Axis::Slot { pool, .. }) => match self.harness.pools.get(pool.0) {
                Some(pool) => self.phraser.words(&pool.name),
                None => "value".to_owned(),
            },
            _ => "value".to_owned(),
        }
    }

    /// Writes "The new key is …".
    pub(super) fn new_value<'s: 'w>(
        &self,
        step: &'s HarnessStep<'_>,
        axis: usize,
        value: &'s Expression,
        path: &Path,
        execution: &Execution<'w>,
    ) -> String {
        let words = self.pool_words(step, axis);
        let is = if is_plural(&words) { "are" } else { "is" };
        if let Some(choice) = choice(step, value) {
            let (phrase, _) = told(choice, self.phraser);
            return to_sentence(&format!("the new {words} {is} {phrase}"));
        }
        let term = execution.term(value, path, &bare_frame(&step.body.text));
        let term: Term = execution.expanded(&term);
        let phraser = self.phraser.with_recorder(self.recorder);
        let phrase = phraser.noun(&term).text;
        // "The new stack is a new stack" would be a repetition.
        let made = if is_plural(&words) {
            format!("new {words} are made")
        } else {
            format!("a new {words} is made")
        };
        match phrase.strip_prefix(&format!("a new {words}")) {
            Some("") => to_sentence(&made),
            Some(rest) if rest.starts_with(" made from ") => {
                let rest = rest.trim_start_matches(" made");
                to_sentence(&format!("{made}{rest}"))
            }
            _ => to_sentence(&format!("the new {words} {is} {phrase}")),
        }
    }
}

/// Returns the choice that a value is.
fn choice<'s>(
    step: &'s HarnessStep<'_>,
    value: &Expression,
) -> Option<&'s testwright_core::ChoiceValues> {
    let axis = Holes::axis_of(value.as_name()?)?;
    match step.axes.get(axis)? {
        Axis::Choice(choice) => Some(choice),
        _ => None,
    }
}

/// Returns the name of the first call in statements, also inside of conditions and loops.
fn first_call(body: &[Statement]) -> Option<String> {
    match &body.first()?.kind {
        StatementKind::Expression(expression) => called(expression).map(|(name, _)| name),
        StatementKind::If { body, .. }
        | StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::With { body, .. }
        | StatementKind::Try { body, .. } => first_call(body),
        _ => None,
    }
}

/// Returns the name that an expression calls, and true if that is a class.
fn called(expression: &Expression) -> Option<(String, bool)> {
    let ExpressionKind::Call { function, .. } = &expression.kind else {
        return None;
    };
    let name = match &function.kind {
        ExpressionKind::Name(name) | ExpressionKind::Attribute { name, .. } => name.clone(),
        _ => return None,
    };
    let is_class =
        name.starts_with(char::is_uppercase) && name.contains(|one: char| one.is_lowercase());
    Some((name, is_class))
}
