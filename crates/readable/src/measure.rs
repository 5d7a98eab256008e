//! How readable a text is, in figures that a build can keep from getting worse.
//!
//! A figure alone proves little: short labels "read easily". Together they tell a text for people from code in disguise.

mod leaks;
mod syllables;

use crate::block::{Document, Item, ItemKind};

pub use leaks::leaks;

/// What is counted in a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Sentences; entries of lists and steps count as such.
    pub sentences: usize,
    /// Places where a reader sees code.
    pub leaks: usize,
    /// Lines of text per line of source; none if there is no source.
    pub lines_per_line: Option<f64>,
    /// Reading ease after Flesch: more is easier.
    pub ease: f64,
    /// Words in the longest sentence.
    pub longest: usize,
    /// References to something that is defined elsewhere, per sentence.
    pub look_backs: f64,
    /// The most " of " in one sentence.
    pub of_depth: usize,
    /// Share of expressions that have words of their own, in percent; none if that is not known.
    pub coverage: Option<f64>,
    /// Share of sentences that can be traced to their source, in percent; none if there is no source.
    pub traceable: Option<f64>,
}

/// How many expressions were phrased, and how many of them by the phrase for anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phrased {
    /// All of them.
    pub all: usize,
    /// Those for which nothing better was known.
    pub by_fallback: usize,
}

/// The figures of an explanation; `lines` are those of its text that are not blank.
#[must_use]
pub fn document(document: &Document, lines: usize, phrased: Phrased) -> Figures {
    let sentences = document.sentences();
    let texts: Vec<&str> = sentences.iter().map(|(text, _)| text.as_str()).collect();
    let source_lines = lines_of_source(&document.source.text);
    let last = document.source.text.lines().count();
    let traced = sentences
        .iter()
        .filter(|(_, lines)| *lines.start() >= 1 && *lines.end() <= last.max(1))
        .count();
    let mut figures = of_sentences(&texts);
    figures.lines_per_line = ratio(lines, source_lines);
    figures.look_backs = per(look_backs(document, &texts), texts.len());
    figures.coverage = percent(
        phrased.all - phrased.by_fallback.min(phrased.all),
        phrased.all,
    );
    figures.traceable = percent(traced, texts.len());
    figures
}

/// The figures of a text that is there already: a feature, or an explanation that was written to a file.
#[must_use]
pub fn text(text: &str) -> Figures {
    let lines = text.lines().map(str::trim);
    let sentences: Vec<&str> = lines.filter_map(sentence_of).collect();
    of_sentences(&sentences)
}

/// What a line says, without what marks it as an entry, a heading or a step.
fn sentence_of(line: &str) -> Option<&str> {
    let is_mark = line.starts_with(['@', '|', '#']) || line.starts_with("```");
    if line.is_empty() || is_mark {
        return None;
    }
    let line = line.strip_prefix("- ").unwrap_or(line);
    let headings = [
        "Feature:",
        "Rule:",
        "Scenario:",
        "Scenario Outline:",
        "Examples:",
    ];
    let named = headings.iter().find_map(|word| line.strip_prefix(word));
    let said = named.unwrap_or(line).trim();
    (!said.is_empty()).then_some(said)
}

fn of_sentences(sentences: &[&str]) -> Figures {
    let words: Vec<usize> = sentences.iter().map(|one| words(one).count()).collect();
    let total: usize = words.iter().sum();
    let sounds: usize = sentences
        .iter()
        .flat_map(|one| self::words(one))
        .map(syllables::count)
        .sum();
    Figures {
        sentences: sentences.len(),
        leaks: sentences.iter().map(|one| leaks(one)).sum(),
        lines_per_line: None,
        ease: match total {
            0 => 100.0,
            _ => 206.835 - 1.015 * per(total, sentences.len()) - 84.6 * per(sounds, total),
        },
        longest: words.iter().copied().max().unwrap_or_default(),
        look_backs: 0.0,
        of_depth: sentences
            .iter()
            .map(|one| one.matches(" of ").count())
            .max()
            .unwrap_or_default(),
        coverage: None,
        traceable: None,
    }
}

fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
}

/// How often something is named that stands under "Here:".
fn look_backs(document: &Document, sentences: &[&str]) -> usize {
    let mut names: Vec<&str> = Vec::new();
    let mut pending: Vec<&Item> = document
        .sections
        .iter()
        .flat_map(|one| &one.items)
        .collect();
    while let Some(item) = pending.pop() {
        let below = item.parts();
        if matches!(&item.kind, ItemKind::Group { label, .. } if label == "Here:") {
            for (_, items) in &below {
                names.extend(items.iter().filter_map(defined));
            }
        }
        pending.extend(below.iter().flat_map(|(_, items)| items.iter()));
    }
    let mentions = |sentence: &&&str| -> usize {
        let named = names.iter().map(|name| sentence.matches(name).count());
        named.sum()
    };
    let all: usize = sentences.iter().map(|one| mentions(&one)).sum();
    // Each is named once where it is defined.
    all - names.len().min(all)
}

/// What an entry under "Here:" defines.
fn defined(item: &Item) -> Option<&str> {
    match &item.kind {
        ItemKind::Sentence(text) => text.split_once(" means ").map(|(name, _)| name),
        _ => None,
    }
}

/// Lines of a source that say something: neither blank nor comments.
fn lines_of_source(text: &str) -> usize {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().filter(says).count()
}

fn per(count: usize, of: usize) -> f64 {
    ratio(count, of).unwrap_or_default()
}

#[allow(
    clippy::cast_precision_loss,
    reason = "nobody counts that many sentences"
)]
fn ratio(count: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

fn percent(count: usize, of: usize) -> Option<f64> {
    ratio(count, of).map(|share| share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{NORMAL, Section, sample};

    #[test]
    fn q2_lines_of_text_per_line_of_source() {
        assert_eq!(lines_of_source("# a\n\nx = 1\n  # b\ny = 2\n"), 2);
        let figures = document(&sample(), 12, Phrased::default());
        assert_eq!(figures.lines_per_line, Some(2.0));
    }

    #[test]
    fn q3_reading_ease() {
        let figures = text("The cat sat on the mat.\n");
        // Six words of one syllable each.
        assert!(
            (figures.ease - (206.835 - 6.09 - 84.6)).abs() < 1e-9,
            "{}",
            figures.ease
        );
        assert!(text("Considerable institutional complexity obstructs.\n").ease < 0.0);
    }

    #[test]
    fn q4_longest_sentence_counts_words() {
        assert_eq!(text("One two - three.\n\nOne.\n").longest, 3);
    }

    #[test]
    fn q5_look_backs_count_names_defined_here() {
        let mut here = sample();
        let lines = 1..=1;
        here.sections.push(Section {
            heading: crate::block::Heading::Action("Action: x".to_owned()),
            items: vec![
                Item::group(
                    "Here",
                    vec![Item::sentence("the fee means much", lines.clone())],
                    lines.clone(),
                ),
                Item::sentence("The total goes up by the fee.", lines.clone()),
            ],
            lines,
            level: NORMAL,
        });
        let figures = document(&here, 1, Phrased::default());
        assert!((figures.look_backs - per(1, figures.sentences)).abs() < 1e-9);
        assert!(document(&sample(), 1, Phrased::default()).look_backs < 1e-9);
    }

    #[test]
    fn q6_of_depth() {
        assert_eq!(text("the end of the list of names\na of b\n").of_depth, 2);
    }

    #[test]
    fn q7_coverage() {
        let phrased = Phrased {
            all: 4,
            by_fallback: 1,
        };
        assert_eq!(document(&sample(), 1, phrased).coverage, Some(75.0));
        assert_eq!(document(&sample(), 1, Phrased::default()).coverage, None);
    }

    #[test]
    fn q9_sentences_have_lines() {
        assert_eq!(
            document(&sample(), 1, Phrased::default()).traceable,
            Some(100.0)
        );
    }

    #[test]
    fn steps_and_headings_are_sentences() {
        let feature =
            "@property\nFeature: Lists\n\n  Rule: r\n    Scenario: s\n      Given n\n      | a |\n";
        assert_eq!(text(feature).sentences, 4);
    }
}
