//! Names and idioms files: one setting a line, in sections (I7).

use super::pattern::{Guard, Pattern, Requirement};
use super::template::Template;
use super::{Idiom, Kind, Vocabulary};

/// What is wrong with a names and idioms file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdiomError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What can be done.
    pub help: Option<String>,
}

/// A key and its value, and where they stand.
struct Setting<'a> {
    line: usize,
    key: &'a str,
    key_column: usize,
    value: &'a str,
    value_column: usize,
}

/// A section that is being read.
enum Section<'a> {
    Names,
    Idiom {
        line: usize,
        settings: Vec<Setting<'a>>,
    },
    /// One that was rejected, so that its lines are not rejected again.
    Unknown,
}

const KEYS: [&str; 7] = ["kind", "match", "say", "not", "past", "past-not", "where"];

impl Vocabulary {
    /// Adds a file. What was added before is consulted first.
    ///
    /// # Errors
    /// All that is wrong with it (I7); nothing of it is added then.
    pub fn add(&mut self, text: &str) -> Result<(), Vec<IdiomError>> {
        let mut file = File::default();
        let mut section = None;
        // A file may begin with a byte order mark.
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            file.line(index + 1, line, &mut section);
        }
        file.close(section);
        if !file.errors.is_empty() {
            file.errors.sort_by_key(|error| (error.line, error.column));
            return Err(file.errors);
        }
        for (name, words) in file.names {
            self.names.entry(name).or_insert(words);
        }
        self.idioms.append(&mut file.idioms);
        Ok(())
    }
}

#[derive(Default)]
struct File {
    names: Vec<(String, String)>,
    idioms: Vec<Idiom>,
    errors: Vec<IdiomError>,
}

impl File {
    fn error(
        &mut self,
        line: usize,
        column: usize,
        message: impl Into<String>,
        help: Option<&str>,
    ) {
        self.errors.push(IdiomError {
            line,
            column,
            message: message.into(),
            help: help.map(str::to_owned),
        });
    }

    fn line<'a>(&mut self, number: usize, line: &'a str, section: &mut Option<Section<'a>>) {
        let trimmed = line.trim();
        let column = line
            .chars()
            .take_while(|character| character.is_whitespace())
            .count()
            + 1;
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return;
        }
        if let Some(title) = trimmed.strip_prefix('[') {
            let opened = self.section(number, column, title);
            let closed = section.replace(opened);
            self.close(closed);
            return;
        }
        let Some((key, value)) = line.split_once('=') else {
            self.error(
                number,
                column,
                "this is neither a section nor a setting",
                Some("write `key = words`"),
            );
            return;
        };
        let value_column = key.chars().count()
            + 2
            + value
                .chars()
                .take_while(|character| character.is_whitespace())
                .count();
        let setting = Setting {
            line: number,
            key: key.trim(),
            key_column: column,
            value: value.trim(),
            value_column,
        };
        match section {
            None => self.error(
                number,
                column,
                "a setting outside of any section",
                Some("begin with `[names]` or `[idiom title]`"),
            ),
            Some(Section::Unknown) => {}
            Some(Section::Names) => self.name(&setting),
            Some(Section::Idiom { settings, .. }) => settings.push(setting),
        }
    }

    fn section<'a>(&mut self, line: usize, column: usize, title: &str) -> Section<'a> {
        let Some(title) = title.strip_suffix(']') else {
            self.error(
                line,
                column,
                "this section's title is never closed",
                Some("close it with `]`"),
            );
            return Section::Unknown;
        };
        match title.trim() {
            "names" => Section::Names,
            title
                if title
                    .strip_prefix("idiom")
                    .is_some_and(|title| title.starts_with([' ', '\t'])) =>
            {
                Section::Idiom {
                    line,
                    settings: Vec::new(),
                }
            }
            "idiom" => {
                self.error(
                    line,
                    column,
                    "this idiom has no title",
                    Some("write `[idiom any title]`"),
                );
                Section::Unknown
            }
            other => {
                let message = format!("unknown section `[{other}]`");
                self.error(
                    line,
                    column,
                    message,
                    Some("sections are `[names]` and `[idiom title]`"),
                );
                Section::Unknown
            }
        }
    }

    fn name(&mut self, setting: &Setting<'_>) {
        let is_identifier = setting
            .key
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
            && !setting.key.starts_with(|first: char| first.is_numeric())
            && !setting.key.is_empty();
        if !is_identifier {
            let message = format!("`{}` is not an identifier", setting.key);
            self.error(
                setting.line,
                setting.key_column,
                message,
                Some("write `identifier = words`"),
            );
        } else if setting.value.is_empty() {
            self.error(
                setting.line,
                setting.value_column,
                "there are no words for this name",
                None,
            );
        } else if self.names.iter().any(|(name, _)| name == setting.key) {
            let message = format!("`{}` has words already", setting.key);
            self.error(
                setting.line,
                setting.key_column,
                message,
                Some("remove one of the two lines"),
            );
        } else {
            let words = setting
                .value
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            self.names.push((setting.key.to_owned(), words));
        }
    }

    fn close(&mut self, section: Option<Section<'_>>) {
        if let Some(Section::Idiom { line, settings }) = section
            && let Some(idiom) = self.idiom(line, &settings)
        {
            self.idioms.push(idiom);
        }
    }

    fn idiom(&mut self, line: usize, settings: &[Setting<'_>]) -> Option<Idiom> {
        let errors = self.errors.len();
        for setting in settings
            .iter()
            .filter(|setting| !KEYS.contains(&setting.key))
        {
            let message = format!("unknown key `{}`", setting.key);
            let help = format!("keys are {}", KEYS.join(", "));
            self.error(setting.line, setting.key_column, message, Some(&help));
        }
        for key in ["kind", "say", "not", "past", "past-not"] {
            if let Some(again) = settings.iter().filter(|setting| setting.key == key).nth(1) {
                let message = format!("`{key}` is given twice");
                self.error(again.line, again.key_column, message, None);
            }
        }
        for key in ["kind", "match", "say"] {
            if !settings.iter().any(|setting| setting.key == key) {
                self.error(line, 1, format!("this idiom has no `{key}`"), None);
            }
        }
        let kind = self.kind(settings)?;
        let patterns = self.patterns(kind, settings);
        let known: Vec<String> = patterns.iter().flat_map(Pattern::placeholders).collect();
        let guards = settings
            .iter()
            .filter(|setting| setting.key == "where")
            .filter_map(|setting| self.guard(setting, &known))
            .collect();
        let say = self.template(settings, "say", &known);
        let not = self.template(settings, "not", &known);
        let past = self.template(settings, "past", &known);
        let past_not = self.template(settings, "past-not", &known);
        if kind != Kind::Condition {
            for setting in settings
                .iter()
                .filter(|setting| ["not", "past", "past-not"].contains(&setting.key))
            {
                let message = format!("`{}` is for conditions only", setting.key);
                self.error(setting.line, setting.key_column, message, None);
            }
        }
        let say = say?;
        let targets = patterns.iter().filter_map(Pattern::target).collect();
        (self.errors.len() == errors).then_some(Idiom {
            kind,
            patterns,
            targets,
            guards,
            say,
            not,
            past,
            past_not,
        })
    }

    fn kind(&mut self, settings: &[Setting<'_>]) -> Option<Kind> {
        let setting = settings.iter().find(|setting| setting.key == "kind")?;
        match setting.value {
            "condition" => Some(Kind::Condition),
            "value" => Some(Kind::Value),
            "effect" => Some(Kind::Effect),
            "call" => Some(Kind::Call),
            other => {
                let message = format!("`{other}` is no kind of idiom");
                let help = Some("kinds are condition, value, effect and call");
                self.error(setting.line, setting.value_column, message, help);
                None
            }
        }
    }

    fn patterns(&mut self, kind: Kind, settings: &[Setting<'_>]) -> Vec<Pattern> {
        let mut patterns = Vec::new();
        for setting in settings.iter().filter(|setting| setting.key == "match") {
            let pattern = match kind {
                Kind::Effect => Pattern::statement(setting.value),
                Kind::Condition | Kind::Value | Kind::Call if patterns.is_empty() => {
                    Pattern::expression(setting.value)
                }
                Kind::Condition | Kind::Value | Kind::Call => {
                    Err("only effects may have several `match` lines".to_owned())
                }
            };
            match pattern {
                Ok(pattern) => patterns.push(pattern),
                Err(problem) => {
                    let message = format!("this pattern cannot be used: {problem}");
                    self.error(setting.line, setting.value_column, message, None);
                }
            }
        }
        patterns
    }

    fn template(
        &mut self,
        settings: &[Setting<'_>],
        key: &str,
        known: &[String],
    ) -> Option<Template> {
        let setting = settings.iter().find(|setting| setting.key == key)?;
        if setting.value.is_empty() {
            self.error(
                setting.line,
                setting.value_column,
                format!("`{key}` has no words"),
                None,
            );
            return None;
        }
        let template = match Template::parse(setting.value) {
            Ok(template) => template,
            Err(problem) => {
                self.error(setting.line, setting.value_column, problem, None);
                return None;
            }
        };
        for placeholder in template.placeholders() {
            if !known.iter().any(|name| name == placeholder) {
                let message = format!("no `match` line has a placeholder `${placeholder}`");
                self.error(setting.line, setting.value_column, message, None);
            }
        }
        Some(template)
    }

    fn guard(&mut self, setting: &Setting<'_>, known: &[String]) -> Option<Guard> {
        let parts = setting
            .value
            .split_once(" is ")
            .and_then(|(placeholder, requirement)| {
                let placeholder = placeholder.trim().strip_prefix('$')?;
                let requirement = requirement.trim();
                let (_, requirement) = Requirement::NAMES
                    .into_iter()
                    .find(|(name, _)| *name == requirement)?;
                Some((placeholder, requirement))
            });
        let Some((placeholder, requirement)) = parts else {
            let help =
                "write `$x is` and one of argument, state, literal, number, text and collection";
            self.error(
                setting.line,
                setting.value_column,
                "this requirement is not understood",
                Some(help),
            );
            return None;
        };
        if !known.iter().any(|name| name == placeholder) {
            let message = format!("no `match` line has a placeholder `${placeholder}`");
            self.error(setting.line, setting.value_column, message, None);
            return None;
        }
        Some(Guard {
            placeholder: placeholder.to_owned(),
            requirement,
        })
    }
}
