//! Renders problems in texts in the style of rustc: the message, the position, a label there, and
//! help.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer as Draw, Snippet};
use testwright_core::Error;
use testwright_lang::{Diagnostic, Severity};

use crate::files::TextFile;
use crate::quantity;

/// Renders diagnostics and errors.
pub(crate) struct Renderer {
    /// The library's renderer.
    draw: Draw,
    /// The columns of the terminal.
    width: usize,
}

impl Renderer {
    /// Creates a renderer for a terminal of this width.
    pub(crate) fn new(width: usize, colour: bool) -> Renderer {
        let draw = if colour {
            Draw::styled()
        } else {
            Draw::plain()
        };
        Renderer {
            draw: draw.term_width(width),
            width,
        }
    }

    /// Renders a problem at its position in a file.
    pub(crate) fn diagnostic(&self, file: &TextFile, problem: &Diagnostic) -> String {
        let level = match problem.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let position = self.clip_range(&file.text, clamp_range(&file.text, &problem.range));
        let related = problem.related.as_ref().map(|(range, label)| {
            (
                self.clip_range(&file.text, clamp_range(&file.text, range)),
                label,
            )
        });
        let excerpt = Excerpt::new(
            &file.text,
            related.iter().map(|(range, _)| range).chain([&position]),
        );
        let mut snippet = Snippet::source(excerpt.text)
            .line_start(excerpt.first_line)
            .path(file.name.as_str())
            .annotation(
                AnnotationKind::Primary
                    .span(excerpt.relative_range(&position))
                    .label(non_empty(&problem.label)),
            );
        if let Some((range, label)) = &related {
            snippet = snippet.annotation(
                AnnotationKind::Context
                    .span(excerpt.relative_range(range))
                    .label(non_empty(label)),
            );
        }
        let group = level
            .primary_title(problem.message.as_str())
            .id(problem.name)
            .element(snippet);
        self.draw(with_help(group, problem.help.as_deref()))
    }

    /// Shortens a range to fit on the screen, because the library cuts a line only outside of the
    /// marked part.
    fn clip_range(&self, text: &str, position: Range<usize>) -> Range<usize> {
        let longest = (self.width * 2 / 3).max(20);
        let marked = &text[position.clone()];
        if marked.contains('\n') || marked.chars().count() <= longest {
            return position;
        }
        let length = marked
            .char_indices()
            .nth(longest)
            .map_or(marked.len(), |(at, _)| at);
        position.start..position.start + length
    }

    /// Renders an error that has no position in a text.
    pub(crate) fn error(&self, error: &Error) -> String {
        let group = Group::with_title(Level::ERROR.primary_title(error.message.as_str()));
        self.draw(with_help(group, error.help.as_deref()))
    }

    /// Renders a warning that has no position in a text.
    pub(crate) fn warning(&self, message: &str, help: Option<&str>) -> String {
        let group = Group::with_title(Level::WARNING.primary_title(message));
        self.draw(with_help(group, help))
    }

    /// Renders one group of messages.
    fn draw(&self, group: Group<'_>) -> String {
        self.draw.render(&[group])
    }
}

/// Adds help to a message, if there is any.
fn with_help<'a>(group: Group<'a>, help: Option<&'a str>) -> Group<'a> {
    match help {
        Some(help) => group.element(Level::HELP.message(help)),
        None => group,
    }
}

/// Returns the label, or `None` if it is empty.
fn non_empty(label: &str) -> Option<&str> {
    (!label.is_empty()).then_some(label)
}

/// Renders the numbers of problems: `2 errors, 1 warning`.
pub(crate) fn count_text(problems: &[Diagnostic]) -> String {
    let count = |severity| {
        problems
            .iter()
            .filter(|problem| problem.severity == severity)
            .count() as u64
    };
    let counts = [
        (count(Severity::Error), "error"),
        (count(Severity::Warning), "warning"),
    ];
    let words: Vec<String> = counts
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, noun)| quantity::format_count(number, noun))
        .collect();
    words.join(", ")
}

/// The lines of a problem, cut out of their file because the library would scan the whole file each
/// time.
struct Excerpt<'a> {
    text: &'a str,
    /// The position of the excerpt in the file.
    start: usize,
    /// The number of its first line.
    first_line: usize,
}

impl<'a> Excerpt<'a> {
    /// Cuts out the lines that these ranges touch.
    fn new<'r>(
        text: &'a str,
        ranges: impl Iterator<Item = &'r Range<usize>> + Clone,
    ) -> Excerpt<'a> {
        let first = ranges.clone().map(|range| range.start).min().unwrap_or(0);
        let last = ranges.map(|range| range.end).max().unwrap_or(0);
        let start = text[..first].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[last..]
            .find('\n')
            .map_or(text.len(), |newline| last + newline);
        let end = end - usize::from(end > last && text[..end].ends_with('\r'));
        Excerpt {
            text: &text[start..end],
            start,
            first_line: text[..start].matches('\n').count() + 1,
        }
    }

    /// Returns the position of a range in the excerpt.
    fn relative_range(&self, range: &Range<usize>) -> Range<usize> {
        range.start - self.start..range.end - self.start
    }
}

/// Moves a range into the text and onto whole characters: a wrong position must not hide the
/// message.
fn clamp_range(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start.min(text.len()));
    let end = text.ceil_char_boundary(range.end.clamp(start, text.len()));
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::path::PathBuf;

    /// Renders an error at the first occurrence of `marked` in the text.
    fn check(text: &str, marked: &str, expected: Expect) {
        let start = text.find(marked).expect("the text to mark is there");
        check_range(text, start..start + marked.len(), expected);
    }

    fn check_range(text: &str, range: Range<usize>, expected: Expect) {
        expected.assert_eq(&draw(text, &problem(range)));
    }

    fn problem(range: Range<usize>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            name: "unknown-pool",
            message: "no pool named `<avl>`".to_owned(),
            range,
            label: "not declared in this harness".to_owned(),
            related: None,
            help: Some("did you mean `<AVL>`?".to_owned()),
        }
    }

    fn draw(text: &str, problem: &Diagnostic) -> String {
        let path = PathBuf::from("avl.tstl");
        let file = TextFile {
            name: path.display().to_string(),
            path,
            text: text.to_owned(),
        };
        Renderer::new(100, false).diagnostic(&file, problem) + "\n"
    }

    #[test]
    fn a_place_a_label_and_help() {
        check(
            "pool: <AVL> 2\n\n<avl>.insert(1)\n",
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:3:1
              |
            3 | <avl>.insert(1)
              | ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn a_warning_with_a_second_place_far_away() {
        let text = "pool: <AVL> 2\n1\n2\n3\n4\n5\n6\npool: <AVL> 3\n";
        let problem = Diagnostic {
            severity: Severity::Warning,
            related: Some((6..11, "first declared here".to_owned())),
            help: None,
            ..problem(text.len() - 8..text.len() - 3)
        };
        expect![[r#"
            warning[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:8:7
              |
            1 | pool: <AVL> 2
              |       ----- first declared here
            ...
            8 | pool: <AVL> 3
              |       ^^^^^ not declared in this harness
        "#]]
        .assert_eq(&draw(text, &problem));
    }

    #[test]
    fn tabs() {
        check(
            "\tx\t<avl>\t.y\n",
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:1:4
              |
            1 |     x    <avl>    .y
              |          ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn wide_and_combining_characters() {
        check(
            "名前 e\u{301} 🦀 <avl>\n",
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:1:9
              |
            1 | 名前 é 🦀 <avl>
              |           ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn the_last_line_without_newline() {
        check(
            "pool: <AVL> 2\n<avl>",
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:2:1
              |
            2 | <avl>
              | ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn the_end_of_a_file() {
        let text = "pool: <AVL> 2\n";
        check_range(
            text,
            text.len()..text.len(),
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:2:1
              |
            2 |
              | ^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn windows_line_ends() {
        check(
            "pool: <AVL> 2\r\n<avl>.x()\r\n",
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:2:1
              |
            2 | <avl>.x()
              | ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn several_lines() {
        check(
            "a(<avl>,\n  1,\n  2\nb()\n",
            "<avl>,\n  1,\n  2",
            expect![[r#"
                error[unknown-pool]: no pool named `<avl>`
                 --> avl.tstl:1:3
                  |
                1 |   a(<avl>,
                  |  ___^
                2 | |   1,
                3 | |   2
                  | |___^ not declared in this harness
                  |
                  = help: did you mean `<AVL>`?
            "#]],
        );
    }

    #[test]
    fn a_very_long_line() {
        let text = format!("{}<avl>{}\n", "x + ".repeat(80), " + y".repeat(80));
        check(
            &text,
            "<avl>",
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:1:321
              |
            1 | ...x + x + x + x + x + x + x + <avl> + y + y + y + y + y + y + y + y + y + y + y + y + y + y ...
              |                                ^^^^^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn an_empty_file() {
        check_range(
            "",
            0..0,
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:1:1
              |
            1 |
              | ^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn a_place_outside_the_text_or_inside_a_character_does_no_harm() {
        check_range(
            "é",
            1..99,
            expect![[r#"
            error[unknown-pool]: no pool named `<avl>`
             --> avl.tstl:1:1
              |
            1 | é
              | ^ not declared in this harness
              |
              = help: did you mean `<AVL>`?
        "#]],
        );
    }

    #[test]
    fn an_error_without_a_place() {
        let error = Error::new("there is no file `a.tstl`").with_help("did you mean `b.tstl`?");
        expect![[r#"
            error: there is no file `a.tstl`
             |
             = help: did you mean `b.tstl`?
        "#]]
        .assert_eq(&(Renderer::new(100, false).error(&error) + "\n"));
    }

    #[test]
    fn counts() {
        let warning = Diagnostic {
            severity: Severity::Warning,
            ..problem(0..0)
        };
        assert_eq!(
            count_text(&[problem(0..0), warning.clone(), problem(0..0)]),
            "2 errors, 1 warning"
        );
        assert_eq!(count_text(&[warning]), "1 warning");
    }
}
