//! "Did you mean": the action whose text is closest to one that does not exist.

use super::{ActionId, Catalog, TemplateId};

/// The number of templates compared exactly, after a quick comparison of all.
const SHORTLIST: usize = 8;

/// The maximum length of a compared text, in characters.
const MAX_COMPARED_CHARS: usize = 300;

/// An index of templates for finding the action closest to a text.
pub(crate) struct ClosestAction {
    /// The first action of each template and its text, with all numbers replaced by zero.
    samples: Vec<(ActionId, Vec<char>)>,
}

impl ClosestAction {
    /// Builds the index of a catalog.
    pub(crate) fn new(catalog: &Catalog) -> ClosestAction {
        let templates = (0..catalog.templates().len()).map(TemplateId);
        let samples = templates
            .filter(|template| catalog.count(*template) > 0)
            .map(|template| {
                let zeros = vec![0; catalog.sizes(template).len()];
                let action = catalog.action(template, &zeros);
                (action, comparable_chars(&catalog.text(action)))
            })
            .collect();
        ClosestAction { samples }
    }

    /// Finds an action with a text close to this one. It belongs to the template that is closest
    /// when numbers are ignored, so a slot that does not exist leads to one that does.
    pub(crate) fn find(&self, text: &str) -> Option<ActionId> {
        let text = comparable_chars(text);
        let mut shortlist: Vec<(usize, usize)> = Vec::new();
        for (position, (_, sample)) in self.samples.iter().enumerate() {
            let differing = differing_part(&text, sample);
            let better = |entry: &(usize, usize)| entry.0 <= differing;
            let rank = shortlist.partition_point(better);
            if rank < SHORTLIST {
                shortlist.truncate(SHORTLIST - 1);
                shortlist.insert(rank, (differing, position));
            }
        }
        let close = shortlist.iter().map(|(_, position)| {
            let (action, sample) = &self.samples[*position];
            (distance(&text, sample), sample.len(), *action)
        });
        let (distance, length, action) = close.min_by_key(|(distance, ..)| *distance)?;
        (distance * 2 <= length.max(text.len())).then_some(action)
    }
}

/// Rewrites a text for comparison: slots in their short form, every number as a single zero.
fn comparable_chars(text: &str) -> Vec<char> {
    let mut short = String::new();
    for (number, part) in text.split("self.p_").enumerate() {
        let access = part.split_once('[').filter(|_| number > 0);
        match access.and_then(|(name, rest)| Some((name, rest.split_once(']')?))) {
            Some((name, (index, rest))) if index.bytes().all(|byte| byte.is_ascii_digit()) => {
                short.extend([name, index, rest]);
            }
            _ => short.push_str(part),
        }
    }
    let mut characters: Vec<char> = Vec::new();
    for character in short.trim().chars().take(MAX_COMPARED_CHARS) {
        match character {
            '0'..='9' if characters.last() == Some(&'0') => {}
            '0'..='9' => characters.push('0'),
            other => characters.push(other),
        }
    }
    characters
}

/// Returns the length of the longer text without the common beginning and end.
fn differing_part(one: &[char], other: &[char]) -> usize {
    let same = |(a, b): &(&char, &char)| a == b;
    let shorter = one.len().min(other.len());
    let begin = one.iter().zip(other).take_while(same).count();
    let end = one.iter().rev().zip(other.iter().rev()).take_while(same);
    let end = end.count().min(shorter - begin);
    one.len().max(other.len()) - begin - end
}

/// Returns the Levenshtein distance of two texts: the number of characters to insert, delete or
/// replace.
///
/// ```
/// assert_eq!(testwright_core::text_distance("int0 = 1", "int1 = 10"), 2);
/// ```
pub fn text_distance(one: &str, other: &str) -> usize {
    let characters = |text: &str| text.chars().collect::<Vec<char>>();
    distance(&characters(one), &characters(other))
}

/// Computes the Levenshtein distance with one row of the table.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (above, a) in one.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (column, b) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toys;

    #[test]
    fn the_closest_template_is_suggested_if_any_is_close() {
        let catalog = toys::catalog(
            &[("int", 4), ("avl", 2)],
            &[
                "<int> := <[1..20]>",
                "<avl> := AVLTree()",
                "<avl>.insert(<int>)",
                "<avl>.inorder()",
            ],
        );
        let closest = ClosestAction::new(&catalog);
        let suggest = |text| closest.find(text).map(|action| catalog.text(action));
        for (text, expected) in [
            ("avl7.insert(int12)", Some("avl0.insert(int0)")),
            (
                "self.p_avl[1].isnert(self.p_int[3]) ",
                Some("avl0.insert(int0)"),
            ),
            ("avl1.in_order()", Some("avl0.inorder()")),
            ("avl1 = AVL()", Some("avl0 = AVLTree()")),
            ("int3 = 33", Some("int0 = 1")),
            ("print('something else altogether')", None),
            ("", None),
            ("self.p_[", None),
        ] {
            assert_eq!(suggest(text).as_deref(), expected, "for {text:?}");
        }
        assert_eq!(ClosestAction::new(&Catalog::default()).find("x"), None);
    }
}
