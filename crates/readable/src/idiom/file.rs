//! Parser of names and idioms files: sections with one setting per line (I7: mistakes are rejected
//! with their line).

use super::pattern::{IdiomPattern, PlaceholderGuard, Requirement};
use super::template::SentenceTemplate;
use super::{Idiom, IdiomKind, Vocabulary};

/// A mistake in a names and idioms file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdiomError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1 in characters.
    pub column: usize,
    /// The problem.
    pub message: String,
    /// A way to solve it.
    pub help: Option<String>,
}

/// A key and its value, with their positions.
struct IdiomSetting<'a> {
    line: usize,
    key: &'a str,
    key_column: usize,
    value: &'a str,
    value_column: usize,
}

/// A section that is being read.
enum IdiomSection<'a> {
    /// The `[names]` section.
    Names,
    /// An `[idiom title]` section, with its line and its settings.
    Idiom {
        line: usize,
        settings: Vec<IdiomSetting<'a>>,
    },
    /// A section that was rejected; its lines are skipped, so that they cause no further errors.
    Unknown,
}

/// The keys of an idiom section.
const IDIOM_KEYS: [&str; 7] = ["kind", "match", "say", "not", "past", "past-not", "where"];

impl Vocabulary {
    /// Adds the names and idioms of a file. Files that were added earlier are consulted first.
    ///
    /// # Errors
    ///
    /// Returns everything that is wrong with the file (I7). Nothing of it is added then.
    pub fn add(&mut self, text: &str) -> Result<(), Vec<IdiomError>> {
        let mut file = IdiomFileParser::default();
        let mut section = None;
        // A file may begin with a byte order mark.
        for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            file.parse_line(index + 1, line, &mut section);
        }
        file.finish_section(section);
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

/// The content of a file as far as it has been parsed, and the mistakes found.
#[derive(Default)]
struct IdiomFileParser {
    /// The names and their words.
    names: Vec<(String, String)>,
    /// The complete idioms.
    idioms: Vec<Idiom>,
    /// The mistakes.
    errors: Vec<IdiomError>,
}

impl IdiomFileParser {
    /// Records a mistake.
    fn add_error(
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

    /// Parses one line: a section title, a setting, a comment or a blank line.
    fn parse_line<'a>(
        &mut self,
        number: usize,
        line: &'a str,
        section: &mut Option<IdiomSection<'a>>,
    ) {
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
            let opened = self.parse_section(number, column, title);
            let closed = section.replace(opened);
            self.finish_section(closed);
            return;
        }
        let Some((key, value)) = line.split_once('=') else {
            self.add_error(
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
        let setting = IdiomSetting {
            line: number,
            key: key.trim(),
            key_column: column,
            value: value.trim(),
            value_column,
        };
        match section {
            None => self.add_error(
                number,
                column,
                "a setting outside of any section",
                Some("begin with `[names]` or `[idiom title]`"),
            ),
            Some(IdiomSection::Unknown) => {}
            Some(IdiomSection::Names) => self.add_name(&setting),
            Some(IdiomSection::Idiom { settings, .. }) => settings.push(setting),
        }
    }

    /// Parses the title of a section.
    fn parse_section<'a>(&mut self, line: usize, column: usize, title: &str) -> IdiomSection<'a> {
        let Some(title) = title.strip_suffix(']') else {
            self.add_error(
                line,
                column,
                "this section's title is never closed",
                Some("close it with `]`"),
            );
            return IdiomSection::Unknown;
        };
        match title.trim() {
            "names" => IdiomSection::Names,
            title
                if title
                    .strip_prefix("idiom")
                    .is_some_and(|title| title.starts_with([' ', '\t'])) =>
            {
                IdiomSection::Idiom {
                    line,
                    settings: Vec::new(),
                }
            }
            "idiom" => {
                self.add_error(
                    line,
                    column,
                    "this idiom has no title",
                    Some("write `[idiom any title]`"),
                );
                IdiomSection::Unknown
            }
            other => {
                let message = format!("unknown section `[{other}]`");
                self.add_error(
                    line,
                    column,
                    message,
                    Some("sections are `[names]` and `[idiom title]`"),
                );
                IdiomSection::Unknown
            }
        }
    }

    /// Checks and adds an entry of the `[names]` section.
    fn add_name(&mut self, setting: &IdiomSetting<'_>) {
        let is_identifier = setting
            .key
            .chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
            && !setting.key.starts_with(|first: char| first.is_numeric())
            && !setting.key.is_empty();
        if !is_identifier {
            let message = format!("`{}` is not an identifier", setting.key);
            self.add_error(
                setting.line,
                setting.key_column,
                message,
                Some("write `identifier = words`"),
            );
        } else if setting.value.is_empty() {
            self.add_error(
                setting.line,
                setting.value_column,
                "there are no words for this name",
                None,
            );
        } else if self.names.iter().any(|(name, _)| name == setting.key) {
            let message = format!("`{}` has words already", setting.key);
            self.add_error(
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

    /// Builds the idiom of a section that has ended.
    fn finish_section(&mut self, section: Option<IdiomSection<'_>>) {
        if let Some(IdiomSection::Idiom { line, settings }) = section
            && let Some(idiom) = self.build_idiom(line, &settings)
        {
            self.idioms.push(idiom);
        }
    }

    /// Builds an idiom from its settings. Returns nothing if there are mistakes, which are
    /// recorded.
    fn build_idiom(&mut self, line: usize, settings: &[IdiomSetting<'_>]) -> Option<Idiom> {
        let errors = self.errors.len();
        for setting in settings
            .iter()
            .filter(|setting| !IDIOM_KEYS.contains(&setting.key))
        {
            let message = format!("unknown key `{}`", setting.key);
            let help = format!("keys are {}", IDIOM_KEYS.join(", "));
            self.add_error(setting.line, setting.key_column, message, Some(&help));
        }
        for key in ["kind", "say", "not", "past", "past-not"] {
            if let Some(repeated) = settings.iter().filter(|setting| setting.key == key).nth(1) {
                let message = format!("`{key}` is given twice");
                self.add_error(repeated.line, repeated.key_column, message, None);
            }
        }
        for key in ["kind", "match", "say"] {
            if !settings.iter().any(|setting| setting.key == key) {
                self.add_error(line, 1, format!("this idiom has no `{key}`"), None);
            }
        }
        let kind = self.parse_kind(settings)?;
        let patterns = self.parse_patterns(kind, settings);
        let known: Vec<String> = patterns
            .iter()
            .flat_map(IdiomPattern::placeholders)
            .collect();
        let guards = settings
            .iter()
            .filter(|setting| setting.key == "where")
            .filter_map(|setting| self.parse_guard(setting, &known))
            .collect();
        let say = self.parse_template(settings, "say", &known);
        let not = self.parse_template(settings, "not", &known);
        let past = self.parse_template(settings, "past", &known);
        let past_not = self.parse_template(settings, "past-not", &known);
        if kind != IdiomKind::Condition {
            for setting in settings
                .iter()
                .filter(|setting| ["not", "past", "past-not"].contains(&setting.key))
            {
                let message = format!("`{}` is for conditions only", setting.key);
                self.add_error(setting.line, setting.key_column, message, None);
            }
        }
        let say = say?;
        let targets = patterns.iter().filter_map(IdiomPattern::target).collect();
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

    /// Parses the `kind` of an idiom.
    fn parse_kind(&mut self, settings: &[IdiomSetting<'_>]) -> Option<IdiomKind> {
        let setting = settings.iter().find(|setting| setting.key == "kind")?;
        match setting.value {
            "condition" => Some(IdiomKind::Condition),
            "value" => Some(IdiomKind::Value),
            "effect" => Some(IdiomKind::Effect),
            "call" => Some(IdiomKind::Call),
            other => {
                let message = format!("`{other}` is no kind of idiom");
                let help = Some("kinds are condition, value, effect and call");
                self.add_error(setting.line, setting.value_column, message, help);
                None
            }
        }
    }

    /// Parses the `match` lines. Only effects may have several.
    fn parse_patterns(
        &mut self,
        kind: IdiomKind,
        settings: &[IdiomSetting<'_>],
    ) -> Vec<IdiomPattern> {
        let mut patterns = Vec::new();
        for setting in settings.iter().filter(|setting| setting.key == "match") {
            let pattern = match kind {
                IdiomKind::Effect => IdiomPattern::parse_statement(setting.value),
                IdiomKind::Condition | IdiomKind::Value | IdiomKind::Call
                    if patterns.is_empty() =>
                {
                    IdiomPattern::parse_expression(setting.value)
                }
                IdiomKind::Condition | IdiomKind::Value | IdiomKind::Call => {
                    Err("only effects may have several `match` lines".to_owned())
                }
            };
            match pattern {
                Ok(pattern) => patterns.push(pattern),
                Err(problem) => {
                    let message = format!("this pattern cannot be used: {problem}");
                    self.add_error(setting.line, setting.value_column, message, None);
                }
            }
        }
        patterns
    }

    /// Parses a sentence, and checks that its placeholders occur in a `match` line.
    fn parse_template(
        &mut self,
        settings: &[IdiomSetting<'_>],
        key: &str,
        known: &[String],
    ) -> Option<SentenceTemplate> {
        let setting = settings.iter().find(|setting| setting.key == key)?;
        if setting.value.is_empty() {
            self.add_error(
                setting.line,
                setting.value_column,
                format!("`{key}` has no words"),
                None,
            );
            return None;
        }
        let template = match SentenceTemplate::parse(setting.value) {
            Ok(template) => template,
            Err(problem) => {
                self.add_error(setting.line, setting.value_column, problem, None);
                return None;
            }
        };
        for placeholder in template.placeholders() {
            if !known.iter().any(|name| name == placeholder) {
                let message = format!("no `match` line has a placeholder `${placeholder}`");
                self.add_error(setting.line, setting.value_column, message, None);
            }
        }
        Some(template)
    }

    /// Parses a `where` line.
    fn parse_guard(
        &mut self,
        setting: &IdiomSetting<'_>,
        known: &[String],
    ) -> Option<PlaceholderGuard> {
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
            self.add_error(
                setting.line,
                setting.value_column,
                "this requirement is not understood",
                Some(help),
            );
            return None;
        };
        if !known.iter().any(|name| name == placeholder) {
            let message = format!("no `match` line has a placeholder `${placeholder}`");
            self.add_error(setting.line, setting.value_column, message, None);
            return None;
        }
        Some(PlaceholderGuard {
            placeholder: placeholder.to_owned(),
            requirement,
        })
    }
}
