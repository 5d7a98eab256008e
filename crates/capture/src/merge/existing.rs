//! A test file as it is, and where in it something can be added.

use std::ops::Range;
use std::path::Path;

use super::{Layout, Refusal, marker};
use crate::inspect::{Definition, DefinitionKind, Module, Settings, readable};
use crate::suite::{Import, UnitTest};

/// A test file that can be changed.
pub(super) struct Existing {
    /// Without a byte order mark.
    text: String,
    mark_length: usize,
    newline: &'static str,
    module: Module,
}

/// A written test that was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marked {
    /// `TestCart.test_add`
    pub name: String,
    /// The interaction that it comes from.
    pub id: String,
    /// Whether somebody has changed it.
    pub is_edited: bool,
}

/// What a file has of a test.
pub(super) enum Found {
    /// Nothing.
    Absent,
    /// The test as it was written: its range.
    Untouched(Range<usize>),
    /// The test, changed by somebody.
    Edited,
    /// A test of that name that comes from somewhere else.
    OtherOfThatName,
}

impl Existing {
    pub(super) fn read(bytes: &[u8]) -> Result<Existing, Refusal> {
        let text = readable(bytes).map_err(|line| Refusal::NotPython {
            line,
            message: "this is not UTF-8 text".to_owned(),
        })?;
        let without_mark = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let module = Module::of_text(Path::new("test.py"), without_mark, &Settings::default());
        if let Some(problem) = module.problem {
            return Err(Refusal::NotPython {
                line: problem.line,
                message: problem.message,
            });
        }
        Ok(Existing {
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

    pub(super) fn mark_length(&self) -> usize {
        self.mark_length
    }

    /// How new classes are indented: as the first class that is there.
    pub(super) fn layout(&self) -> Layout {
        let classes = self
            .module
            .definitions
            .iter()
            .filter(|found| is_class(found));
        let indent = classes.filter_map(|class| self.indent_in(class)).next();
        indent.map_or_else(Layout::default, |indent| Layout { indent })
    }

    /// Where methods can be added to a class, and how they are indented there. The outer `None`: there is no such class. The
    /// inner one: there is no room in it.
    pub(super) fn class(&self, name: &str) -> Option<Option<(usize, String)>> {
        let class = self.class_definition(name)?;
        let place = self
            .indent_in(class)
            .map(|indent| (self.line_end(class.range.end), indent));
        Some(place)
    }

    fn class_definition(&self, name: &str) -> Option<&Definition> {
        let found = self.module.definition(name)?;
        is_class(found).then_some(found)
    }

    /// The blanks before the first statement of a class's body; none if it stands on the line of the class.
    fn indent_in(&self, class: &Definition) -> Option<String> {
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

    /// What there is of a test: wherever it stands and however it is called now, if its marker is in the file.
    pub(super) fn test(&self, test: &UnitTest, class: &str) -> Found {
        for definition in self.functions() {
            let range = definition.range.start..self.line_end_without_newline(definition.range.end);
            let Some((marker, now)) = self.text.get(range.clone()).and_then(marker::read) else {
                continue;
            };
            if marker.id == test.id {
                return if marker.digest == now {
                    Found::Untouched(range)
                } else {
                    Found::Edited
                };
            }
        }
        let qualified = format!("{class}.{}", test.name);
        let taken = self
            .functions()
            .any(|definition| definition.qualified_name == qualified);
        if taken {
            Found::OtherOfThatName
        } else {
            Found::Absent
        }
    }

    /// All tests that carry a marker, in order.
    pub(super) fn marked(&self) -> Vec<Marked> {
        self.functions()
            .filter_map(|definition| {
                let end = self.line_end_without_newline(definition.range.end);
                let text = self.text.get(definition.range.start..end)?;
                let (marker, now) = marker::read(text)?;
                Some(Marked {
                    name: definition.qualified_name.clone(),
                    is_edited: marker.digest != now,
                    id: marker.id,
                })
            })
            .collect()
    }

    fn functions(&self) -> impl Iterator<Item = &Definition> {
        let definitions = self.module.definitions.iter();
        definitions.filter(|found| !is_class(found))
    }

    /// The lines of a test, indented as the one that stands at `range`; the first line gets nothing, since the range starts
    /// behind its blanks.
    pub(super) fn indented_like(&self, range: &Range<usize>, lines: &[String]) -> Vec<String> {
        let start = self.line_start(range.start);
        let indent = self.text.get(start..range.start).unwrap_or_default();
        let layout = Layout {
            indent: indent.to_owned(),
        };
        let deeper = lines.iter().map(|line| layout.deeper(line));
        deeper
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

    pub(super) fn joined(&self, lines: &[String]) -> String {
        lines.join(self.newline)
    }

    /// Lines to be inserted at `place`, which is the start of a line, or the end of a text without a last newline.
    pub(super) fn below(&self, place: usize, lines: &[String]) -> String {
        let before = self.text.get(..place).unwrap_or_default();
        let mut text = String::new();
        let open = !before.is_empty() && !before.ends_with('\n');
        if open {
            text.push_str(self.newline);
        }
        text.push_str(&self.joined(lines));
        if !open {
            text.push_str(self.newline);
        }
        text
    }

    /// Those imports that the file does not have.
    pub(super) fn missing(&self, imports: &[Import]) -> Result<Vec<Import>, Refusal> {
        let mut missing: Vec<Import> = Vec::new();
        for import in imports {
            if !missing.contains(import) && !self.has(import)? {
                missing.push(import.clone());
            }
        }
        missing.sort();
        Ok(missing)
    }

    fn has(&self, import: &Import) -> Result<bool, Refusal> {
        let bound = import.bound();
        for found in &self.module.imports {
            let same_module = found.module == import.module;
            let star = same_module && found.name.as_deref() == Some("*") && import.name.is_some();
            let same = same_module && found.name == import.name && found.bound == bound;
            // `import a.b` also binds `a`, and several of those go together.
            let package = found.name.is_none()
                && import.name.is_none()
                && found.bound == bound
                && found.module.split('.').next() == Some(bound);
            if star || same {
                return Ok(true);
            }
            if found.bound == bound && !package {
                let meaning = match &found.name {
                    Some(name) => format!("{}.{name}", found.module),
                    None => found.module.clone(),
                };
                return Err(clash(bound, meaning));
            }
        }
        let own = self
            .module
            .definitions
            .iter()
            .any(|definition| definition.qualified_name == bound);
        if own || self.module.variables.iter().any(|name| name == bound) {
            return Err(clash(bound, "something that this file defines".to_owned()));
        }
        Ok(false)
    }

    pub(super) fn below_imports(&self, imports: &[Import]) -> (usize, String) {
        let place = self.module.after_imports;
        let lines: Vec<String> = imports.iter().map(Import::text).collect();
        (place, self.below(place, &lines))
    }

    /// New classes, with two blank lines around each of them, before the start of the program or at the end of the file.
    pub(super) fn before_guard(&self, classes: &[Vec<String>]) -> (usize, String) {
        let guard = self.module.main_guard.as_ref();
        let place = guard.map_or(self.text.len(), |guard| {
            self.comments_above(self.line_start(guard.start))
        });
        let before = self.text.get(..place).unwrap_or_default();
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
        (place, self.below(place, &lines))
    }

    fn comments_above(&self, mut place: usize) -> usize {
        loop {
            let Some(end) = place.checked_sub(1) else {
                return place;
            };
            let start = self.line_start(end);
            let line = self.text.get(start..end).unwrap_or_default();
            if !line.starts_with('#') {
                return place;
            }
            place = start;
        }
    }

    fn line_start(&self, place: usize) -> usize {
        let before = self.text.get(..place).unwrap_or_default();
        before.rfind('\n').map_or(0, |end| end + 1)
    }

    fn line_end(&self, place: usize) -> usize {
        let behind = self.text.get(place..).unwrap_or_default();
        behind
            .find('\n')
            .map_or(self.text.len(), |end| place + end + 1)
    }

    fn line_end_without_newline(&self, place: usize) -> usize {
        let behind = self.text.get(place..).unwrap_or_default();
        place + behind.find(['\n', '\r']).unwrap_or(behind.len())
    }
}

fn is_class(definition: &Definition) -> bool {
    matches!(definition.kind, DefinitionKind::Class(_))
}

/// The end of the line with the colon behind a class's name and bases; nothing if more than a comment follows on that line.
fn header_end(text: &str) -> Option<usize> {
    let tokens = testwright_source::tokens(text);
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
                let next = tokens
                    .iter()
                    .skip(index + 1)
                    .find(|next| !text.get(next.range.clone()).is_some_and(is_no_code))?;
                return (next.range.start >= end).then_some(end);
            }
            _ => {}
        }
    }
    None
}

fn is_no_code(token: &str) -> bool {
    token.trim().is_empty() || token.starts_with('#')
}

fn clash(name: &str, meaning: String) -> Refusal {
    Refusal::NameClash {
        name: name.to_owned(),
        meaning,
    }
}

/// How many lines at the end of a text have nothing on them.
fn blank_lines_at_end(text: &str) -> usize {
    text.lines()
        .rev()
        .take_while(|line| line.trim().is_empty())
        .count()
}
