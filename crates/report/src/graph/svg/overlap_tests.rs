//! Tests that measure the picture: nothing overlaps, and nothing is cut off.

use super::drawing::MARGIN;
use super::*;
use crate::graph::layout::DrawingPoint;
use crate::graph::{bundles, toys};

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug)]
struct Area(f64, f64, f64, f64);

impl Area {
    fn overlaps(self, other: Area) -> bool {
        // Touching is not an overlap, and rounding errors are tolerated.
        const SLACK: f64 = 0.01;
        self.0 < other.2 - SLACK
            && other.0 < self.2 - SLACK
            && self.1 < other.3 - SLACK
            && other.1 < self.3 - SLACK
    }

    fn contains(self, point: DrawingPoint) -> bool {
        self.0 < point.x && point.x < self.2 && self.1 < point.y && point.y < self.3
    }
}

struct MeasuredDrawing {
    /// Ellipses of the states.
    states: Vec<Area>,
    /// Boxes of labels, each with the index of its bundle.
    labels: Vec<(usize, Area)>,
    /// Points along the edges that are not loops, each with the index of its bundle and the states
    /// it connects.
    routes: Vec<(usize, [usize; 2], Vec<DrawingPoint>)>,
    size: (f64, f64),
}

fn measure(graph: &StateGraph, labels: Labels) -> MeasuredDrawing {
    let plan = DrawingPlan::new(graph, labels);
    let layout = plan.layout.as_ref().expect("small enough to be drawn");
    let states = (layout.centres.iter().zip(&plan.nodes))
        .map(|(centre, node)| {
            let (rx, ry) = node.radii;
            Area(centre.x - rx, centre.y - ry, centre.x + rx, centre.y + ry)
        })
        .collect();
    let mut measured = MeasuredDrawing {
        states,
        labels: Vec::new(),
        routes: Vec::new(),
        size: (layout.width, layout.height),
    };
    for (index, bundle) in plan.bundles.iter().enumerate() {
        let route = match plan.edge_of[index] {
            Some(edge) => layout.routes[edge].clone(),
            None => plan.loop_route(bundle).unwrap(),
        };
        if let (Some(middle), Some((width, height))) = (route.label, bundle.label_size()) {
            let (x, y) = (width / 2.0, height / 2.0);
            let area = Area(middle.x - x, middle.y - y, middle.x + x, middle.y + y);
            measured.labels.push((index, area));
        }
        if bundle.from != bundle.to {
            let mut points = Vec::new();
            let mut at = route.start;
            for [one, two, end] in route.curves {
                for step in 1..=8 {
                    let t = f64::from(step) / 8.0;
                    let mix = |a: f64, b: f64, c: f64, d: f64| {
                        let u = 1.0 - t;
                        u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d
                    };
                    points.push(DrawingPoint {
                        x: mix(at.x, one.x, two.x, end.x),
                        y: mix(at.y, one.y, two.y, end.y),
                    });
                }
                at = end;
            }
            measured
                .routes
                .push((index, [bundle.from, bundle.to], points));
        }
    }
    measured
}

fn check(graph: &StateGraph, labels: Labels) {
    let measured = measure(graph, labels);
    let name = format!("{} with {} states", graph.title, graph.states.len());
    let areas: Vec<Area> = (measured.states.iter().copied())
        .chain(measured.labels.iter().map(|(_, area)| *area))
        .collect();
    for (index, area) in areas.iter().enumerate() {
        for other in &areas[..index] {
            assert!(!area.overlaps(*other), "{area:?} and {other:?} of {name}");
        }
        let (width, height) = measured.size;
        let is_inside =
            area.0 > -0.01 && area.1 > -0.01 && area.2 < width + 0.01 && area.3 < height + 0.01;
        assert!(is_inside, "{area:?} is cut off in {name}");
    }
    for (index, ends, points) in &measured.routes {
        for point in points {
            // An edge may touch its own states where it begins and ends.
            let hit = measured.states.iter().position(|area| {
                Area(area.0 + 2.0, area.1 + 2.0, area.2 - 2.0, area.3 - 2.0).contains(*point)
            });
            let is_foreign = hit.is_some_and(|state| !ends.contains(&state));
            assert!(
                !is_foreign,
                "edge {index} runs over state {hit:?} in {name}"
            );
            let hit = (measured.labels.iter())
                .find(|(other, area)| other != index && area.contains(*point));
            assert!(
                hit.is_none(),
                "edge {index} runs over label {hit:?} in {name}"
            );
            let (width, height) = measured.size;
            assert!((0.0..=width).contains(&point.x) && (0.0..=height).contains(&point.y));
        }
    }
}

#[test]
fn nothing_overlaps() {
    for graph in toys::all() {
        check(&graph, Labels::Action);
        check(&graph, Labels::Name);
        check(&graph, Labels::None);
    }
}

#[test]
fn every_label_is_there_and_fits_its_box() {
    for graph in toys::all() {
        let plan = DrawingPlan::new(&graph, Labels::Action);
        let expected = plan
            .bundles
            .iter()
            .filter(|bundle| !bundle.lines.is_empty())
            .count();
        assert_eq!(measure(&graph, Labels::Action).labels.len(), expected);
        for bundle in &plan.bundles {
            let (width, height) = bundle.label_size().unwrap_or_default();
            assert!(bundle.lines.len() <= 4 && height <= 4.0 * bundles::LINE_HEIGHT + 3.0);
            for line in &bundle.lines {
                assert!(text_width(line, bundles::FONT_SIZE) <= width);
            }
        }
    }
}

#[test]
fn the_view_box_has_room_for_everything() {
    for graph in toys::all() {
        let text = write(&graph, &SvgOptions::default());
        let size: Vec<f64> = (text.split("viewBox=\"0 0 ").nth(1).unwrap())
            .split('"')
            .next()
            .unwrap()
            .split(' ')
            .map(|number| number.parse().unwrap())
            .collect();
        let (width, height) = measure(&graph, Labels::Action).size;
        assert!(size[0] >= width + 2.0 * MARGIN && size[1] >= height + 2.0 * MARGIN);
        assert!(
            size[0] < 20_000.0 && size[1] < 20_000.0,
            "{} is {size:?}",
            graph.title
        );
    }
}
