//! Sequence diagrams of a failing test, as Mermaid source and as SVG pictures.
//!
//! A diagram has one tester, who calls the other participants and gets answers or failures back.
//! Long diagrams are shortened in the middle, and special characters are escaped (trap 12: `;` and
//! `#` have a meaning in Mermaid).

mod svg;

use std::borrow::Cow;
use std::fmt::Write;

/// A sequence diagram: participants, the messages between them and the tester, and notes about the
/// failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SequenceDiagram {
    /// The labels of all participants except the tester.
    pub participants: Vec<String>,
    /// The messages, in order.
    pub messages: Vec<DiagramMessage>,
    /// Remarks that are drawn below the messages, across all participants.
    pub notes: Vec<String>,
}

/// One arrow between the tester and a participant. Participants are counted from 0, without the
/// tester.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what they are called")]
pub enum DiagramMessage {
    /// The tester calls a participant.
    Call { to: usize, text: String },
    /// A participant returns a value.
    Answer { from: usize, text: String },
    /// A participant fails with an error instead of returning.
    Failure { from: usize, text: String },
}

/// One row of the drawing, from top to bottom.
enum DiagramRow<'a> {
    Message(&'a DiagramMessage),
    /// A note across all participants.
    Note(Cow<'a, str>),
}

/// The largest number of messages that is drawn in full. More arrows would be unreadable.
const MAX_MESSAGES: usize = 40;
/// The number of messages that a shortened diagram shows at the beginning.
const FIRST_SHOWN: usize = 10;
/// The number of messages that a shortened diagram shows at the end.
const LAST_SHOWN: usize = 20;

impl SequenceDiagram {
    /// Returns the diagram as Mermaid source.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = String::from("sequenceDiagram\n    actor P0 as Tester\n");
        for (index, label) in self.participants.iter().enumerate() {
            // Participants are numbered, because one that is called "end" would break the diagram.
            push_line(
                &mut text,
                &format!("participant P{} as {}", index + 1, escape(label)),
            );
        }
        let everybody = match self.participants.len() {
            0 => "P0".to_owned(),
            count => format!("P0,P{count}"),
        };
        for row in self.rows() {
            push_line(
                &mut text,
                &match row {
                    DiagramRow::Message(message) => message.write(),
                    DiagramRow::Note(note) => format!("Note over {everybody}: {}", escape(&note)),
                },
            );
        }
        text
    }

    /// Returns the rows of the drawing. A note replaces the messages that are left out.
    fn rows(&self) -> Vec<DiagramRow<'_>> {
        let left_out = match self.messages.len() {
            count if count > MAX_MESSAGES => FIRST_SHOWN..count - LAST_SHOWN,
            count => count..count,
        };
        let mut rows = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            if index == left_out.start && !left_out.is_empty() {
                let note = format!("{} messages are left out", left_out.len());
                rows.push(DiagramRow::Note(note.into()));
            }
            if !left_out.contains(&index) {
                rows.push(DiagramRow::Message(message));
            }
        }
        rows.extend(self.notes.iter().map(|note| DiagramRow::Note(note.into())));
        rows
    }
}

impl SequenceDiagram {
    /// Returns the diagram as sentences, for readers who do not see pictures.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let name = |index: &usize| {
            self.participants
                .get(*index)
                .map_or("System", String::as_str)
        };
        let messages = self.messages.iter().map(|message| match message {
            DiagramMessage::Call { to, text } => format!("Tester to {}: {text}", name(to)),
            DiagramMessage::Answer { from, text } | DiagramMessage::Failure { from, text } => {
                format!("{} to Tester: {text}", name(from))
            }
        });
        messages.chain(self.notes.iter().cloned()).collect()
    }
}

impl DiagramMessage {
    /// Returns the message as one line of Mermaid source.
    fn write(&self) -> String {
        match self {
            DiagramMessage::Call { to, text } => format!("P0->>P{}: {}", to + 1, escape(text)),
            DiagramMessage::Answer { from, text } => {
                format!("P{}-->>P0: {}", from + 1, escape(text))
            }
            DiagramMessage::Failure { from, text } => {
                format!("P{}--xP0: {}", from + 1, escape(text))
            }
        }
    }
}

/// Appends an indented line.
fn push_line(text: &mut String, line: &str) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "    {line}");
}

/// Writes characters that have a meaning in Mermaid as entities.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '#' => escaped.push_str("#35;"),
            ';' => escaped.push_str("#59;"),
            '<' => escaped.push_str("#lt;"),
            '>' => escaped.push_str("#gt;"),
            '%' => escaped.push_str("#37;"),
            '\n' => escaped.push_str("<br/>"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn arrows_go_out_and_come_back() {
        let diagram = SequenceDiagram {
            participants: vec!["end (stack)".to_owned(), "tree1 (AVL tree)".to_owned()],
            messages: vec![
                DiagramMessage::Call {
                    to: 0,
                    text: "push 1".to_owned(),
                },
                DiagramMessage::Answer {
                    from: 0,
                    text: "nothing".to_owned(),
                },
                DiagramMessage::Call {
                    to: 1,
                    text: "find \"a;b\"".to_owned(),
                },
                DiagramMessage::Failure {
                    from: 1,
                    text: "error \"key error\"".to_owned(),
                },
            ],
            notes: vec!["Expected: no error is raised".to_owned()],
        };
        expect![[r##"
            sequenceDiagram
                actor P0 as Tester
                participant P1 as end (stack)
                participant P2 as tree1 (AVL tree)
                P0->>P1: push 1
                P1-->>P0: nothing
                P0->>P2: find "a#59;b"
                P2--xP0: error "key error"
                Note over P0,P2: Expected: no error is raised
        "##]]
        .assert_eq(&diagram.write());
    }

    #[test]
    fn trap_12_what_means_something_is_escaped() {
        assert_eq!(
            escape("#1; <b> 5%\nend"),
            "#35;1#59; #lt;b#gt; 5#37;<br/>end"
        );
    }

    #[test]
    fn long_stories_are_told_by_their_ends() {
        let messages = (1..=41).map(|number| DiagramMessage::Call {
            to: 0,
            text: format!("step {number}"),
        });
        let diagram = SequenceDiagram {
            participants: vec!["System".to_owned()],
            messages: messages.collect(),
            notes: vec![],
        };
        let text = diagram.write();
        assert_eq!(text.lines().count(), 3 + 10 + 1 + 20);
        assert!(text.contains(
            "step 10\n    Note over P0,P1: 11 messages are left out\n    P0->>P1: step 22\n"
        ));
        let short = SequenceDiagram {
            messages: diagram.messages[..40].to_vec(),
            ..diagram
        };
        assert_eq!(short.write().lines().count(), 3 + 40);
    }
}
