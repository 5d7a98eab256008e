//! What an action of a harness is called, and what it says of the value that it makes (L7).

use testwright_core::Axis;
use testwright_source::tree::{Expression, ExpressionKind, Statement, StatementKind};

use super::fragment::{Holes, told};
use super::{Author, Step, bare_frame};
use crate::explain::run::{Execution, Path};
use crate::term::Term;
use crate::words::{is_plural, one_or_some, sentence};

impl<'w> Author<'_, 'w> {
    /// "choose a key", "make a tree", "insert", "set a list", "check a list"; a title that was there already gets a number.
    pub(super) fn title(&self, step: &Step<'_>, titles: &mut Vec<String>) -> String {
        let title = self.bare_title(step);
        titles.push(title.clone());
        match titles.iter().filter(|known| **known == title).count() {
            1 => title,
            several => format!("{title} ({several})"),
        }
    }

    fn bare_title(&self, step: &Step<'_>) -> String {
        if let Some((axis, value)) = step.defines() {
            let pool = one_or_some(&self.pool_words(step, axis));
            if choice(step, value).is_some() {
                return format!("choose {pool}");
            }
            return match called(value) {
                Some((_, true)) => format!("make {pool}"),
                Some((name, false)) => self.speaker.words(&name),
                None => format!("set {pool}"),
            };
        }
        let body = step.body.code.as_deref().unwrap_or_default();
        let first = body.first().map(|one| &one.kind);
        if let Some(name) = first_call(body) {
            return self.speaker.words(&name);
        }
        let target = first.and_then(|one| match one {
            StatementKind::Assign { targets, .. } => targets.first()?.as_name(),
            StatementKind::Augmented { target, .. } => target.as_name(),
            _ => None,
        });
        let target = target.and_then(Holes::axis_of);
        let name = match target.as_ref().or(step.used().first()) {
            Some(axis) => one_or_some(&self.pool_words(step, *axis)),
            None => "something".to_owned(),
        };
        // What is only looked at or checked is not set.
        let verb = match first {
            Some(StatementKind::Expression(_)) => "look at",
            Some(StatementKind::Assert { .. }) => "check",
            _ => "set",
        };
        format!("{verb} {name}")
    }

    fn pool_words(&self, step: &Step<'_>, axis: usize) -> String {
        match step.axes.get(axis) {
            Some(Axis::Slot { pool, .. }) => match self.harness.pools.get(pool.0) {
                Some(pool) => self.speaker.words(&pool.name),
                None => "value".to_owned(),
            },
            _ => "value".to_owned(),
        }
    }

    /// "The new key is …"
    pub(super) fn new_value<'s: 'w>(
        &self,
        step: &'s Step<'_>,
        axis: usize,
        value: &'s Expression,
        path: &Path,
        execution: &Execution<'w>,
    ) -> String {
        let words = self.pool_words(step, axis);
        let is = if is_plural(&words) { "are" } else { "is" };
        if let Some(choice) = choice(step, value) {
            let (phrase, _) = told(choice, self.speaker);
            return sentence(&format!("the new {words} {is} {phrase}"));
        }
        let term = execution.term(value, path, &bare_frame(&step.body.text));
        let term: Term = execution.expanded(&term);
        let speaker = self.speaker.with_recorder(self.recorder);
        let phrase = speaker.noun(&term).text;
        // "The new stack is a new stack" says it twice.
        let made = if is_plural(&words) {
            format!("new {words} are made")
        } else {
            format!("a new {words} is made")
        };
        match phrase.strip_prefix(&format!("a new {words}")) {
            Some("") => sentence(&made),
            Some(rest) if rest.starts_with(" made from ") => {
                let rest = rest.trim_start_matches(" made");
                sentence(&format!("{made}{rest}"))
            }
            _ => sentence(&format!("the new {words} {is} {phrase}")),
        }
    }
}

/// The choice that a value is.
fn choice<'s>(step: &'s Step<'_>, value: &Expression) -> Option<&'s testwright_core::Choice> {
    let axis = Holes::axis_of(value.as_name()?)?;
    match step.axes.get(axis)? {
        Axis::Choice(choice) => Some(choice),
        _ => None,
    }
}

/// What the first statement that does something calls, be it only on some condition or several times.
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

/// What an expression calls, and whether that is a class.
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
