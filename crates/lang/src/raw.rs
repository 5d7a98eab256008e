//! Assembles the raw host code at its line numbers, and expands the few constructs of the harness
//! language in it.

use std::ops::Range;

use crate::check;
use crate::choices;
use crate::diagnostics::Diagnostic;
use crate::harness::{EntryValue, LocatedText, RawCode};
use crate::host::{self, SyntaxKind, Token, TokenKind};
use crate::lines::RawLine;
use crate::mapping::MappedText;
use crate::nodes::Placeholder;

/// Raw code, and its guarded functions.
#[derive(Debug, Default)]
pub(crate) struct RawSection {
    /// Code and the values it needs.
    pub(crate) code: RawCode,
    /// Names of the functions with the additional parameter.
    pub(crate) guarded: Vec<String>,
}

/// Parses the raw lines of a harness.
pub(crate) fn read(lines: &[RawLine], diagnostics: &mut Vec<Diagnostic>) -> RawSection {
    let mut raw = RawSection::default();
    if lines.is_empty() {
        return raw;
    }
    let written = join_lines(lines);
    let edits = RawEditor::new(&written, diagnostics).edits(&mut raw);
    let text = apply_edits(&written, &edits);
    let unclosed = diagnostics
        .iter()
        .any(|diagnostic| diagnostic.name == "unclosed-pre");
    let problems = diagnostics.len();
    if !unclosed {
        report(&text, lines, diagnostics);
    }
    if problems == diagnostics.len() {
        raw.code.reset_modules = reset_modules(&text.text);
    }
    raw.code.text = text.text;
    raw
}

/// Joins all lines, each at its line number.
fn join_lines(lines: &[RawLine]) -> MappedText {
    let mut written = MappedText::default();
    let mut number = 1;
    for line in lines {
        let gap = "\n".repeat(line.number.saturating_sub(number));
        written.push_replacement(&gap, line.start..line.start);
        number = number.max(line.number);
        written.push(&line.text, line.start);
    }
    written.push_replacement(
        "\n",
        written.source(&(written.text.len()..written.text.len())),
    );
    written
}

/// Replaces ranges of a text.
fn apply_edits(written: &MappedText, edits: &[(Range<usize>, String)]) -> MappedText {
    let mut result = MappedText::default();
    let mut at = 0;
    for (range, text) in edits {
        copy_range(written, at..range.start, &mut result);
        result.push_replacement(text, written.source(range));
        at = range.end;
    }
    copy_range(written, at..written.text.len(), &mut result);
    result
}

/// Copies line by line, since each line has a place of its own.
fn copy_range(written: &MappedText, range: Range<usize>, result: &mut MappedText) {
    let mut at = range.start;
    for line in written.text[range].split_inclusive('\n') {
        result.push(line, written.source(&(at..at)).start);
        at += line.len();
    }
}

/// Finds the constructs to expand.
struct RawEditor<'a, 'd> {
    /// Raw code as written.
    written: &'a MappedText,
    /// Tokens of the raw code.
    tokens: Vec<Token>,
    diagnostics: &'d mut Vec<Diagnostic>,
    /// Ranges of functions, from `def` to the next `def`.
    functions: Vec<Range<usize>>,
    /// For each entry value, its function and its text.
    entry_values: Vec<(usize, String)>,
    /// Offset whose line number was computed last, and that number.
    last_line_number: (usize, usize),
    /// True if a `pre<(` was not closed. Further ones are ignored.
    unclosed_pre: bool,
}

impl<'a, 'd> RawEditor<'a, 'd> {
    fn new(written: &'a MappedText, diagnostics: &'d mut Vec<Diagnostic>) -> Self {
        let tokens = host::tokenize(&written.text);
        let mut editor = RawEditor {
            written,
            tokens,
            diagnostics,
            functions: Vec::new(),
            entry_values: Vec::new(),
            last_line_number: (0, 1),
            unclosed_pre: false,
        };
        editor.find_functions();
        editor
    }

    /// Returns the text of a token.
    fn text(&self, token: &Token) -> &'a str {
        &self.written.text[token.range.clone()]
    }

    /// Returns true if the token with this index is `word`.
    fn is_word(&self, index: usize, word: &str) -> bool {
        self.tokens
            .get(index)
            .is_some_and(|token| self.text(token) == word)
    }

    /// Computes the ranges of functions.
    fn find_functions(&mut self) {
        let starts: Vec<usize> = self
            .tokens
            .iter()
            .filter(|token| matches!(token.kind, TokenKind::Keyword) && self.text(token) == "def")
            .map(|token| token.range.start)
            .collect();
        let ends = starts
            .iter()
            .skip(1)
            .copied()
            .chain([self.written.text.len()]);
        self.functions = starts
            .iter()
            .copied()
            .zip(ends)
            .map(|(start, end)| start..end)
            .collect();
    }

    /// Returns the number of the function that contains an offset.
    fn function_around(&self, at: usize) -> Option<usize> {
        self.functions
            .partition_point(|function| function.start <= at)
            .checked_sub(1)
    }

    /// Returns the replacements, in order.
    fn edits(mut self, raw: &mut RawSection) -> Vec<(Range<usize>, String)> {
        let mut edits = Vec::new();
        let mut index = 0;
        while index < self.tokens.len() {
            let behind = edits
                .last()
                .map_or(0, |(range, _): &(Range<usize>, String)| range.end);
            let token = self.tokens[index].clone();
            if token.range.start >= behind {
                edits.extend(self.edit_at(index, &token, raw));
            }
            index += 1;
        }
        edits
    }

    /// Returns the replacement for the construct that starts at a token, if there is one.
    fn edit_at(
        &mut self,
        index: usize,
        token: &Token,
        raw: &mut RawSection,
    ) -> Option<(Range<usize>, String)> {
        let text = self.text(token);
        match (token.kind, text) {
            (TokenKind::Name, "pre" | "PRE") => self.replace_entry_value(token, raw),
            (TokenKind::Operator, "%" | "<") => self.replace_commit(index, raw),
            (TokenKind::Name, name)
                if name.starts_with("guarded") && index > 0 && self.is_word(index - 1, "def") =>
            {
                self.add_guard_parameter(index, name, raw)
            }
            _ => None,
        }
    }

    /// Replaces `pre<(e)>` by the name of an entry value.
    fn replace_entry_value(
        &mut self,
        token: &Token,
        raw: &mut RawSection,
    ) -> Option<(Range<usize>, String)> {
        let text = &self.written.text;
        let behind = &text[token.range.end..];
        let opens = behind.starts_with("<(") || behind.starts_with("%(");
        if !opens || self.unclosed_pre {
            return None;
        }
        let start = token.range.end + 2;
        let Some(close) = choices::find_close(text, &self.tokens, start, b')') else {
            self.unclosed_pre = true;
            let location = self.written.source(&(token.range.start..start));
            let problem =
                Diagnostic::error("unclosed-pre", location, "this `pre<(` is never closed")
                    .with_help("end the expression with `)>`");
            self.diagnostics.push(problem);
            return None;
        };
        if !text[close.at + 1..].starts_with(['>', '%']) {
            return None;
        }
        let range = token.range.start..close.at + 2;
        let Some(function) = self.function_around(range.start) else {
            let location = self.written.source(&range);
            let problem = Diagnostic::error(
                "misplaced-pre",
                location,
                "`pre<(…)>` stands outside of any function",
            )
            .with_help("it is the value of an expression when the function around it was entered");
            self.diagnostics.push(problem);
            return Some((range, "None".to_owned()));
        };
        let line = line_of(text, &mut self.last_line_number, range.start);
        let expression = text[start..close.at].trim().to_owned();
        // The entry values of one function are adjacent.
        let known = self
            .entry_values
            .iter()
            .rev()
            .take_while(|(location, _)| *location == function)
            .position(|(_, known)| *known == expression)
            .map(|behind| self.entry_values.len() - 1 - behind);
        let index = known.unwrap_or_else(|| {
            self.entry_values.push((function, expression.clone()));
            raw.code.entry_values.push(EntryValue {
                name: format!("testwright_entry_{}", raw.code.entry_values.len()),
                expression,
                line,
            });
            raw.code.entry_values.len() - 1
        });
        Some((range, format!("testwright_entry_{index}")))
    }

    /// Adds a parameter to `def guardedX(a):`.
    fn add_guard_parameter(
        &mut self,
        index: usize,
        name: &str,
        raw: &mut RawSection,
    ) -> Option<(Range<usize>, String)> {
        let open = self
            .tokens
            .get(index + 1)
            .filter(|token| self.text(token) == "(")?;
        let start = open.range.end;
        let close = choices::find_close(&self.written.text, &self.tokens, start, b')')?;
        raw.guarded.push(name.to_owned());
        let arguments = self.written.text[start..close.at].trim_end();
        let separator = match arguments.trim() {
            "" => "",
            _ if arguments.ends_with(',') => " ",
            _ => ", ",
        };
        let end = start + arguments.len();
        Some((end..end, format!("{separator}SPECULATIVE_CALL = False")))
    }

    /// Replaces `%COMMIT%` by a return.
    fn replace_commit(&mut self, index: usize, raw: &RawSection) -> Option<(Range<usize>, String)> {
        let token = &self.tokens[index];
        let rest = &self.written.text[token.range.start..];
        let length = ["%COMMIT%", "<COMMIT>"]
            .iter()
            .find(|marker| rest.starts_with(**marker))?
            .len();
        let range = token.range.start..token.range.start + length;
        let function = self.function_around(range.start);
        let is_guarded = function.is_some_and(|function| {
            let function = self.functions[function].clone();
            let header = self.written.text[function]
                .trim_start_matches("def")
                .trim_start();
            raw.guarded
                .iter()
                .any(|name| header.starts_with(name.as_str()))
        });
        if !is_guarded {
            let location = self.written.source(&range);
            let problem = Diagnostic::error(
                "misplaced-commit",
                location,
                "`%COMMIT%` stands outside of a guarded function",
            )
            .with_help("it belongs into a function whose name starts with `guarded`");
            self.diagnostics.push(problem);
        }
        Some((range, "if SPECULATIVE_CALL: return True".to_owned()))
    }
}

/// Reports syntax errors, one for each stretch of code that starts in the first column: further
/// ones are mostly consequences.
fn report(text: &MappedText, lines: &[RawLine], diagnostics: &mut Vec<Diagnostic>) {
    let mut last_stretch = None;
    let end = lines.last().map_or(0, |line| line.start + line.text.len());
    for problem in host::check(SyntaxKind::Module, &text.text) {
        let at = problem.range.start.min(text.text.len());
        let stretch = unindented_line_start(&text.text, at);
        if problem.python2_help.is_none() && last_stretch == Some(stretch) {
            continue;
        }
        last_stretch = Some(stretch);
        let mut location = text.source(&problem.range);
        location.start = location.start.min(end);
        location.end = location.end.clamp(location.start, end);
        let placeholder = text
            .text
            .get(at..)
            .filter(|rest| rest.starts_with('<'))
            .and_then(Placeholder::parse);
        let mut diagnostic = check::to_diagnostic(&problem, location, "raw code");
        if problem.message.starts_with("this line is indented, but") {
            diagnostic.help = Some("remove the blanks in front of the code".to_owned());
        }
        if let (Some(placeholder), None) = (placeholder, &problem.python2_help) {
            diagnostic = Diagnostic::error(
                "host-syntax",
                text.source(&(at..at + placeholder.length)),
                format!("`<{}>` cannot stand in raw code", placeholder.name),
            )
            .with_help("raw code knows no slots; pass the value as an argument");
        }
        diagnostics.push(diagnostic);
    }
}

/// Returns the start of the last line before `at` with something in its first column.
fn unindented_line_start(text: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let start = text
            .get(..end)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |newline| newline + 1);
        let indented = text[start..].starts_with([' ', '\t', '\n', '#', ')', ']', '}']);
        if start == 0 || !indented {
            return start;
        }
        end = start - 1;
    }
}

/// Returns the number of the line at an offset, counting on from the last call.
fn line_of(text: &str, counted: &mut (usize, usize), at: usize) -> usize {
    let (from, line) = *counted;
    *counted = match text.get(from..at) {
        Some(between) => (at, line + between.matches('\n').count()),
        None => (at, 1 + text[..at].matches('\n').count()),
    };
    counted.1
}

/// Collects the modules that a restart executes again.
fn reset_modules(text: &str) -> Vec<LocatedText> {
    let mut modules: Vec<LocatedText> = Vec::new();
    let mut counted = (0, 1);
    for import in host::imported_modules(text) {
        if modules.iter().all(|known| known.text != import.name) {
            modules.push(LocatedText {
                line: line_of(text, &mut counted, import.start),
                text: import.name,
            });
        }
    }
    modules
}
