//! The part of the scanner that reads choices.

use std::ops::Range;
use std::rc::Rc;

use testwright_core::Choice;

use super::{Before, Region, Surroundings, UNKNOWN};
use crate::choices::{self, Alternatives, ChoiceNode, Item};
use crate::diagnostics::Diagnostic;
use crate::host;
use crate::keywords::shorten;
use crate::nodes::{Kind, Node};

impl Region<'_, '_, '_> {
    /// `<1..10>`
    pub(super) fn bare_range(&mut self, choice: Result<Choice, String>, end: usize) {
        let alternatives = self.range(choice, self.at..end);
        self.push_choice(alternatives, false, false, end);
    }

    /// A choice inside a string literal; false if there is none.
    pub(super) fn choice_in_string(&mut self) -> bool {
        let Some(found) = choices::Found::textual(self.text(), self.at, self.end) else {
            return false;
        };
        if found.content.is_empty() {
            return false;
        }
        self.found_choice(found, true);
        true
    }

    /// `<[…]>` or `<,[…],>` outside of strings; false if it is host code (`x <[1]`).
    pub(super) fn choice(&mut self) -> bool {
        let may_be_host_code = self.before == Before::Operand;
        match self.find_choice(may_be_host_code) {
            Some(found) => {
                self.found_choice(found, false);
                true
            }
            None if may_be_host_code => false,
            None => {
                self.unclosed_choice();
                true
            }
        }
    }

    fn find_choice(&mut self, may_be_host_code: bool) -> Option<choices::Found> {
        let double = usize::from(self.rest()[1..].starts_with(','));
        if self.without_closer[double] {
            return None;
        }
        let text = self.text();
        let Some(textual) = choices::Found::textual(text, self.at, self.end) else {
            self.without_closer[double] = true;
            return None;
        };
        match choices::Found::balanced(text, &self.tokens, self.at, self.end) {
            Ok(found) => Some(found),
            // `x <[1, 2] and y`
            Err(choices::Unclosed::Early) if may_be_host_code => None,
            Err(_) => Some(textual),
        }
    }

    fn unclosed_choice(&mut self) {
        let length = if self.rest()[1..].starts_with('[') {
            2
        } else {
            3
        };
        let range = self.at..self.at + length;
        let closer = choices::closer(&self.rest()[..length]);
        self.scanner
            .error("unclosed-choice", &range, "this choice is never closed");
        let close = self.rest()[length..]
            .find(']')
            .map(|at| self.at + length + at);
        let help = match close {
            Some(close) => {
                let choice = &self.text()[range.start..close];
                format!("end it with `{closer}`: `{}{closer}`", shorten(choice))
            }
            None => format!("end it with `{closer}`"),
        };
        self.advise(&help);
        self.push(Kind::Written(UNKNOWN.to_owned()), range.start, self.end);
    }

    fn found_choice(&mut self, found: choices::Found, in_string: bool) {
        let content = &self.text()[found.content.clone()];
        let alternatives = match choices::range(content) {
            Some(choice) if !found.double => self.range(choice, self.at..found.end),
            _ => Alternatives::Items(self.items(&found, in_string)),
        };
        if !in_string {
            self.doubtful(&found, &alternatives);
        }
        if !found.balanced && !in_string {
            self.unbalanced(&alternatives);
        }
        self.push_choice(alternatives, found.double, in_string, found.end);
    }

    /// Code fragments such as `<[f(,g(]>` open brackets that the rest of the line closes.
    fn unbalanced(&mut self, alternatives: &Alternatives) {
        if let Alternatives::Items(items) = alternatives
            && let Some(first) = items.first()
        {
            let open = host::open_brackets(&self.text()[first.span.clone()]);
            self.depth = self.depth.saturating_add_signed(open);
        }
    }

    fn range(&mut self, choice: Result<Choice, String>, range: Range<usize>) -> Alternatives {
        match choice {
            Ok(choice) => Alternatives::Range(choice),
            Err(message) => {
                let text = self.text()[range.clone()].trim_matches(['<', '>', '%', '[', ']']);
                let help = choices::range_advice(text);
                self.scanner.error("bad-range", &range, message);
                self.advise(&help);
                Alternatives::Items(vec![Item {
                    span: range.clone(),
                    nodes: vec![Node {
                        kind: Kind::Written(UNKNOWN.to_owned()),
                        span: range,
                    }],
                }])
            }
        }
    }

    /// Choices that are right, but hardly what was meant.
    fn doubtful(&mut self, found: &choices::Found, alternatives: &Alternatives) {
        let content = &self.text()[found.content.clone()];
        let range = self.at..found.end;
        if let (1, Some((first, last))) = (found.items.len(), choices::difference(content)) {
            let message = format!("this choice has one alternative: `{}`", content.trim());
            let help = format!("a range is written `<[{first}..{last}]>`");
            self.warning("one-alternative", &range, message, &help);
        }
        let Alternatives::Items(items) = alternatives else {
            return;
        };
        if let ([others @ .., last], false) = (items.as_slice(), found.double)
            && self.text()[last.span.clone()].trim().is_empty()
            && !others.is_empty()
            && others
                .iter()
                .all(|item| host::is_literal(&item.text(self.text())))
        {
            let comma = last.span.start - 1..last.span.start;
            let message = "the last alternative of this choice is empty".to_owned();
            self.warning(
                "empty-alternative",
                &comma,
                message,
                "remove the last comma",
            );
        }
    }

    fn warning(&mut self, name: &'static str, range: &Range<usize>, message: String, help: &str) {
        let place = self.scanner.declaration.place(range);
        let problem = Diagnostic::warning(name, place, message).with_help(help);
        self.scanner.diagnostics.push(problem);
    }

    fn items(&mut self, found: &choices::Found, in_string: bool) -> Vec<Item> {
        let text = self.text();
        let surroundings = Surroundings {
            depth: self.depth,
            nesting: self.surroundings.nesting + 1,
            in_pre: self.surroundings.in_pre,
            in_string,
        };
        let mut items = Vec::with_capacity(found.items.len());
        for span in &found.items {
            let item = &text[span.clone()];
            match choices::range(item) {
                Some(choice) if !found.double => {
                    let choice = self.range(choice, span.clone());
                    items.extend(choices::written_out(choice, span));
                }
                _ if choices::is_plain(item) => items.push(Item::plain(span.clone())),
                _ => items.push(Item {
                    nodes: self.scanner.region(span.clone(), surroundings),
                    span: span.clone(),
                }),
            }
        }
        items
    }

    fn push_choice(
        &mut self,
        alternatives: Alternatives,
        double: bool,
        in_string: bool,
        end: usize,
    ) {
        let choice = ChoiceNode::new(alternatives, double, in_string);
        self.push(Kind::Choice(Rc::new(choice)), self.at, end);
    }
}
