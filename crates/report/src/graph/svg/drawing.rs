//! The elements of the picture.

use std::collections::BTreeSet;

use super::marks::{self, Mark};
use super::shapes::{ellipse, head, line, number};
use super::{HALF_HEIGHT, LOOP, Plan, START_ARROW, words};
use crate::graph::bundles::{Bundle, LINE};
use crate::graph::escape::{Xml, lines, one_line};
use crate::graph::layout::{ARROW, Node, Point, Route};
use crate::graph::text_width::{shorten, text_width};
use crate::graph::{Marks, StateGraph};

/// Around everything.
pub(super) const MARGIN: f64 = 16.0;
/// For the headline and the line below it.
const HEADLINE: f64 = 44.0;
/// A line of the legend.
const LEGEND_LINE: f64 = 28.0;
/// How wide a picture is at least, so that the legend need not be a column.
const LEAST_WIDTH: f64 = 460.0;

const STYLE: &str = include_str!("style.css");

/// The whole document.
pub(super) fn document(graph: &StateGraph, plan: &Plan, trace: Option<usize>) -> String {
    let bold = Bold::new(graph, trace);
    let (mut picture, width, height) = match &plan.layout {
        Some(layout) => {
            let mut picture = format!(
                "<g transform=\"translate({MARGIN} {})\">\n",
                MARGIN + HEADLINE
            );
            edges(&mut picture, graph, plan, &bold);
            states(&mut picture, graph, plan, &bold);
            picture += "</g>\n";
            (picture, layout.width, layout.height)
        }
        None => too_large(),
    };
    let size = quantities(graph);
    let title = shorten(&one_line(&graph.title), 15.0, 560.0);
    // Bold letters are wider than the table says.
    let width = width
        .max(1.15 * text_width(&title, 15.0))
        .max(text_width(&size, 11.0));
    let (legend, legend_size) = match &plan.layout {
        Some(_) => legend(graph, width.max(LEAST_WIDTH), MARGIN + HEADLINE + height),
        None => (String::new(), (0.0, 0.0)),
    };
    picture += &legend;
    let (width, height) = (
        width.max(legend_size.0) + 2.0 * MARGIN,
        height + legend_size.1 + HEADLINE + 2.0 * MARGIN,
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"state-graph\" role=\"img\" \
         aria-label=\"{label}\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n\
         <style>\n{STYLE}</style>\n<rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n\
         <text class=\"headline\" x=\"{MARGIN}\" y=\"{headline}\">{title}</text>\n\
         <text class=\"size\" x=\"{MARGIN}\" y=\"{below}\">{size}</text>\n{picture}</svg>\n",
        label = Xml(&format!("{}: {size}", one_line(&graph.title))),
        w = number(width.ceil()),
        h = number(height.ceil()),
        title = Xml(&title),
        headline = MARGIN + 14.0,
        below = MARGIN + 32.0,
    )
}

/// What is drawn bold.
struct Bold {
    transitions: BTreeSet<usize>,
    states: BTreeSet<usize>,
}

impl Bold {
    fn new(graph: &StateGraph, trace: Option<usize>) -> Bold {
        let transitions: BTreeSet<usize> = trace
            .and_then(|trace| graph.traces.get(trace))
            .filter(|trace| graph.is_path(&trace.transitions))
            .map(|trace| trace.transitions.iter().copied().collect())
            .unwrap_or_default();
        let states = (transitions.iter())
            .filter_map(|&transition| graph.transitions.get(transition))
            .flat_map(|transition| [transition.from, transition.to])
            .collect();
        Bold {
            transitions,
            states,
        }
    }
}

/// What is to be seen instead of a graph that cannot be drawn, and how large it is.
fn too_large() -> (String, f64, f64) {
    let sentences = [
        "This graph is too large to be drawn: it has too many states, or too many long edges.",
        "Explore less of it, or let fewer things make a difference between states.",
    ];
    let mut text = String::new();
    let (mut width, mut y) = (0.0_f64, MARGIN + HEADLINE);
    for sentence in sentences {
        y += 20.0;
        width = width.max(text_width(sentence, 13.0));
        text += &format!("<text class=\"message\" x=\"{MARGIN}\" y=\"{y}\">{sentence}</text>\n");
    }
    (text, width, y - MARGIN - HEADLINE)
}

/// How much there is of everything.
fn quantities(graph: &StateGraph) -> String {
    let quantity = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    format!(
        "{}, {}",
        quantity(graph.states.len(), "state"),
        quantity(graph.sound_transitions().count(), "transition")
    )
}

fn edges(picture: &mut String, graph: &StateGraph, plan: &Plan, bold: &Bold) {
    *picture += "<g class=\"edges\">\n";
    for (place, bundle) in plan.bundles.iter().enumerate() {
        let is_bold = (bundle.transitions.iter()).any(|number| bold.transitions.contains(number));
        let (route, is_loop) = match plan.edge_of[place] {
            Some(edge) => (
                plan.layout
                    .as_ref()
                    .map(|layout| layout.routes[edge].clone()),
                false,
            ),
            None => (plan.loop_of(bundle), true),
        };
        let Some(route) = route else {
            continue;
        };
        let class = match (is_loop, is_bold) {
            (false, false) => "edge",
            (false, true) => "edge on",
            (true, false) => "edge loop",
            (true, true) => "edge loop on",
        };
        let line = line(&route);
        *picture += &format!(
            "<g class=\"{class}\" data-edge=\"{place}\"><title>{}</title>\
             <path class=\"touch\" d=\"{line}\"/><path class=\"line\" d=\"{line}\"/>\
             <path class=\"head\" d=\"{}\"/>",
            Xml(&titles(graph, bundle)),
            head(&route),
        );
        if let (Some(middle), Some((width, height))) = (route.label, bundle.label_size()) {
            *picture += &label(bundle, middle, width, height, is_loop);
        }
        *picture += "</g>\n";
    }
    *picture += "</g>\n";
}

/// All transitions of a bundle, and where it leads.
fn titles(graph: &StateGraph, bundle: &Bundle) -> String {
    let mut title = format!(
        "{} → {}",
        one_line(&graph.states[bundle.from].name),
        one_line(&graph.states[bundle.to].name)
    );
    for &number in &bundle.transitions {
        title += "\n";
        title += &one_line(&graph.transitions[number].text);
    }
    title
}

fn label(bundle: &Bundle, middle: Point, width: f64, height: f64, is_loop: bool) -> String {
    let mut text = format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><text>",
        number(middle.x - width / 2.0),
        number(middle.y - height / 2.0),
        number(width),
        number(height)
    );
    let x = if is_loop {
        middle.x - width / 2.0 + 3.0
    } else {
        middle.x
    };
    let top = middle.y - bundle.lines.len() as f64 * LINE / 2.0;
    for (place, line) in bundle.lines.iter().enumerate() {
        text += &format!(
            "<tspan x=\"{}\" y=\"{}\">{}</tspan>",
            number(x),
            number(top + place as f64 * LINE + 10.7),
            Xml(line)
        );
    }
    text + "</text>"
}

fn states(picture: &mut String, graph: &StateGraph, plan: &Plan, bold: &Bold) {
    let Some(layout) = &plan.layout else {
        return;
    };
    *picture += "<g class=\"states\">\n";
    for (place, state) in graph.states.iter().enumerate() {
        let words = words(state.marks);
        let mut title = one_line(&state.name);
        if !state.details.is_empty() {
            title += &format!("\n{}", lines(&state.details));
        }
        if !words.is_empty() {
            title += &format!("\n({words})");
        }
        let on = if bold.states.contains(&place) {
            " on"
        } else {
            ""
        };
        *picture += &format!(
            "<g class=\"state{}{on}\" data-state=\"{place}\"><title>{}</title>{}</g>\n",
            classes(state.marks),
            Xml(&title),
            ellipse(
                layout.centres[place],
                &plan.nodes[place],
                state.marks,
                &plan.names[place]
            ),
        );
    }
    *picture += "</g>\n";
}

/// The classes for all marks, each after a space.
fn classes(marks: Marks) -> String {
    Mark::of(marks)
        .map(|mark| format!(" {}", mark.class()))
        .collect()
}

/// The explanation of the marks that occur, and how large it is.
fn legend(graph: &StateGraph, most: f64, top: f64) -> (String, (f64, f64)) {
    let occurring: Vec<Mark> = (Mark::ALL.into_iter())
        .filter(|mark| graph.states.iter().any(|state| mark.applies(state.marks)))
        .collect();
    if occurring.is_empty() {
        return (String::new(), (0.0, 0.0));
    }
    const SAMPLE: f64 = 15.0;
    let sample = Node {
        radii: (SAMPLE, 9.0),
        left: 0.0,
        right: 0.0,
        half_height: 0.0,
        ports: 0.0,
    };
    let mut text = "<g class=\"legend\">\n".to_owned();
    let (mut x, mut y, mut widest) = (0.0, top + LEGEND_LINE + 8.0, 0.0_f64);
    for mark in occurring {
        let before = match mark {
            Mark::Start => START_ARROW,
            _ => 2.0,
        };
        let width = before + 2.0 * SAMPLE + 8.0 + text_width(mark.words(), 11.0) + 22.0;
        if x > 0.0 && x + width > most {
            (x, y) = (0.0, y + LEGEND_LINE);
        }
        let centre = Point {
            x: MARGIN + x + before + SAMPLE,
            y,
        };
        let marks = marks::only(mark);
        text += &format!(
            "<g class=\"{}\">{}<text x=\"{}\" y=\"{}\">{}</text></g>\n",
            mark.class(),
            ellipse(centre, &sample, marks, ""),
            number(centre.x + SAMPLE + 8.0),
            number(y + 4.0),
            mark.words()
        );
        x += width;
        widest = widest.max(x);
    }
    (text + "</g>\n", (widest, y - top + LEGEND_LINE / 2.0))
}

impl Plan {
    /// The way of a loop, to the right of its state.
    pub(super) fn loop_of(&self, bundle: &Bundle) -> Option<Route> {
        let centre = *self.layout.as_ref()?.centres.get(bundle.from)?;
        let (rx, _) = self.nodes[bundle.from].radii;
        let (out, up) = (0.87, 0.49);
        let at = |right: f64, down: f64| Point {
            x: centre.x + right,
            y: centre.y + down,
        };
        let tip = at(rx * out + 0.5, HALF_HEIGHT * up);
        let base = at(
            rx * out + 0.5 + ARROW * 0.87,
            HALF_HEIGHT * up + ARROW * 0.49,
        );
        let reach = rx + LOOP + 1.0;
        let width = bundle.label_size().unwrap_or_default().0;
        Some(Route {
            start: at(rx * out, -HALF_HEIGHT * up),
            curves: vec![[
                at(reach, -HALF_HEIGHT * 1.35),
                at(reach, HALF_HEIGHT * 1.25),
                base,
            ]],
            tip,
            label: Some(at(rx + LOOP + width / 2.0, 0.0)),
        })
    }
}
