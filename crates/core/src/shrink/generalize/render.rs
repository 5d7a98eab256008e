//! Rendering of a generalization as text: the test with comments.

use std::fmt::Write;

use super::{Generalization, StepAlternatives};
use crate::{ActionId, Step};

/// The minimum column of the step numbers.
const COLUMNS: usize = 60;

impl Generalization {
    /// Renders the test with comments about its variations. `show` returns the text of a step.
    ///
    /// ```text
    /// #[
    /// int0 = 3                                                     # STEP 0
    /// #  or int0 = 4
    /// #   - int0 = 9
    /// counter0 = Counter()                                         # STEP 1
    /// #  swaps with step 3
    /// #] (steps in [] can be in any order)
    /// ```
    pub fn render(&self, show: &dyn Fn(Step) -> String) -> String {
        let texts: Vec<String> = self.test.steps.iter().copied().map(show).collect();
        let width = texts.iter().map(|text| text.chars().count()).max();
        let width = width.unwrap_or(0).max(COLUMNS);
        let mut out = String::new();
        for (index, text) in texts.iter().enumerate() {
            if self.blocks.iter().any(|block| block.first == index) {
                out.push_str("#[\n");
            }
            push_line(&mut out, format_args!("{text:width$} # STEP {index}"));
            self.render_variations(&mut out, index, text, show);
            if let Some(block) = self.blocks.iter().find(|block| block.last == index) {
                let probably = if block.exact { "" } else { " probably" };
                push_line(
                    &mut out,
                    format_args!("#] (steps in [] can{probably} be in any order)"),
                );
            }
        }
        if !self.complete {
            out.push_str("# (stopped early: there may be more)\n");
        }
        out
    }

    /// Renders the variations of one step.
    fn render_variations(
        &self,
        out: &mut String,
        index: usize,
        text: &str,
        show: &dyn Fn(Step) -> String,
    ) {
        let action = |action: ActionId| show(Step::Act(action));
        let variations = &self.steps[index];
        for range in &variations.replacements {
            push_line(out, format_args!("#  or {}", action(range.first)));
            if range.count > 1 {
                push_line(
                    out,
                    format_args!("#   - {}{}", action(range.last()), untried_note(range)),
                );
            }
        }
        for range in &variations.fresh {
            out.push_str("#  or (\n");
            if range.count > 1 {
                push_line(out, format_args!("#      {}", action(range.first)));
                push_line(
                    out,
                    format_args!(
                        "#       - {}{} ;",
                        action(range.last()),
                        untried_note(range)
                    ),
                );
            } else {
                push_line(out, format_args!("#      {} ;", action(range.first)));
            }
            push_line(out, format_args!("#      {text}"));
            out.push_str("#     )\n");
        }
        let is_mate = |other: &usize| {
            let mut blocks = self.blocks.iter();
            blocks.any(|block| {
                (block.first..=block.last).contains(&index)
                    && (block.first..=block.last).contains(other)
            })
        };
        let swaps: Vec<String> = variations
            .swaps
            .iter()
            .filter(|other| !is_mate(other))
            .map(usize::to_string)
            .collect();
        match swaps.as_slice() {
            [] => {}
            [one] => push_line(out, format_args!("#  swaps with step {one}")),
            several => push_line(
                out,
                format_args!("#  swaps with steps {}", several.join(" ")),
            ),
        }
        if variations.untried > 0 {
            push_line(
                out,
                format_args!("#  ({} other actions were not tried)", variations.untried),
            );
        }
    }
}

/// Returns the note for a range that was not tried completely.
fn untried_note(range: &StepAlternatives) -> String {
    if range.is_exact() {
        return String::new();
    }
    format!(" (probably: {} of {} tried)", range.tried, range.count)
}

/// Appends a line.
fn push_line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(out, "{text}");
}
