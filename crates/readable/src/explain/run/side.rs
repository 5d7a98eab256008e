//! Executes `a if c else b` with an effect on one side, as in `stack.pop() if stack else None`,
//! like an `if` statement (Y5). So the side that is not taken is not described.

use testwright_source::Range;
use testwright_source::tree::{Expression, ExpressionKind};

use super::{Ended, Execution, Frame, Path};
use crate::explain::flow::{End, Event, ExecutionFlow};
use crate::property::child_expressions;

impl<'w> Execution<'w> {
    /// Executes each side of a conditional expression, if one has an effect. Returns false if none
    /// has.
    pub(super) fn each_side(
        &self,
        value: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
        act: &dyn Fn(&Expression, &mut Path, &mut Vec<Event>),
    ) -> bool {
        let Some((condition, sides)) = self.sides(value, path, frame) else {
            return false;
        };
        let condition = self.term(condition, path, frame);
        let go = |side: &Expression, path: &mut Path, events: &mut Vec<Event>| {
            self.take_out_of(side, true, range, path, frame, events);
            act(side, path, events);
        };
        match self.decide(&condition, path) {
            Some(true) => go(sides[0], path, events),
            Some(false) => go(sides[1], path, events),
            None => {
                let [then, otherwise] =
                    [(sides[0], true), (sides[1], false)].map(|(side, holds)| {
                        let mut path = self.with_fact(path, &condition, holds);
                        let mut events = Vec::new();
                        go(side, &mut path, &mut events);
                        let end = End::Open;
                        Ended {
                            flow: ExecutionFlow { events, end },
                            path,
                        }
                    });
                self.join(&condition, then, otherwise, range, path, events);
            }
        }
        true
    }

    /// Executes `return a if c else b`, if one side has an effect: the path splits.
    pub(super) fn returned_side(
        &self,
        value: &Expression,
        range: &Range,
        path: &mut Path,
        frame: &Frame<'w>,
        events: &mut Vec<Event>,
    ) -> Option<End> {
        let (condition, sides) = self.sides(value, path, frame)?;
        let condition = self.term(condition, path, frame);
        match self.decide(&condition, path) {
            Some(true) => return Some(self.returned(Some(sides[0]), range, path, frame, events)),
            Some(false) => return Some(self.returned(Some(sides[1]), range, path, frame, events)),
            None if self.is_full(frame) => {
                self.limit_reached.set(true);
                return Some(End::Unexplored);
            }
            None => {}
        }
        let [then, otherwise] = [(sides[0], true), (sides[1], false)].map(|(side, holds)| {
            let mut path = self.with_fact(path, &condition, holds);
            let mut events = Vec::new();
            self.take_out_of(side, true, range, &mut path, frame, &mut events);
            let end = self.returned(Some(side), range, &mut path, frame, &mut events);
            Box::new(self.finish(events, end, path, frame).flow)
        });
        Some(End::Split {
            condition,
            then,
            otherwise,
            range: range.clone(),
        })
    }

    /// Returns the condition and the sides of a conditional expression with an effect on one side.
    fn sides<'e>(
        &self,
        value: &'e Expression,
        path: &Path,
        frame: &Frame<'w>,
    ) -> Option<(&'e Expression, [&'e Expression; 2])> {
        let ExpressionKind::Conditional {
            condition,
            then,
            otherwise,
        } = &value.kind
        else {
            return None;
        };
        let acts = |side: &Expression| self.acts(side, path, frame);
        (acts(then) || acts(otherwise)).then_some((&**condition, [&**then, &**otherwise]))
    }

    /// Returns true if an expression changes something known.
    fn acts(&self, expression: &Expression, path: &Path, frame: &Frame<'w>) -> bool {
        let takes = super::taken::taken_from(expression)
            .is_some_and(|object| self.term(object, path, frame).type_of().is_built_in());
        takes
            || self.helper_with_events(expression, path, frame).is_some()
            || child_expressions(expression)
                .into_iter()
                .any(|child| self.acts(child, path, frame))
    }
}
