//! Readability figures of a text, which a build can keep from getting worse (rules Q1 to Q7
//! of `docs/readable-rules.md#readability`).
//!
//! One figure alone proves little, since short labels are always easy to read. Together they tell a
//! text for people from code in disguise.

mod leaks;
mod syllables;

use crate::block::{Document, DocumentItem, ItemKind};

pub use leaks::count_leaks;

/// The readability figures of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadabilityFigures {
    /// The number of sentences; list entries and steps count as such.
    pub sentences: usize,
    /// The number of places where a reader sees code (Q1).
    pub leaks: usize,
    /// Lines of text per line of source (Q2); nothing without a source.
    pub lines_per_line: Option<f64>,
    /// Reading ease after Flesch (Q3): more is easier.
    pub ease: f64,
    /// The number of words in the longest sentence (Q4).
    pub longest: usize,
    /// References to something that is defined elsewhere, per sentence (Q5).
    pub look_backs: f64,
    /// The most occurrences of " of " in one sentence (Q6).
    pub of_depth: usize,
    /// The percentage of expressions with a phrase of their own (Q7); nothing if it is not known.
    pub coverage: Option<f64>,
    /// The percentage of sentences that can be traced to their source (Q9); nothing without a
    /// source.
    pub traceable: Option<f64>,
}

/// The number of expressions that were phrased, and how many of them only a general rule could
/// phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PhraseCoverage {
    /// The number of all phrased expressions.
    pub all: usize,
    /// The number of expressions that only a general rule could phrase.
    pub by_fallback: usize,
}

/// Measures an explanation. `lines` is the number of its text lines that are not blank.
#[must_use]
pub fn document(document: &Document, lines: usize, phrased: PhraseCoverage) -> ReadabilityFigures {
    let sentences = document.sentences();
    let texts: Vec<&str> = sentences.iter().map(|(text, _)| text.as_str()).collect();
    let source_lines = count_source_lines(&document.source.text);
    let last = document.source.text.lines().count();
    let traced = sentences
        .iter()
        .filter(|(_, lines)| *lines.start() >= 1 && *lines.end() <= last.max(1))
        .count();
    let mut figures = measure_sentences(&texts);
    figures.lines_per_line = ratio(lines, source_lines);
    figures.look_backs = ratio_or_zero(look_backs(document, &texts), texts.len());
    figures.coverage = percent(
        phrased.all - phrased.by_fallback.min(phrased.all),
        phrased.all,
    );
    figures.traceable = percent(traced, texts.len());
    figures
}

/// Measures a text that already exists: a feature, or an explanation in a file.
#[must_use]
pub fn text(text: &str) -> ReadabilityFigures {
    let lines = text.lines().map(str::trim);
    let sentences: Vec<&str> = lines.filter_map(strip_markup).collect();
    measure_sentences(&sentences)
}

/// Returns the sentence of a line without list marks, headings and keywords, or nothing if the line
/// has none.
fn strip_markup(line: &str) -> Option<&str> {
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
    let sentence = named.unwrap_or(line).trim();
    (!sentence.is_empty()).then_some(sentence)
}

/// Computes all figures that need nothing but the sentences.
fn measure_sentences(sentences: &[&str]) -> ReadabilityFigures {
    let words: Vec<usize> = sentences.iter().map(|one| words(one).count()).collect();
    let total: usize = words.iter().sum();
    let sounds: usize = sentences
        .iter()
        .flat_map(|one| self::words(one))
        .map(syllables::count)
        .sum();
    ReadabilityFigures {
        sentences: sentences.len(),
        leaks: sentences.iter().map(|one| count_leaks(one)).sum(),
        lines_per_line: None,
        ease: match total {
            0 => 100.0,
            _ => {
                206.835
                    - 1.015 * ratio_or_zero(total, sentences.len())
                    - 84.6 * ratio_or_zero(sounds, total)
            }
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

/// Iterates over the words of a sentence.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
}

/// Counts references to names that are defined under "Here:".
fn look_backs(document: &Document, sentences: &[&str]) -> usize {
    let mut names: Vec<&str> = Vec::new();
    let mut pending: Vec<&DocumentItem> = document
        .sections
        .iter()
        .flat_map(|one| &one.items)
        .collect();
    while let Some(item) = pending.pop() {
        let below = item.parts();
        if matches!(&item.kind, ItemKind::Group { label, .. } if label == "Here:") {
            for (_, items) in &below {
                names.extend(items.iter().filter_map(defined_name));
            }
        }
        pending.extend(below.iter().flat_map(|(_, items)| items.iter()));
    }
    let mentions = |sentence: &&&str| -> usize {
        let named = names.iter().map(|name| sentence.matches(name).count());
        named.sum()
    };
    let all: usize = sentences.iter().map(|one| mentions(&one)).sum();
    // The definition itself mentions each name once.
    all - names.len().min(all)
}

/// Returns the name that an entry under "Here:" defines.
fn defined_name(item: &DocumentItem) -> Option<&str> {
    match &item.kind {
        ItemKind::Sentence(text) => text.split_once(" means ").map(|(name, _)| name),
        _ => None,
    }
}

/// Counts the lines of a source that are neither blank nor comments.
fn count_source_lines(text: &str) -> usize {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text.lines().filter(says).count()
}

/// Divides two counts; nothing divided by nothing is zero.
fn ratio_or_zero(count: usize, of: usize) -> f64 {
    ratio(count, of).unwrap_or_default()
}

/// Divides two counts, or returns nothing for a zero divisor.
#[allow(clippy::cast_precision_loss, reason = "counts of sentences are small")]
fn ratio(count: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| count as f64 / of as f64)
}

/// Returns the percentage of two counts.
fn percent(count: usize, of: usize) -> Option<f64> {
    ratio(count, of).map(|share| share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{DocumentSection, NORMAL, sample_document};

    #[test]
    fn q2_lines_of_text_per_line_of_source() {
        assert_eq!(count_source_lines("# a\n\nx = 1\n  # b\ny = 2\n"), 2);
        let figures = document(&sample_document(), 12, PhraseCoverage::default());
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
        let mut here = sample_document();
        let lines = 1..=1;
        here.sections.push(DocumentSection {
            heading: crate::block::Heading::Action("Action: x".to_owned()),
            items: vec![
                DocumentItem::group(
                    "Here",
                    vec![DocumentItem::sentence("the fee means much", lines.clone())],
                    lines.clone(),
                ),
                DocumentItem::sentence("The total goes up by the fee.", lines.clone()),
            ],
            lines,
            level: NORMAL,
        });
        let figures = document(&here, 1, PhraseCoverage::default());
        assert!((figures.look_backs - ratio_or_zero(1, figures.sentences)).abs() < 1e-9);
        assert!(document(&sample_document(), 1, PhraseCoverage::default()).look_backs < 1e-9);
    }

    #[test]
    fn q6_of_depth() {
        assert_eq!(text("the end of the list of names\na of b\n").of_depth, 2);
    }

    #[test]
    fn q7_coverage() {
        let phrased = PhraseCoverage {
            all: 4,
            by_fallback: 1,
        };
        assert_eq!(
            document(&sample_document(), 1, phrased).coverage,
            Some(75.0)
        );
        assert_eq!(
            document(&sample_document(), 1, PhraseCoverage::default()).coverage,
            None
        );
    }

    #[test]
    fn q9_sentences_have_lines() {
        assert_eq!(
            document(&sample_document(), 1, PhraseCoverage::default()).traceable,
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
