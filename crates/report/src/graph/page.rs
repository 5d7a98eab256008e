//! A state graph as an interactive page: the picture, and beside it details on what one points at.
//!
//! The page is one file that loads nothing and sends nothing. One can pan and zoom, search states
//! and transitions, follow transitions step by step, and step along the graph's traces. Without
//! JavaScript the picture is still shown.

use std::fmt::Write;

use super::escape::{JsonText, XmlText, escape_line, escape_lines};
use super::svg::{self, DrawingPlan};
use super::{Labels, StateGraph};

/// Options for the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageOptions {
    /// Labels of edges.
    pub labels: Labels,
}

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");
const BODY: &str = include_str!("page/body.html");

/// Renders the whole page.
pub fn write(graph: &StateGraph, options: &PageOptions) -> String {
    let plan = DrawingPlan::new(graph, options.labels);
    let title = escape_line(&graph.title);
    // The policy is a second defence behind the escaping: nothing is loaded, nothing is sent.
    let head = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n{STYLE}</style>\n</head>\n",
        title = XmlText(&title),
    );
    // The pieces are inserted one after the other, so that no text of a graph is searched for the
    // next placeholder.
    let mut page = head;
    let mut rest = BODY;
    let pieces = [
        ("{title}", XmlText(&title).to_string()),
        ("{picture}", svg::picture(graph, &plan)),
        ("{data}", graph_data(graph, &plan)),
        ("{script}", SCRIPT.to_owned()),
    ];
    for (placeholder, piece) in pieces {
        let (before, after) = rest.split_once(placeholder).unwrap_or((rest, ""));
        page += before;
        page += &piece;
        rest = after;
    }
    page + rest + "</html>\n"
}

/// Renders the data for the script, as JSON.
fn graph_data(graph: &StateGraph, plan: &DrawingPlan) -> String {
    let mut text = "{\"states\":[".to_owned();
    write_list(&mut text, &graph.states, |text, state| {
        let marks = svg::describe_marks(state.marks);
        let name = escape_line(&state.name);
        let details = escape_lines(&state.details);
        let _ = write!(
            text,
            "{{\"name\":{},\"details\":{},\"marks\":{},\"start\":{}}}",
            JsonText(&name),
            JsonText(&details),
            JsonText(&marks),
            state.marks.start
        );
    });
    text += "],\n\"transitions\":[";
    write_list(&mut text, &graph.transitions, |text, transition| {
        let count = graph.states.len();
        if transition.from < count && transition.to < count {
            let (from, to) = (transition.from, transition.to);
            let action = escape_line(&transition.text);
            let _ = write!(
                text,
                "{{\"from\":{from},\"to\":{to},\"text\":{}}}",
                JsonText(&action)
            );
        } else {
            *text += "null"
        }
    });
    text += "],\n\"edges\":[";
    write_list(&mut text, &plan.bundles, |text, bundle| {
        write_numbers(text, &bundle.transitions);
    });
    text += "],\n\"traces\":[";
    let traces = (graph.traces.iter()).filter(|trace| graph.is_path(&trace.transitions));
    write_list(&mut text, traces, |text, trace| {
        let name = escape_line(&trace.name);
        let _ = write!(text, "{{\"name\":{},\"transitions\":", JsonText(&name));
        write_numbers(text, &trace.transitions);
        text.push('}');
    });
    text + "]}"
}

/// Renders items with commas between them, each on its own line.
fn write_list<T>(
    text: &mut String,
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    for (index, item) in items.into_iter().enumerate() {
        *text += if index > 0 { ",\n" } else { "\n" };
        write(text, item);
    }
}

/// Renders numbers as a JSON list.
fn write_numbers(text: &mut String, numbers: &[usize]) {
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let _ = write!(text, "[{}]", numbers.join(","));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::toys;

    #[test]
    fn texts_cannot_write_markup_or_script() {
        for graph in toys::all() {
            let page = write(&graph, &PageOptions::default());
            assert_eq!(page.matches("<script").count(), 2, "{}", graph.title);
            assert_eq!(page.matches("</script").count(), 2);
            assert_eq!(page.matches("<svg").count(), 1);
            assert!(!page.contains("<!--") && !page.contains("<img"));
            assert!(!page.contains(['\0', '\u{202e}', '\u{1b}']));
        }
    }

    #[test]
    fn texts_that_look_like_our_places_stay_texts() {
        let mut graph = toys::traffic_light();
        graph.title = "{data}{script}{picture}".to_owned();
        let page = write(&graph, &PageOptions::default());
        assert!(page.contains("<title>{data}{script}{picture}</title>"));
        assert_eq!(page.matches("id=\"data\">{\"states\":[").count(), 1);
    }

    #[test]
    fn nothing_is_loaded_from_anywhere() {
        let page = write(&toys::marked(), &PageOptions::default());
        let page = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for marker in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(marker), "{marker}");
        }
    }
}
