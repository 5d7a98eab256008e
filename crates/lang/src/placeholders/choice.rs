//! The part of the scanner that parses choices.

use std::ops::Range;
use std::rc::Rc;

use testwright_core::ChoiceValues;

use super::{PrecedingToken, Region, RegionContext, UNKNOWN_POOL_TEXT};
use crate::choices::{self, ChoiceAlternatives, ChoiceItem, ChoiceNode};
use crate::diagnostics::Diagnostic;
use crate::host;
use crate::keywords::shorten;
use crate::nodes::{LineNode, NodeKind};

impl Region<'_, '_, '_> {
    /// Adds a bare range such as `<1..10>`.
    pub(super) fn push_bare_range(&mut self, choice: Result<ChoiceValues, String>, end: usize) {
        let alternatives = self.range_alternatives(choice, self.at..end);
        self.push_choice(alternatives, false, false, end);
    }

    /// Parses a choice inside a string literal. Returns false if there is none.
    pub(super) fn scan_choice_in_string(&mut self) -> bool {
        let Some(found) = choices::ChoiceSpan::find_textual(self.text(), self.at, self.end) else {
            return false;
        };
        if found.content.is_empty() {
            return false;
        }
        self.add_choice(found, true);
        true
    }

    /// Parses `<[…]>` or `<,[…],>` outside of strings. Returns false if it is host code (`x <[1]`).
    pub(super) fn scan_choice(&mut self) -> bool {
        let may_be_host_code = self.before == PrecedingToken::Operand;
        match self.find_choice(may_be_host_code) {
            Some(found) => {
                self.add_choice(found, false);
                true
            }
            None if may_be_host_code => false,
            None => {
                self.report_unclosed_choice();
                true
            }
        }
    }

    /// Finds the extent of a choice at the cursor.
    fn find_choice(&mut self, may_be_host_code: bool) -> Option<choices::ChoiceSpan> {
        let double = usize::from(self.rest()[1..].starts_with(','));
        if self.without_closer[double] {
            return None;
        }
        let text = self.text();
        let Some(textual) = choices::ChoiceSpan::find_textual(text, self.at, self.end) else {
            self.without_closer[double] = true;
            return None;
        };
        match choices::ChoiceSpan::find_balanced(text, &self.tokens, self.at, self.end) {
            Ok(found) => Some(found),
            // `x <[1, 2] and y` is host code.
            Err(choices::UnclosedChoice::Early) if may_be_host_code => None,
            Err(_) => Some(textual),
        }
    }

    /// Reports a choice without end.
    fn report_unclosed_choice(&mut self) {
        let length = if self.rest()[1..].starts_with('[') {
            2
        } else {
            3
        };
        let range = self.at..self.at + length;
        let closer = choices::closer_of(&self.rest()[..length]);
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
        self.set_help(&help);
        self.push(
            NodeKind::HostText(UNKNOWN_POOL_TEXT.to_owned()),
            range.start,
            self.end,
        );
    }

    /// Parses the alternatives of a choice, and adds it.
    fn add_choice(&mut self, found: choices::ChoiceSpan, in_string: bool) {
        let content = &self.text()[found.content.clone()];
        let alternatives = match choices::parse_range(content) {
            Some(choice) if !found.double => self.range_alternatives(choice, self.at..found.end),
            _ => ChoiceAlternatives::Items(self.parse_items(&found, in_string)),
        };
        if !in_string {
            self.warn_doubtful(&found, &alternatives);
        }
        if !found.balanced && !in_string {
            self.adjust_depth(&alternatives);
        }
        self.push_choice(alternatives, found.double, in_string, found.end);
    }

    /// Adjusts the bracket depth for code fragments such as `<[f(,g(]>`, which open brackets that
    /// the rest of the line closes.
    fn adjust_depth(&mut self, alternatives: &ChoiceAlternatives) {
        if let ChoiceAlternatives::Items(items) = alternatives
            && let Some(first) = items.first()
        {
            let open = host::open_brackets(&self.text()[first.span.clone()]);
            self.depth = self.depth.saturating_add_signed(open);
        }
    }

    /// Converts a range to alternatives, or reports it.
    fn range_alternatives(
        &mut self,
        choice: Result<ChoiceValues, String>,
        range: Range<usize>,
    ) -> ChoiceAlternatives {
        match choice {
            Ok(choice) => ChoiceAlternatives::Range(choice),
            Err(message) => {
                let text = self.text()[range.clone()].trim_matches(['<', '>', '%', '[', ']']);
                let help = choices::range_advice(text);
                self.scanner.error("bad-range", &range, message);
                self.set_help(&help);
                ChoiceAlternatives::Items(vec![ChoiceItem {
                    span: range.clone(),
                    nodes: vec![LineNode {
                        kind: NodeKind::HostText(UNKNOWN_POOL_TEXT.to_owned()),
                        span: range,
                    }],
                }])
            }
        }
    }

    /// Warns about choices that are correct, but hardly meant.
    fn warn_doubtful(&mut self, found: &choices::ChoiceSpan, alternatives: &ChoiceAlternatives) {
        let content = &self.text()[found.content.clone()];
        let range = self.at..found.end;
        if let (1, Some((first, last))) = (found.items.len(), choices::split_difference(content)) {
            let message = format!("this choice has one alternative: `{}`", content.trim());
            let help = format!("a range is written `<[{first}..{last}]>`");
            self.warning("one-alternative", &range, message, &help);
        }
        let ChoiceAlternatives::Items(items) = alternatives else {
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

    /// Reports a warning at a range of the line.
    fn warning(&mut self, name: &'static str, range: &Range<usize>, message: String, help: &str) {
        let location = self.scanner.declaration.file_range(range);
        let problem = Diagnostic::warning(name, location, message).with_help(help);
        self.scanner.diagnostics.push(problem);
    }

    /// Parses the items of a list.
    fn parse_items(&mut self, found: &choices::ChoiceSpan, in_string: bool) -> Vec<ChoiceItem> {
        let text = self.text();
        let context = RegionContext {
            depth: self.depth,
            nesting: self.context.nesting + 1,
            in_pre: self.context.in_pre,
            in_string,
        };
        let mut items = Vec::with_capacity(found.items.len());
        for span in &found.items {
            let item = &text[span.clone()];
            match choices::parse_range(item) {
                Some(choice) if !found.double => {
                    let choice = self.range_alternatives(choice, span.clone());
                    items.extend(choices::range_items(choice, span));
                }
                _ if choices::is_plain(item) => items.push(ChoiceItem::plain(span.clone())),
                _ => items.push(ChoiceItem {
                    nodes: self.scanner.scan_region(span.clone(), context),
                    span: span.clone(),
                }),
            }
        }
        items
    }

    /// Adds a choice as a node.
    fn push_choice(
        &mut self,
        alternatives: ChoiceAlternatives,
        double: bool,
        in_string: bool,
        end: usize,
    ) {
        let choice = ChoiceNode::new(alternatives, double, in_string);
        self.push(NodeKind::Choice(Rc::new(choice)), self.at, end);
    }
}
