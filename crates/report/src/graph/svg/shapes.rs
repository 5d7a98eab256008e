//! Shapes in the notation of SVG.

use super::START_ARROW;
use super::marks::{self, StateMark};
use crate::graph::StateMarks;
use crate::graph::escape::XmlText;
use crate::graph::layout::{ARROW, DrawingPoint, LayoutNode, Route};

/// Renders a state with its marks.
pub(super) fn ellipse(
    centre: DrawingPoint,
    node: &LayoutNode,
    marks: StateMarks,
    name: &str,
) -> String {
    let (rx, ry) = node.radii;
    let (x, y) = (format_number(centre.x), format_number(centre.y));
    let mut text = String::new();
    if marks.start {
        let tip = centre.x - rx - 1.0;
        text += &format!(
            "<g class=\"entry\"><path class=\"line\" d=\"M{} {y}H{}\"/><path class=\"head\" d=\"{}\"/></g>",
            format_number(tip + 1.0 - START_ARROW),
            format_number(tip - ARROW),
            triangle(
                DrawingPoint {
                    x: tip - ARROW,
                    y: centre.y
                },
                DrawingPoint {
                    x: tip,
                    y: centre.y
                }
            ),
        );
    }
    text += &format!(
        "<ellipse class=\"rim {}\" cx=\"{x}\" cy=\"{y}\" rx=\"{}\" ry=\"{}\"/>",
        marks::colour(marks),
        format_number(rx),
        format_number(ry)
    );
    if marks.accepting {
        text += &format!(
            "<ellipse class=\"inner\" cx=\"{x}\" cy=\"{y}\" rx=\"{}\" ry=\"{}\"/>",
            format_number(rx - 3.5),
            format_number(ry - 3.5)
        );
    }
    text += &format!(
        "<text x=\"{x}\" y=\"{}\">{}</text>",
        format_number(centre.y + 4.6),
        XmlText(name)
    );
    // More than four badges cannot occur together in a meaningful way.
    let corners = [(1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let (x_coordinates, down) = (rx * 0.77 + 4.0, ry * 0.64 + 3.0);
    let badges = StateMark::applying(marks).filter_map(|mark| Some((mark, mark.badge()?)));
    for ((mark, symbol), (right, below)) in badges.zip(corners) {
        text += &format!(
            "<g class=\"badge {}\" transform=\"translate({} {})\"><circle r=\"6.5\"/><path d=\"{symbol}\"/></g>",
            mark.class(),
            format_number(centre.x + right * x_coordinates),
            format_number(centre.y + below * down),
        );
    }
    text
}

/// Renders the curve of an edge.
pub(super) fn edge_path(route: &Route) -> String {
    let mut text = format!(
        "M{} {}",
        format_number(route.start.x),
        format_number(route.start.y)
    );
    for curve in &route.curves {
        text += "C";
        let points: Vec<String> = (curve.iter())
            .map(|point| format!("{} {}", format_number(point.x), format_number(point.y)))
            .collect();
        text += &points.join(" ");
    }
    text
}

/// Renders the head of an edge's arrow.
pub(super) fn arrow_head(route: &Route) -> String {
    let base = (route.curves.last()).map_or(route.start, |curve| curve[2]);
    triangle(base, route.tip)
}

/// Renders a triangle by the middle of its base and its tip.
fn triangle(base: DrawingPoint, tip: DrawingPoint) -> String {
    let (x, y) = ((tip.x - base.x) * 0.45, (tip.y - base.y) * 0.45);
    format!(
        "M{} {}L{} {}L{} {}z",
        format_number(tip.x),
        format_number(tip.y),
        format_number(base.x - y),
        format_number(base.y + x),
        format_number(base.x + y),
        format_number(base.y - x)
    )
}

/// Renders a number with at most one digit after the point: finer than a screen, and short.
pub(in crate::graph) fn format_number(value: f64) -> String {
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}
