//! Our DOT text follows the language's grammar, and has the intended content.

use std::iter::Peekable;
use std::str::Chars;

use testwright_report::graph::{GraphState, GraphTransition, Labels, StateGraph, StateMarks, dot};

/// A token: a name with or without quotation marks, or a symbol.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Id(String),
    Sign(String),
}

fn is_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Splits a text into tokens, by the rules of <https://graphviz.org/doc/info/lang.html>.
fn tokens(text: &str) -> Vec<Token> {
    let mut letters = text.chars().peekable();
    let mut tokens = Vec::new();
    while let Some(&letter) = letters.peek() {
        if letter.is_whitespace() {
            letters.next();
        } else if letter == '/' {
            letters.find(|letter| *letter == '\n');
        } else if letter == '"' {
            letters.next();
            tokens.push(Token::Id(quoted(&mut letters)));
        } else if is_letter(letter) || letter == '.' {
            tokens.push(Token::Id(bare(&mut letters)));
        } else if letter == '-' {
            letters.next();
            match letters.peek() {
                Some('>') => {
                    letters.next();
                    tokens.push(Token::Sign("->".to_owned()));
                }
                _ => tokens.push(Token::Id(format!("-{}", bare(&mut letters)))),
            }
        } else {
            assert!("{}[]=,;".contains(letter), "{letter:?} in {text}");
            tokens.push(Token::Sign(letter.to_string()));
            letters.next();
        }
    }
    tokens
}

/// Reads a name without quotation marks: an identifier or a number, not a keyword.
fn bare(letters: &mut Peekable<Chars<'_>>) -> String {
    let mut name = String::new();
    while let Some(letter) = letters.next_if(|letter| is_letter(*letter) || *letter == '.') {
        name.push(letter);
    }
    let is_number = name.parse::<f64>().is_ok() && !name.contains(['e', 'E']);
    let is_identifier =
        !name.starts_with(|letter: char| letter.is_ascii_digit()) && !name.contains('.');
    assert!(is_number || is_identifier, "{name}");
    name
}

/// Reads a text between quotation marks, as Graphviz would show it.
fn quoted(letters: &mut Peekable<Chars<'_>>) -> String {
    let mut text = String::new();
    loop {
        match letters.next().expect("quotation marks are closed") {
            '"' => return text.replace("&amp;", "&"),
            '\\' => match letters.next().expect("something is escaped") {
                'n' => text.push('\n'),
                letter @ ('"' | '\\') => text.push(letter),
                letter => panic!("\\{letter} means something else to Graphviz"),
            },
            letter => {
                assert!(!letter.is_control());
                text.push(letter);
            }
        }
    }
}

/// A statement: a node or an edge, with its attributes.
type Statement = (Vec<String>, Vec<(String, String)>);

fn parse(text: &str) -> (String, Vec<Statement>) {
    let mut tokens = tokens(text).into_iter().peekable();
    let mut next = || tokens.next();
    let id = |token: Option<Token>| match token {
        Some(Token::Id(id)) => id,
        other => panic!("{other:?} instead of a name"),
    };
    let sign = |sign: &str| Some(Token::Sign(sign.to_owned()));
    assert_eq!(id(next()), "digraph");
    let title = id(next());
    assert_eq!(next(), sign("{"));
    let mut statements = Vec::new();
    loop {
        let token = next();
        if token == sign("}") {
            break;
        }
        let mut ends = vec![id(token)];
        let mut token = next();
        if token == sign("->") {
            ends.push(id(next()));
            token = next();
        }
        assert_eq!(token, sign("["));
        let mut attributes = Vec::new();
        loop {
            let name = id(next());
            assert_eq!(next(), sign("="));
            attributes.push((name, id(next())));
            let token = next();
            if token == sign("]") {
                break;
            }
            assert_eq!(token, sign(","));
        }
        statements.push((ends, attributes));
    }
    assert_eq!(next(), None);
    (title, statements)
}

fn graph(texts: &[&str]) -> StateGraph {
    StateGraph {
        title: texts[0].to_owned(),
        states: (texts.iter())
            .map(|text| GraphState {
                name: text.to_string(),
                details: format!("{text}\n{text}"),
                marks: StateMarks::default(),
            })
            .collect(),
        transitions: (0..texts.len())
            .map(|from| GraphTransition {
                from,
                to: (from + 1) % texts.len(),
                name: texts[from].to_owned(),
                text: texts[from].to_owned(),
            })
            .collect(),
        traces: Vec::new(),
    }
}

#[test]
fn labels_survive_quoting() {
    let texts = [
        "plain",
        "12",
        "-0.5",
        "node",
        "two words",
        "\"quoted\"",
        "back\\slash\\",
        "\\N \\l",
        "a\nb",
        "",
        "ä名😀",
        "&lt;b&gt;",
        "<b>html</b>",
        "] } -> // /* ; , =",
        "{'user': \"x\"}",
        "'it''s'",
    ];
    let graph = graph(&texts);
    let (title, statements) = parse(&dot::write(&graph, &dot::DotOptions::default()));
    assert_eq!(title, graph.title);
    assert_eq!(statements.len(), 2 * texts.len());
    for (state, (ends, attributes)) in graph.states.iter().zip(&statements) {
        assert_eq!(ends.join(" -> "), state.name);
        let names: Vec<&str> = attributes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["style", "shape", "peripheries", "fillcolor", "tooltip"]
        );
        assert_eq!(attributes[4].1, state.details);
    }
    for (transition, (ends, attributes)) in graph.transitions.iter().zip(&statements[texts.len()..])
    {
        let name = |state: usize| graph.states[state].name.clone();
        assert_eq!(ends[..], [name(transition.from), name(transition.to)]);
        let attribute = |name: &str| (name.to_owned(), transition.text.clone());
        assert_eq!(attributes[..], [attribute("label"), attribute("tooltip")]);
    }
}

#[test]
fn control_characters_are_spelled_out() {
    let graph = graph(&["a\u{1b}b", "\0\r\t\u{202e}"]);
    let options = dot::DotOptions {
        labels: Labels::Action,
        state_tooltips: false,
        transition_tooltips: false,
    };
    let (title, statements) = parse(&dot::write(&graph, &options));
    assert_eq!(title, "a\\u{1b}b");
    assert_eq!(statements[1].0[0], "\\u{0}\\r\\t\\u{202e}");
}

#[test]
fn nothing_is_a_graph() {
    let text = dot::write(&StateGraph::default(), &dot::DotOptions::default());
    assert_eq!(
        text,
        "digraph \"\" {\n\n  // Nodes\n\n  // Transitions\n}\n"
    );
    assert_eq!(parse(&text), (String::new(), Vec::new()));
}
