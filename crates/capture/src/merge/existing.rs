//! Existing test files, and the positions in them where code can be added.

use std::ops::Range;
use std::path::Path;

use super::{Indentation, MergeError, marker};
use crate::inspect::{
    CodeDefinition, DefinitionKind, ProjectModule, PytestSettings, decode_source,
};
use crate::suite::{TestImport, UnitTest};

/// A test file that can be changed.
pub(super) struct ExistingFile {
    /// The text without a byte order mark.
    text: String,
    /// The length of the byte order mark.
    mark_length: usize,
    /// The line end of the file.
    newline: &'static str,
    /// Its definitions and imports.
    module: ProjectModule,
}

/// A written test that was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedTest {
    /// Its qualified name: `TestCart.test_add`.
    pub name: String,
    /// Its id.
    pub id: String,
    /// True if it was edited.
    pub is_edited: bool,
}

/// The state of a test in a file.
pub(super) enum ExistingTest {
    /// It is not there.
    Absent,
    /// It is as it was written: its range.
    Untouched(Range<usize>),
    /// It was edited.
    Edited,
    /// Another test has its name.
    NameTaken,
}

impl ExistingFile {
    /// Parses a file.
    pub(super) fn read(bytes: &[u8]) -> Result<ExistingFile, MergeError> {
        let text = decode_source(bytes).map_err(|line| MergeError::NotPython {
            line,
            message: "this is not UTF-8 text".to_owned(),
        })?;
        let without_mark = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let module = ProjectModule::from_text(
            Path::new("test.py"),
            without_mark,
            &PytestSettings::default(),
        );
        if let Some(problem) = module.problem {
            return Err(MergeError::NotPython {
                line: problem.line,
                message: problem.message,
            });
        }
        Ok(ExistingFile {
            text: without_mark.to_owned(),
            mark_length: text.len() - without_mark.len(),
            newline: if without_mark.contains("\r\n") {
                "\r\n"
            } else {
                "\n"
            },
            module,
        })
    }

    /// Returns the length of the byte order mark.
    pub(super) fn mark_length(&self) -> usize {
        self.mark_length
    }

    /// Returns the indentation for new classes: that of the first class in the file.
    pub(super) fn indentation(&self) -> Indentation {
        let classes = self
            .module
            .definitions
            .iter()
            .filter(|found| is_class(found));
        let indent = classes.filter_map(|class| self.indent_in(class)).next();
        indent.map_or_else(Indentation::default, |indent| Indentation { indent })
    }

    /// Returns the position where methods can be added to a class, and their indentation. The outer
    /// `None` means that there is no such class, the inner one that there is no room in it.
    pub(super) fn method_insertion(&self, name: &str) -> Option<Option<(usize, String)>> {
        let class = self.class_definition(name)?;
        let place = self
            .indent_in(class)
            .map(|indent| (self.line_end(class.range.end), indent));
        Some(place)
    }

    /// Finds a class.
    fn class_definition(&self, name: &str) -> Option<&CodeDefinition> {
        let found = self.module.definition(name)?;
        is_class(found).then_some(found)
    }

    /// Returns the indentation of a class's body; `None` if the body is on the line of the class.
    fn indent_in(&self, class: &CodeDefinition) -> Option<String> {
        let text = self.text.get(class.range.clone())?;
        let header_end = header_end(text)?;
        let body = text.get(header_end..)?;
        body.lines()
            .find(|line| {
                let line = line.trim();
                !line.is_empty() && !line.starts_with('#')
            })
            .map(|line| {
                let blanks = line.len() - line.trim_start().len();
                line.get(..blanks).unwrap_or_default().to_owned()
            })
            .filter(|indent| !indent.is_empty())
    }

    /// Finds a test by its marker, wherever it is and whatever its name is now.
    pub(super) fn find_test(&self, test: &UnitTest, class: &str) -> ExistingTest {
        for definition in self.functions() {
            let range = definition.range.start..self.line_end_without_newline(definition.range.end);
            let Some((marker, now)) = self.text.get(range.clone()).and_then(marker::find_marker)
            else {
                continue;
            };
            if marker.id == test.id {
                return if marker.digest == now {
                    ExistingTest::Untouched(range)
                } else {
                    ExistingTest::Edited
                };
            }
        }
        let qualified = format!("{class}.{}", test.name);
        let taken = self
            .functions()
            .any(|definition| definition.qualified_name == qualified);
        if taken {
            ExistingTest::NameTaken
        } else {
            ExistingTest::Absent
        }
    }

    /// Returns all tests with a marker, in order.
    pub(super) fn marked_tests(&self) -> Vec<MarkedTest> {
        self.functions()
            .filter_map(|definition| {
                let end = self.line_end_without_newline(definition.range.end);
                let text = self.text.get(definition.range.start..end)?;
                let (marker, now) = marker::find_marker(text)?;
                Some(MarkedTest {
                    name: definition.qualified_name.clone(),
                    is_edited: marker.digest != now,
                    id: marker.id,
                })
            })
            .collect()
    }

    /// Returns all functions and methods.
    fn functions(&self) -> impl Iterator<Item = &CodeDefinition> {
        let definitions = self.module.definitions.iter();
        definitions.filter(|found| !is_class(found))
    }

    /// Indents the lines of a test like the one at `range`. The first line stays without
    /// indentation, because the range begins after it.
    pub(super) fn indented_like(&self, range: &Range<usize>, lines: &[String]) -> Vec<String> {
        let start = self.line_start(range.start);
        let indent = self.text.get(start..range.start).unwrap_or_default();
        let indentation = Indentation {
            indent: indent.to_owned(),
        };
        let indent = lines.iter().map(|line| indentation.indent(line));
        indent
            .enumerate()
            .map(|(index, line)| {
                if index == 0 {
                    line.trim_start().to_owned()
                } else {
                    line
                }
            })
            .collect()
    }

    /// Joins lines by the file's line ends.
    pub(super) fn join_lines(&self, lines: &[String]) -> String {
        lines.join(self.newline)
    }

    /// Renders lines for an insertion at `position`, which is the start of a line, or the end of a
    /// text without a last newline.
    pub(super) fn insertion_text(&self, position: usize, lines: &[String]) -> String {
        let before = self.text.get(..position).unwrap_or_default();
        let mut text = String::new();
        let open = !before.is_empty() && !before.ends_with('\n');
        if open {
            text.push_str(self.newline);
        }
        text.push_str(&self.join_lines(lines));
        if !open {
            text.push_str(self.newline);
        }
        text
    }

    /// Returns the imports that the file lacks.
    pub(super) fn missing_imports(
        &self,
        imports: &[TestImport],
    ) -> Result<Vec<TestImport>, MergeError> {
        let mut missing: Vec<TestImport> = Vec::new();
        for import in imports {
            if !missing.contains(import) && !self.has_import(import)? {
                missing.push(import.clone());
            }
        }
        missing.sort();
        Ok(missing)
    }

    /// Returns true if the file has an import. A name with another meaning is an error.
    fn has_import(&self, import: &TestImport) -> Result<bool, MergeError> {
        let bound = import.bound_name();
        for found in &self.module.imports {
            let same_module = found.module == import.module;
            let star = same_module && found.name.as_deref() == Some("*") && import.name.is_some();
            let same = same_module && found.name == import.name && found.bound_name == bound;
            // `import a.b` also binds `a`, and several of those go together.
            let package = found.name.is_none()
                && import.name.is_none()
                && found.bound_name == bound
                && found.module.split('.').next() == Some(bound);
            if star || same {
                return Ok(true);
            }
            if found.bound_name == bound && !package {
                let meaning = match &found.name {
                    Some(name) => format!("{}.{name}", found.module),
                    None => found.module.clone(),
                };
                return Err(name_clash(bound, meaning));
            }
        }
        let own = self
            .module
            .definitions
            .iter()
            .any(|definition| definition.qualified_name == bound);
        if own || self.module.variables.iter().any(|name| name == bound) {
            return Err(name_clash(
                bound,
                "something that this file defines".to_owned(),
            ));
        }
        Ok(false)
    }

    /// Returns the position after the imports of the file, and the text of new imports there.
    pub(super) fn import_insertion(&self, imports: &[TestImport]) -> (usize, String) {
        let position = self.module.imports_end;
        let lines: Vec<String> = imports.iter().map(TestImport::text).collect();
        (position, self.insertion_text(position, &lines))
    }

    /// Returns the position before the main guard or at the end of the file, and the text of new
    /// classes there, with two blank lines around each.
    pub(super) fn class_insertion(&self, classes: &[Vec<String>]) -> (usize, String) {
        let guard = self.module.main_guard.as_ref();
        let position = guard.map_or(self.text.len(), |guard| {
            self.comments_above(self.line_start(guard.start))
        });
        let before = self.text.get(..position).unwrap_or_default();
        let mut lines: Vec<String> = Vec::new();
        let blank = blank_lines_at_end(before);
        if !before.trim().is_empty() {
            lines.extend(std::iter::repeat_n(
                String::new(),
                2_usize.saturating_sub(blank),
            ));
        }
        for (index, class) in classes.iter().enumerate() {
            if index > 0 {
                lines.extend([String::new(), String::new()]);
            }
            lines.extend(class.iter().cloned());
        }
        if guard.is_some() {
            lines.extend([String::new(), String::new()]);
        }
        (position, self.insertion_text(position, &lines))
    }

    /// Moves a position up over the comments right above it.
    fn comments_above(&self, mut position: usize) -> usize {
        loop {
            let Some(end) = position.checked_sub(1) else {
                return position;
            };
            let start = self.line_start(end);
            let line = self.text.get(start..end).unwrap_or_default();
            if !line.starts_with('#') {
                return position;
            }
            position = start;
        }
    }

    /// Returns the start of the line at a position.
    fn line_start(&self, position: usize) -> usize {
        let before = self.text.get(..position).unwrap_or_default();
        before.rfind('\n').map_or(0, |end| end + 1)
    }

    /// Returns the end of the line at a position, its line end included.
    fn line_end(&self, position: usize) -> usize {
        let behind = self.text.get(position..).unwrap_or_default();
        behind
            .find('\n')
            .map_or(self.text.len(), |end| position + end + 1)
    }

    /// Returns the end of the line at a position, without its line end.
    fn line_end_without_newline(&self, position: usize) -> usize {
        let behind = self.text.get(position..).unwrap_or_default();
        position + behind.find(['\n', '\r']).unwrap_or(behind.len())
    }
}

/// Returns true if a definition is a class.
fn is_class(definition: &CodeDefinition) -> bool {
    matches!(definition.kind, DefinitionKind::Class(_))
}

/// Returns the end of the line with the colon after a class's name and bases; `None` if more than
/// a comment follows on that line.
fn header_end(text: &str) -> Option<usize> {
    let tokens = testwright_source::tokenize(text);
    let mut depth = 0_usize;
    let mut seen_class = false;
    for (index, token) in tokens.iter().enumerate() {
        match text.get(token.range.clone())? {
            "class" if depth == 0 => seen_class = true,
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            ":" if depth == 0 && seen_class => {
                let rest = text.get(token.range.end..)?;
                let end = rest.find('\n')? + token.range.end + 1;
                let next = tokens.iter().skip(index + 1).find(|next| {
                    !text
                        .get(next.range.clone())
                        .is_some_and(is_blank_or_comment)
                })?;
                return (next.range.start >= end).then_some(end);
            }
            _ => {}
        }
    }
    None
}

/// Returns true if a token is blank or a comment.
fn is_blank_or_comment(token: &str) -> bool {
    token.trim().is_empty() || token.starts_with('#')
}

/// Creates the error for a name with two meanings.
fn name_clash(name: &str, meaning: String) -> MergeError {
    MergeError::NameClash {
        name: name.to_owned(),
        meaning,
    }
}

/// Counts the blank lines at the end of a text.
fn blank_lines_at_end(text: &str) -> usize {
    text.lines()
        .rev()
        .take_while(|line| line.trim().is_empty())
        .count()
}
