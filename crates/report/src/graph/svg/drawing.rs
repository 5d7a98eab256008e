//! Renders the elements of the picture.

use std::collections::BTreeSet;

use super::marks::{self, StateMark};
use super::shapes::{arrow_head, edge_path, ellipse, format_number};
use super::{DrawingPlan, HALF_HEIGHT, LOOP, START_ARROW, describe_marks};
use crate::graph::bundles::{Bundle, LINE_HEIGHT};
use crate::graph::escape::{XmlText, escape_line, escape_lines};
use crate::graph::layout::{ARROW, DrawingPoint, LayoutNode, Route};
use crate::graph::text_width::{shorten, text_width};
use crate::graph::{StateGraph, StateMarks};

/// Margin around everything.
pub(super) const MARGIN: f64 = 16.0;
/// Height of the headline and the line below it.
const HEADLINE: f64 = 44.0;
/// Height of a line of the legend.
const LEGEND_LINE: f64 = 28.0;
/// Minimum width of a picture, so that the legend need not be a column.
const MIN_WIDTH: f64 = 460.0;

const STYLE: &str = include_str!("style.css");

/// Renders the whole document.
pub(super) fn document(graph: &StateGraph, plan: &DrawingPlan, trace: Option<usize>) -> String {
    let bold = BoldElements::new(graph, trace);
    let (mut picture, width, height) = match &plan.layout {
        Some(layout) => {
            let mut picture = format!(
                "<g transform=\"translate({MARGIN} {})\">\n",
                MARGIN + HEADLINE
            );
            draw_edges(&mut picture, graph, plan, &bold);
            draw_states(&mut picture, graph, plan, &bold);
            picture += "</g>\n";
            (picture, layout.width, layout.height)
        }
        None => too_large(),
    };
    let size = describe_size(graph);
    let title = shorten(&escape_line(&graph.title), 15.0, 560.0);
    // Bold letters are wider than the table of widths says.
    let width = width
        .max(1.15 * text_width(&title, 15.0))
        .max(text_width(&size, 11.0));
    let (legend, legend_size) = match &plan.layout {
        Some(_) => draw_legend(graph, width.max(MIN_WIDTH), MARGIN + HEADLINE + height),
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
        label = XmlText(&format!("{}: {size}", escape_line(&graph.title))),
        w = format_number(width.ceil()),
        h = format_number(height.ceil()),
        title = XmlText(&title),
        headline = MARGIN + 14.0,
        below = MARGIN + 32.0,
    )
}

/// Elements that are drawn bold.
struct BoldElements {
    transitions: BTreeSet<usize>,
    states: BTreeSet<usize>,
}

impl BoldElements {
    /// Collects the elements of a trace, if it is a path.
    fn new(graph: &StateGraph, trace: Option<usize>) -> BoldElements {
        let transitions: BTreeSet<usize> = trace
            .and_then(|trace| graph.traces.get(trace))
            .filter(|trace| graph.is_path(&trace.transitions))
            .map(|trace| trace.transitions.iter().copied().collect())
            .unwrap_or_default();
        let states = (transitions.iter())
            .filter_map(|&transition| graph.transitions.get(transition))
            .flat_map(|transition| [transition.from, transition.to])
            .collect();
        BoldElements {
            transitions,
            states,
        }
    }
}

/// Renders a message for a graph that cannot be drawn. Also returns its width and height.
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

/// Renders the numbers of states and transitions.
fn describe_size(graph: &StateGraph) -> String {
    let quantity = |count: usize, noun: &str| match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    };
    format!(
        "{}, {}",
        quantity(graph.states.len(), "state"),
        quantity(graph.valid_transitions().count(), "transition")
    )
}

/// Renders all edges.
fn draw_edges(picture: &mut String, graph: &StateGraph, plan: &DrawingPlan, bold: &BoldElements) {
    *picture += "<g class=\"edges\">\n";
    for (index, bundle) in plan.bundles.iter().enumerate() {
        let is_bold = (bundle.transitions.iter()).any(|number| bold.transitions.contains(number));
        let (route, is_loop) = match plan.edge_of[index] {
            Some(edge) => (
                plan.layout
                    .as_ref()
                    .map(|layout| layout.routes[edge].clone()),
                false,
            ),
            None => (plan.loop_route(bundle), true),
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
        let line = edge_path(&route);
        *picture += &format!(
            "<g class=\"{class}\" data-edge=\"{index}\"><title>{}</title>\
             <path class=\"touch\" d=\"{line}\"/><path class=\"line\" d=\"{line}\"/>\
             <path class=\"head\" d=\"{}\"/>",
            XmlText(&edge_title(graph, bundle)),
            arrow_head(&route),
        );
        if let (Some(middle), Some((width, height))) = (route.label, bundle.label_size()) {
            *picture += &draw_label(bundle, middle, width, height, is_loop);
        }
        *picture += "</g>\n";
    }
    *picture += "</g>\n";
}

/// Returns the title of an edge: where it leads, and all its transitions.
fn edge_title(graph: &StateGraph, bundle: &Bundle) -> String {
    let mut title = format!(
        "{} → {}",
        escape_line(&graph.states[bundle.from].name),
        escape_line(&graph.states[bundle.to].name)
    );
    for &number in &bundle.transitions {
        title += "\n";
        title += &escape_line(&graph.transitions[number].text);
    }
    title
}

/// Renders the label of an edge.
fn draw_label(
    bundle: &Bundle,
    middle: DrawingPoint,
    width: f64,
    height: f64,
    is_loop: bool,
) -> String {
    let mut text = format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/><text>",
        format_number(middle.x - width / 2.0),
        format_number(middle.y - height / 2.0),
        format_number(width),
        format_number(height)
    );
    let x = if is_loop {
        middle.x - width / 2.0 + 3.0
    } else {
        middle.x
    };
    let top = middle.y - bundle.lines.len() as f64 * LINE_HEIGHT / 2.0;
    for (index, line) in bundle.lines.iter().enumerate() {
        text += &format!(
            "<tspan x=\"{}\" y=\"{}\">{}</tspan>",
            format_number(x),
            format_number(top + index as f64 * LINE_HEIGHT + 10.7),
            XmlText(line)
        );
    }
    text + "</text>"
}

/// Renders all states.
fn draw_states(picture: &mut String, graph: &StateGraph, plan: &DrawingPlan, bold: &BoldElements) {
    let Some(layout) = &plan.layout else {
        return;
    };
    *picture += "<g class=\"states\">\n";
    for (index, state) in graph.states.iter().enumerate() {
        let words = describe_marks(state.marks);
        let mut title = escape_line(&state.name);
        if !state.details.is_empty() {
            title += &format!("\n{}", escape_lines(&state.details));
        }
        if !words.is_empty() {
            title += &format!("\n({words})");
        }
        let on = if bold.states.contains(&index) {
            " on"
        } else {
            ""
        };
        *picture += &format!(
            "<g class=\"state{}{on}\" data-state=\"{index}\"><title>{}</title>{}</g>\n",
            css_classes(state.marks),
            XmlText(&title),
            ellipse(
                layout.centres[index],
                &plan.nodes[index],
                state.marks,
                &plan.names[index]
            ),
        );
    }
    *picture += "</g>\n";
}

/// Returns the CSS classes for all marks, each after a space.
fn css_classes(marks: StateMarks) -> String {
    StateMark::applying(marks)
        .map(|mark| format!(" {}", mark.class()))
        .collect()
}

/// Renders the explanation of the marks that occur. Also returns its width and height.
fn draw_legend(graph: &StateGraph, max_width: f64, top: f64) -> (String, (f64, f64)) {
    let occurring: Vec<StateMark> = (StateMark::ALL.into_iter())
        .filter(|mark| graph.states.iter().any(|state| mark.applies(state.marks)))
        .collect();
    if occurring.is_empty() {
        return (String::new(), (0.0, 0.0));
    }
    const SAMPLE: f64 = 15.0;
    let sample = LayoutNode {
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
            StateMark::Start => START_ARROW,
            _ => 2.0,
        };
        let width = before + 2.0 * SAMPLE + 8.0 + text_width(mark.text(), 11.0) + 22.0;
        if x > 0.0 && x + width > max_width {
            (x, y) = (0.0, y + LEGEND_LINE);
        }
        let centre = DrawingPoint {
            x: MARGIN + x + before + SAMPLE,
            y,
        };
        let marks = marks::only(mark);
        text += &format!(
            "<g class=\"{}\">{}<text x=\"{}\" y=\"{}\">{}</text></g>\n",
            mark.class(),
            ellipse(centre, &sample, marks, ""),
            format_number(centre.x + SAMPLE + 8.0),
            format_number(y + 4.0),
            mark.text()
        );
        x += width;
        widest = widest.max(x);
    }
    (text + "</g>\n", (widest, y - top + LEGEND_LINE / 2.0))
}

impl DrawingPlan {
    /// Returns the route of a loop, to the right of its state.
    pub(super) fn loop_route(&self, bundle: &Bundle) -> Option<Route> {
        let centre = *self.layout.as_ref()?.centres.get(bundle.from)?;
        let (rx, _) = self.nodes[bundle.from].radii;
        let (out, up) = (0.87, 0.49);
        let at = |right: f64, down: f64| DrawingPoint {
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
