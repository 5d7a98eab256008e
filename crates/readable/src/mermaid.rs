//! Sequence diagrams of what a tester did (5.4), in the language of Mermaid and as pictures.

mod picture;

use std::borrow::Cow;
use std::fmt::Write;

/// Who talks to whom, in which order, and what was wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// The labels of all but the tester.
    pub participants: Vec<String>,
    /// What is said, in order.
    pub messages: Vec<Message>,
    /// What is remarked below, over everybody.
    pub notes: Vec<String>,
}

/// One arrow. Participants are counted from 0, without the tester.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are what they are called")]
pub enum Message {
    /// The tester asks for something.
    Call { to: usize, text: String },
    /// What comes back.
    Answer { from: usize, text: String },
    /// Nothing comes back but an error.
    Failure { from: usize, text: String },
}

/// What is drawn below each other.
enum Row<'a> {
    Message(&'a Message),
    /// Over everybody.
    Note(Cow<'a, str>),
}

/// More arrows than that are not drawn: nobody would follow them.
const MOST: usize = 40;
const FIRST: usize = 10;
const LAST: usize = 20;

impl Diagram {
    /// The text of the diagram.
    #[must_use]
    pub fn write(&self) -> String {
        let mut text = String::from("sequenceDiagram\n    actor P0 as Tester\n");
        for (index, label) in self.participants.iter().enumerate() {
            // Never by its own name: one that is called "end" would break the diagram.
            line(
                &mut text,
                &format!("participant P{} as {}", index + 1, escaped(label)),
            );
        }
        let everybody = match self.participants.len() {
            0 => "P0".to_owned(),
            count => format!("P0,P{count}"),
        };
        for row in self.rows() {
            line(
                &mut text,
                &match row {
                    Row::Message(message) => message.write(),
                    Row::Note(note) => format!("Note over {everybody}: {}", escaped(&note)),
                },
            );
        }
        text
    }

    /// What is drawn, from top to bottom.
    fn rows(&self) -> Vec<Row<'_>> {
        let left_out = match self.messages.len() {
            count if count > MOST => FIRST..count - LAST,
            count => count..count,
        };
        let mut rows = Vec::new();
        for (index, message) in self.messages.iter().enumerate() {
            if index == left_out.start && !left_out.is_empty() {
                let note = format!("{} messages are left out", left_out.len());
                rows.push(Row::Note(note.into()));
            }
            if !left_out.contains(&index) {
                rows.push(Row::Message(message));
            }
        }
        rows.extend(self.notes.iter().map(|note| Row::Note(note.into())));
        rows
    }
}

impl Diagram {
    /// The same as sentences, for those who have no pictures.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let name = |index: &usize| {
            self.participants
                .get(*index)
                .map_or("System", String::as_str)
        };
        let messages = self.messages.iter().map(|message| match message {
            Message::Call { to, text } => format!("Tester to {}: {text}", name(to)),
            Message::Answer { from, text } | Message::Failure { from, text } => {
                format!("{} to Tester: {text}", name(from))
            }
        });
        messages.chain(self.notes.iter().cloned()).collect()
    }
}

impl Message {
    fn write(&self) -> String {
        match self {
            Message::Call { to, text } => format!("P0->>P{}: {}", to + 1, escaped(text)),
            Message::Answer { from, text } => format!("P{}-->>P0: {}", from + 1, escaped(text)),
            Message::Failure { from, text } => format!("P{}--xP0: {}", from + 1, escaped(text)),
        }
    }
}

fn line(text: &mut String, line: &str) {
    // Writing into a text cannot fail.
    let _ = writeln!(text, "    {line}");
}

/// What has a meaning in diagrams is written as an entity.
fn escaped(text: &str) -> String {
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
        let diagram = Diagram {
            participants: vec!["end (stack)".to_owned(), "tree1 (AVL tree)".to_owned()],
            messages: vec![
                Message::Call {
                    to: 0,
                    text: "push 1".to_owned(),
                },
                Message::Answer {
                    from: 0,
                    text: "nothing".to_owned(),
                },
                Message::Call {
                    to: 1,
                    text: "find \"a;b\"".to_owned(),
                },
                Message::Failure {
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
            escaped("#1; <b> 5%\nend"),
            "#35;1#59; #lt;b#gt; 5#37;<br/>end"
        );
    }

    #[test]
    fn long_stories_are_told_by_their_ends() {
        let messages = (1..=41).map(|number| Message::Call {
            to: 0,
            text: format!("step {number}"),
        });
        let diagram = Diagram {
            participants: vec!["System".to_owned()],
            messages: messages.collect(),
            notes: vec![],
        };
        let text = diagram.write();
        assert_eq!(text.lines().count(), 3 + 10 + 1 + 20);
        assert!(text.contains(
            "step 10\n    Note over P0,P1: 11 messages are left out\n    P0->>P1: step 22\n"
        ));
        let short = Diagram {
            messages: diagram.messages[..40].to_vec(),
            ..diagram
        };
        assert_eq!(short.write().lines().count(), 3 + 40);
    }
}
