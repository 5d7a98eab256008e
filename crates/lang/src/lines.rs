//! Joins physical lines to logical lines, and keeps track of their positions in the file.
//!
//! A backslash at the end of a line joins it with the next one. All later stages work on the joined
//! text and use ranges in it; [`LogicalLine::file_range`] converts such a range to one of the file.
//! Raw host code is separated here too, because nothing else has a meaning in a raw block.

use std::borrow::Cow;
use std::ops::Range;

use crate::diagnostics::Diagnostic;
use crate::host;

/// Lines of a file, by language.
#[derive(Debug, Default)]
pub(crate) struct HarnessLines {
    /// Lines of the harness language, without comments and blank lines.
    pub(crate) harness: Vec<LogicalLine>,
    /// Lines of host code.
    pub(crate) raw: Vec<RawLine>,
}

/// One line of the harness language, with continuation lines joined.
#[derive(Debug)]
pub(crate) struct LogicalLine {
    /// Number of its first physical line, from 1.
    pub(crate) number: usize,
    /// Text, without line end and without the backslashes that joined it.
    pub(crate) text: String,
    /// Origin of each piece of the text: its start in the text, its start in the file.
    origins: Vec<(usize, usize)>,
}

impl LogicalLine {
    /// Converts a range of the text to a range of the file.
    pub(crate) fn file_range(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.offset(range.start);
        if range.end <= range.start {
            return start..start;
        }
        start..(self.offset(range.end - 1) + 1).max(start)
    }

    /// Converts an offset in the text to one in the file.
    fn offset(&self, at: usize) -> usize {
        let index = self.origins.partition_point(|(start, _)| *start <= at);
        match self.origins.get(index.wrapping_sub(1)) {
            Some((start, file)) => file + (at - start),
            None => at,
        }
    }

    /// Appends text that stands in the file at `file`, without carriage returns.
    fn push(&mut self, text: &str, file: usize) {
        let mut file = file;
        for part in text.split_inclusive('\r') {
            let kept = part.trim_end_matches('\r');
            self.origins.push((self.text.len(), file));
            self.text.push_str(kept);
            file += part.len();
        }
    }
}

/// One physical line of host code.
#[derive(Debug)]
pub(crate) struct RawLine {
    /// Line number, from 1.
    pub(crate) number: usize,
    /// Code as written, without a leading `@` and without line end.
    pub(crate) text: String,
    /// Start of the code in the file.
    pub(crate) start: usize,
}

/// A line of the file, without its line end.
#[derive(Clone, Copy, Debug)]
struct PhysicalLine<'a> {
    /// Line number, from 1.
    number: usize,
    /// Start in the file.
    start: usize,
    text: &'a str,
}

impl PhysicalLine<'_> {
    /// Returns the range of the text without blanks around it.
    fn trimmed(&self) -> Range<usize> {
        let start = self.start + self.text.len() - self.text.trim_start().len();
        start..start + self.text.trim().len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

/// Replaces NUL characters by blanks, and reports them: they have no meaning anywhere.
pub(crate) fn without_nul<'a>(file: &'a str, diagnostics: &mut Vec<Diagnostic>) -> Cow<'a, str> {
    let Some(at) = file.find('\0') else {
        return Cow::Borrowed(file);
    };
    let problem = Diagnostic::error(
        "nul-character",
        at..at + 1,
        "the file contains a NUL character",
    )
    .with_label("not text")
    .with_help("save the harness as UTF-8 text");
    diagnostics.push(problem);
    Cow::Owned(file.replace('\0', " "))
}

/// Splits a file into lines by language.
pub(crate) fn read(file: &str, diagnostics: &mut Vec<Diagnostic>) -> HarnessLines {
    let mut reader = LineReader {
        physical: physical_lines(file),
        at: 0,
        lines: HarnessLines::default(),
        diagnostics,
    };
    while let Some(line) = reader.next() {
        reader.read_line(line);
    }
    reader.lines
}

/// Splits a file into physical lines, without a byte order mark.
fn physical_lines(file: &str) -> Vec<PhysicalLine<'_>> {
    let mut start = if file.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = Vec::new();
    for (index, line) in file[start..].split_inclusive('\n').enumerate() {
        let text = line.trim_end_matches('\n').trim_end_matches('\r');
        lines.push(PhysicalLine {
            number: index + 1,
            start,
            text,
        });
        start += line.len();
    }
    lines
}

/// Cursor over the physical lines of a file.
struct LineReader<'a> {
    physical: Vec<PhysicalLine<'a>>,
    /// Index of the next line.
    at: usize,
    lines: HarnessLines,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> LineReader<'a> {
    /// Returns the next line, and moves on.
    fn next(&mut self) -> Option<PhysicalLine<'a>> {
        let line = self.physical.get(self.at).copied();
        self.at += 1;
        line
    }

    /// Handles a line by its first characters.
    fn read_line(&mut self, line: PhysicalLine<'a>) {
        let trimmed = line.text.trim_start();
        if trimmed.starts_with("<@") {
            self.report_indented_marker(&line, "<@", "starts a raw block");
            self.read_raw_block(line);
        } else if trimmed.starts_with("@>") {
            let range = line.trimmed();
            self.diagnostics.push(
                Diagnostic::warning(
                    "stray-block-end",
                    range.start..range.start + 2,
                    "`@>` closes a raw block, but none is open",
                )
                .with_label("no `<@` before this")
                .with_help("put a line `<@` where the raw code starts"),
            );
        } else if trimmed.starts_with('@') {
            self.report_indented_marker(&line, "@", "marks raw code");
            self.read_raw_line(line);
        } else if !line.is_blank() {
            self.read_harness_line(line);
        }
    }

    /// Reports a marker that is not at the very start of its line. The original TSTL takes such a line
    /// for an action.
    fn report_indented_marker(&mut self, line: &PhysicalLine<'a>, marker: &str, purpose: &str) {
        if line.text.starts_with(marker) {
            return;
        }
        let start = line.trimmed().start;
        self.diagnostics.push(
            Diagnostic::error(
                "indented-marker",
                start..start + marker.len(),
                format!("`{marker}`, which {purpose}, must be at the very start of its line"),
            )
            .with_label("indented")
            .with_help("remove the blanks before it"),
        );
    }

    /// Adds a line of the harness language, with its continuation lines.
    fn read_harness_line(&mut self, first: PhysicalLine<'a>) {
        let mut logical = LogicalLine {
            number: first.number,
            text: String::new(),
            origins: Vec::new(),
        };
        let mut comment = Self::trailing_comment(&first);
        let is_comment = first.text.trim_start().starts_with('#');
        let mut line = first;
        loop {
            let Some(kept) = self.without_backslash(&line) else {
                logical.push(line.text, line.start);
                break;
            };
            logical.push(kept, line.start);
            // A blank line does not end a continuation.
            while self
                .physical
                .get(self.at)
                .is_some_and(PhysicalLine::is_blank)
            {
                self.at += 1;
            }
            let Some(next) = self.next() else {
                self.warn_nothing_to_continue(line);
                break;
            };
            self.warn_unintended_join(&first, &next, is_comment, comment.take());
            line = next;
        }
        if !is_comment {
            self.lines.harness.push(logical);
        }
    }

    /// Returns the text before the backslash that continues a line, if there is one.
    fn without_backslash(&mut self, line: &PhysicalLine<'a>) -> Option<&'a str> {
        let kept = line.text.trim_end().strip_suffix('\\')?;
        let blanks = kept.len() + 1..line.text.len();
        if !blanks.is_empty() && line.text.trim_start().starts_with('#') {
            return None;
        }
        if !blanks.is_empty() {
            self.diagnostics.push(
                Diagnostic::warning(
                    "blanks-behind-backslash",
                    line.start + blanks.start..line.start + blanks.end,
                    "blanks follow the backslash at the end of this line",
                )
                .with_label("blanks here")
                .with_help("remove them; the line is continued nevertheless"),
            );
        }
        Some(kept)
    }

    /// Warns about a backslash at the end of the file.
    fn warn_nothing_to_continue(&mut self, line: PhysicalLine<'a>) {
        let end = line.trimmed().end;
        self.diagnostics.push(
            Diagnostic::warning(
                "nothing-to-continue",
                end - 1..end,
                "the last line ends in a backslash, but no line follows",
            )
            .with_label("continues nothing"),
        );
    }

    /// Returns the range of the comment at the end of a line that a backslash continues.
    fn trailing_comment(line: &PhysicalLine<'a>) -> Option<Range<usize>> {
        let text = line.text.trim_end();
        let start = host::end_of_code(text);
        (text.ends_with('\\') && start < text.len())
            .then(|| line.start + start..line.start + text.len())
    }

    /// Warns about lines that are surely not meant to be joined.
    fn warn_unintended_join(
        &mut self,
        first: &PhysicalLine<'a>,
        next: &PhysicalLine<'a>,
        is_comment: bool,
        comment: Option<Range<usize>>,
    ) {
        let next_is_comment = next.text.trim_start().starts_with('#');
        if let (Some(comment), false) = (comment, next_is_comment) {
            self.diagnostics.push(
                Diagnostic::warning(
                    "swallowed-by-comment",
                    next.trimmed(),
                    "this line is part of the comment before it, which ends in a backslash",
                )
                .with_label("ignored")
                .with_related(comment, "the comment")
                .with_help("remove the backslash at the end of the comment"),
            );
        } else if !is_comment && crate::keywords::starts_with_keyword(next.text) {
            self.diagnostics.push(
                Diagnostic::warning(
                    "joined-keyword-line",
                    next.trimmed(),
                    "this line is joined with the one before it, which ends in a backslash",
                )
                .with_label("not a line of its own")
                .with_related(first.trimmed(), "continued by the backslash at its end")
                .with_help("remove the backslash at the end of the line before"),
            );
        }
    }

    /// Adds an `@` line, and the lines that a backslash joins to it.
    fn read_raw_line(&mut self, first: PhysicalLine<'a>) {
        let skipped = first.text.len() - first.text.trim_start().len() + 1;
        self.push_raw(&first, skipped);
        let mut line = first;
        while line.text.ends_with('\\') {
            let Some(next) = self.next() else { return };
            self.push_raw(&next, usize::from(next.text.starts_with('@')));
            line = next;
        }
    }

    /// Adds a line of host code without its first `skipped` bytes.
    fn push_raw(&mut self, line: &PhysicalLine<'a>, skipped: usize) {
        self.lines.raw.push(RawLine {
            number: line.number,
            // A lone carriage return becomes a blank, so that every character keeps its place.
            text: line.text[skipped..].replace('\r', " "),
            start: line.start + skipped,
        });
    }

    /// Adds a raw block up to its end.
    fn read_raw_block(&mut self, opening: PhysicalLine<'a>) {
        let range = opening.trimmed();
        let (first, raw_before) = (self.at, self.lines.raw.len());
        self.warn_text_after_marker(range.start + 2..range.end, opening.text.trim());
        while let Some(line) = self.next() {
            if line.text.trim() == "@>" || line.text.starts_with("@>") {
                self.report_indented_marker(&line, "@>", "ends a raw block");
                let range = line.trimmed();
                self.warn_text_after_marker(range.start + 2..range.end, line.text.trim());
                return;
            }
            if line.text.starts_with("<@") {
                self.diagnostics.push(
                    Diagnostic::warning(
                        "block-opened-twice",
                        line.start..line.start + 2,
                        "a raw block is open already, so this line is ignored",
                    )
                    .with_label("`<@` inside a raw block")
                    .with_related(range.start..range.start + 2, "opened here"),
                );
                continue;
            }
            let drop_at = line.text.starts_with('@') && !self.is_decorator(&line);
            self.push_raw(&line, usize::from(drop_at));
        }
        let end = self.likely_end(first);
        let help = match end {
            Some(end) => format!("put a line `@>` before line {}", self.physical[end].number),
            None => "end it with a line `@>`".to_owned(),
        };
        self.diagnostics.push(
            Diagnostic::error(
                "unclosed-block",
                range.start..range.start + 2,
                "this raw block is never closed",
            )
            .with_label("opened here")
            .with_help(help),
        );
        if let Some(end) = end {
            // Continues as if the block were closed there. Otherwise every line after it would be
            // wrong too.
            let number = self.physical[end].number;
            let kept = self.lines.raw[raw_before..].partition_point(|line| line.number < number);
            self.lines.raw.truncate(raw_before + kept);
            self.at = end;
        }
    }

    /// Returns the first line after `from` that cannot be host code, as the likely end of an
    /// unclosed raw block.
    fn likely_end(&self, from: usize) -> Option<usize> {
        let lines = self.physical.iter().enumerate().skip(from);
        let is_harness_line = |line: &PhysicalLine<'a>| {
            let is_definition = line.text.starts_with('<') && line.text.contains(":=");
            is_definition
                || (crate::keywords::starts_with_keyword(line.text)
                    && !line.text.starts_with(char::is_whitespace)
                    && !line.text.starts_with("finally"))
        };
        lines
            .filter(|(_, line)| is_harness_line(line))
            .map(|(at, _)| at)
            .next()
    }

    /// Warns about text after the two characters of a marker.
    fn warn_text_after_marker(&mut self, range: Range<usize>, whole: &str) {
        let rest = whole.get(2..).unwrap_or_default();
        if rest.trim().is_empty() || rest.trim_start().starts_with('#') {
            return;
        }
        let start = range.start + rest.len() - rest.trim_start().len();
        self.diagnostics.push(
            Diagnostic::warning(
                "text-behind-marker",
                start..range.end,
                format!("text behind `{}` is ignored", &whole[..2]),
            )
            .with_label("ignored")
            .with_help("put it on a line of its own"),
        );
    }

    /// Returns true if an `@` in the first column of a block is a host decorator: the next line can
    /// be decorated. Otherwise it is the marker of raw code, which is not needed in a block.
    fn is_decorator(&self, line: &PhysicalLine<'a>) -> bool {
        let mut open = host::open_brackets(line.text);
        let mut following = self.physical[self.at.min(self.physical.len())..]
            .iter()
            .take(MAX_DECORATOR);
        loop {
            let Some(next) = following.next() else {
                return false;
            };
            if open > 0 {
                open += host::open_brackets(next.text);
            } else if !next.is_blank() && !next.text.starts_with('#') {
                return host::is_decorator(line.text) && host::can_be_decorated(next.text);
            }
        }
    }
}

/// Maximum number of lines of a decorator's arguments. A longer decorator is not recognized.
const MAX_DECORATOR: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(file: &str) -> (HarnessLines, Vec<&'static str>) {
        let mut diagnostics = Vec::new();
        let lines = read(file, &mut diagnostics);
        (lines, diagnostics.iter().map(|one| one.name).collect())
    }

    fn harness(file: &str) -> Vec<String> {
        let (lines, _) = lines(file);
        lines.harness.into_iter().map(|line| line.text).collect()
    }

    fn raw(file: &str) -> Vec<(usize, String)> {
        let (lines, _) = lines(file);
        lines
            .raw
            .into_iter()
            .map(|line| (line.number, line.text))
            .collect()
    }

    #[test]
    fn joins_and_keeps_places() {
        let file = "\u{feff}# c\r\nabc \\\r\n\n  déf\\\nxyz";
        let (lines, _) = lines(file);
        let line = &lines.harness[0];
        assert_eq!(line.text, "abc   défxyz");
        assert_eq!(line.number, 2);
        let at = line.text.find("déf").unwrap();
        assert_eq!(&file[line.file_range(&(at..at + 4))], "déf");
        let at = line.text.find("xyz").unwrap();
        assert_eq!(&file[line.file_range(&(at..at + 3))], "xyz");
        assert_eq!(&file[line.file_range(&(0..3))], "abc");
        let end = line.text.len();
        assert_eq!(line.file_range(&(end..end)), file.len()..file.len());
    }

    #[test]
    fn carriage_returns_vanish() {
        assert_eq!(harness("a\rb\r\n\rc"), ["ab", "c"]);
    }

    #[test]
    fn raw_lines() {
        let file = "@import x\n@def f():\n@  return 1\n@y = 1 + \\\n  2\n<@\n@import z\n@deco(\n 1)\ndef g(): pass\n# kept\n@>\n";
        let expected = [
            (1, "import x"),
            (2, "def f():"),
            (3, "  return 1"),
            (4, "y = 1 + \\"),
            (5, "  2"),
            (7, "import z"),
            (8, "@deco("),
            (9, " 1)"),
            (10, "def g(): pass"),
            (11, "# kept"),
        ];
        let expected: Vec<_> = expected.map(|(line, text)| (line, text.to_owned())).into();
        assert_eq!(raw(file), expected);
    }

    #[test]
    fn markers_in_wrong_places() {
        assert_eq!(
            lines(" <@\nx\n @>\n").1,
            ["indented-marker", "indented-marker"]
        );
        assert_eq!(lines(" @import x").1, ["indented-marker"]);
        assert_eq!(lines("@>\n").1, ["stray-block-end"]);
        assert_eq!(
            lines("<@\n<@\n").1,
            ["block-opened-twice", "unclosed-block"]
        );
        assert_eq!(lines("<@ x\n@> y\n").1, ["text-behind-marker"; 2]);
        assert_eq!(lines("# c \\\nx\n").1, ["swallowed-by-comment"]);
        assert_eq!(
            lines("compare: in\\\ncompare: get\n").1,
            ["joined-keyword-line"]
        );
        assert_eq!(lines("x\\").1, ["nothing-to-continue"]);
    }
}
