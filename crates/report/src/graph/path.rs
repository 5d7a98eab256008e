//! The path of one test as a picture, with some of the other actions that were possible.
//!
//! The path leads from top to bottom in bold, with the actions that were taken on its left. On the
//! right, thin and dashed, are other actions that were enabled. The caller chooses which of them to
//! show, preferably at random: there are often thousands, most of them alike. [`summarize`] makes
//! one branch of those that differ only in their numbers:
//!
//! ```
//! use testwright_report::graph::path::{PathStep, TestPath, summarize, write};
//!
//! let enabled: Vec<String> = (1..=20).map(|value| format!("int0 = {value}")).collect();
//! let branches = summarize(&enabled);
//! assert_eq!(branches.len(), 1);
//! assert_eq!(branches[0].text, "int0 = 1");
//! assert_eq!(branches[0].pattern, "int0 = <[1..20]>");
//! assert_eq!(branches[0].more_actions, 19);
//!
//! let path = TestPath {
//!     title: "avl".to_owned(),
//!     before: 3,
//!     steps: vec![PathStep { action: "avl0 = AVLTree()".to_owned(), branches, hidden_branches: 4 }],
//!     end: String::new(),
//! };
//! assert!(write(&path).contains("… and 19 more like int0 = &lt;[1..20]&gt;"));
//! ```

mod summary;

pub use summary::summarize;

use super::escape::{XmlText, escape_line, escape_lines};
use super::svg::format_number;
use super::text_width::{shorten, text_width};

/// Actions that were taken, and actions that could have been taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestPath {
    /// Headline.
    pub title: String,
    /// Number of steps before the first that is shown.
    pub before: usize,
    /// Steps that are shown.
    pub steps: Vec<PathStep>,
    /// Remark on the end, such as a failure. May be empty.
    pub end: String,
}

/// One step of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathStep {
    /// Action that was taken.
    pub action: String,
    /// Some of the other actions that were enabled.
    pub branches: Vec<Branch>,
    /// Number of enabled actions that no branch stands for.
    pub hidden_branches: usize,
}

/// An action that was enabled and not taken, possibly with others like it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Text of the action.
    pub text: String,
    /// Number of other actions like it.
    pub more_actions: usize,
    /// Common pattern of all of them: `int0 = <[1..20]>`.
    pub pattern: String,
}

const STYLE: &str = include_str!("path/style.css");
const MARGIN: f64 = 16.0;
const HEADLINE: f64 = 44.0;
const FONT_SIZE: f64 = 12.0;
/// Height of a line of text.
const LINE: f64 = 19.0;
/// Maximum width of a text. Longer texts lose their middle.
const MAX_WIDTH: f64 = 420.0;
const RADIUS: f64 = 13.0;
/// Distance from the path to the texts on its right.
const BRANCH: f64 = 78.0;
/// Minimum distance between two states.
const MIN_STEP: f64 = 58.0;
/// Factor by which bold letters are wider than the table of widths says.
const BOLD: f64 = 1.15;
/// Maximum number of steps. A longer path would give a picture that is too tall to be of use.
const MAX_STEPS: usize = 2_000;

/// Renders a path as an SVG document on white.
pub fn write(path: &TestPath) -> String {
    let shown = &path.steps[..path.steps.len().min(MAX_STEPS)];
    let left = (shown.iter())
        .map(|step| BOLD * text_width(&shorten_action(&step.action), FONT_SIZE))
        .fold(90.0, f64::max);
    let mut picture = Picture {
        text: String::new(),
        spine: MARGIN + left + 26.0,
        right: 0.0,
        y: MARGIN + HEADLINE + RADIUS,
    };
    picture.right = picture.spine + RADIUS + MARGIN;
    if path.before > 0 {
        let steps = if path.before == 1 { "step" } else { "steps" };
        picture.draw_state("…", "", "");
        picture.draw_arrow(
            MIN_STEP,
            "before",
            &format!("{} {steps} not shown", path.before),
        );
    }
    for (index, step) in shown.iter().enumerate() {
        picture.draw_state(&(path.before + index).to_string(), "", "");
        let height = picture.draw_branches(step);
        picture.draw_arrow(height.max(MIN_STEP), "taken", &step.action);
    }
    let cut = path.steps.len() - shown.len();
    let end = match cut {
        0 => path.end.clone(),
        _ => format!("{cut} more steps not shown"),
    };
    let last = (path.before + shown.len()).to_string();
    picture.draw_state(&last, " last", &end);
    let title = shorten(&escape_line(&path.title), 15.0, 560.0);
    let width = (picture.right + MARGIN).max(BOLD * text_width(&title, 15.0) + 2.0 * MARGIN);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"test-path\" role=\"img\" aria-label=\"{label}\" \
         width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\">\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n\
         <text class=\"headline\" x=\"{MARGIN}\" y=\"{y}\">{title}</text>\n{}</svg>\n",
        picture.text,
        label = XmlText(&format!(
            "{}: a path of {} steps",
            escape_line(&path.title),
            path.steps.len()
        )),
        w = format_number(width.ceil()),
        h = format_number((picture.y + RADIUS + MARGIN).ceil()),
        y = MARGIN + 14.0,
        title = XmlText(&title),
    )
}

/// Shortens a text to the maximum width.
fn shorten_action(text: &str) -> String {
    shorten(&escape_line(text), FONT_SIZE, MAX_WIDTH)
}

/// Picture in progress.
struct Picture {
    /// SVG elements so far.
    text: String,
    /// Horizontal position of the path.
    spine: f64,
    /// Right end of everything drawn so far.
    right: f64,
    /// Vertical position of the current state.
    y: f64,
}

impl Picture {
    /// Draws a state on the path, with a remark beside it.
    fn draw_state(&mut self, name: &str, class: &str, remark: &str) {
        let (x, y) = (format_number(self.spine), format_number(self.y));
        self.text += &format!(
            "<g class=\"state{class}\"><circle cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\"/>\
             <text x=\"{x}\" y=\"{}\">{name}</text></g>\n",
            format_number(self.y + 4.0)
        );
        if !remark.is_empty() {
            let x = self.spine + RADIUS + 12.0;
            self.draw_text(
                "remark",
                x,
                self.y + 4.3,
                &shorten_action(remark),
                &escape_lines(remark),
            );
            let width = BOLD * text_width(&shorten_action(remark), FONT_SIZE);
            self.right = self.right.max(x + width);
        }
    }

    /// Draws the step to the next state.
    fn draw_arrow(&mut self, length: f64, class: &str, action: &str) {
        let (top, tip) = (self.y + RADIUS, self.y + length + RADIUS);
        let x = format_number(self.spine);
        self.text += &format!(
            "<g class=\"{class}\"><path class=\"line\" d=\"M{x} {}V{}\"/>\
             <path class=\"head\" d=\"M{x} {}l-5 -10h10z\"/></g>\n",
            format_number(top),
            format_number(tip - 8.0),
            format_number(tip),
        );
        let middle = self.y + (length + RADIUS) / 2.0 + 4.0;
        let class = format!("{class} left");
        self.draw_text(
            &class,
            self.spine - 14.0,
            middle,
            &shorten_action(action),
            &escape_line(action),
        );
        self.y += length + 2.0 * RADIUS;
    }

    /// Draws the other actions that were enabled. Returns the height that they take below the
    /// state.
    fn draw_branches(&mut self, step: &PathStep) -> f64 {
        let mut line = self.y;
        let x = self.spine + BRANCH;
        let mut branch = |picture: &mut Picture, texts: &[(&str, String, String)]| {
            let from = picture.spine + RADIUS * 0.8;
            let below = picture.y + RADIUS * if line > picture.y { 0.55 } else { 0.0 };
            let from = if line > picture.y {
                from
            } else {
                picture.spine + RADIUS
            };
            picture.text += &format!(
                "<path class=\"branch\" d=\"M{} {}C{} {} {} {} {} {}\"/><circle class=\"leaf\" cx=\"{}\" cy=\"{}\" r=\"3\"/>\n",
                format_number(from),
                format_number(below),
                format_number(from + 26.0),
                format_number(below + (line - below) * 0.55),
                format_number(x - 46.0),
                format_number(line),
                format_number(x - 12.0),
                format_number(line),
                format_number(x - 9.0),
                format_number(line),
            );
            for (class, shown, title) in texts {
                picture.draw_text(class, x, line + 4.3, shown, title);
                picture.right = picture.right.max(x + text_width(shown, FONT_SIZE));
                line += LINE;
            }
            line += 3.0;
        };
        for other in &step.branches {
            let mut texts = vec![(
                "other",
                shorten_action(&other.text),
                escape_line(&other.text),
            )];
            if other.more_actions > 0 {
                let words = format!(
                    "… and {} more like {}",
                    other.more_actions,
                    escape_line(&other.pattern)
                );
                texts.push(("summary", shorten(&words, FONT_SIZE, MAX_WIDTH), words));
            }
            branch(self, &texts);
        }
        if step.hidden_branches > 0 {
            let words = if step.branches.is_empty() {
                format!("{} other actions enabled", step.hidden_branches)
            } else {
                format!("… and {} other actions", step.hidden_branches)
            };
            branch(self, &[("summary", words.clone(), words)]);
        }
        line - self.y
    }

    /// Draws a text with its title.
    fn draw_text(&mut self, class: &str, x: f64, y: f64, shown: &str, title: &str) {
        self.text += &format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\"><title>{}</title>{}</text>\n",
            format_number(x),
            format_number(y),
            XmlText(title),
            XmlText(shown)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path() -> TestPath {
        let step = |taken: &str, others: &[&str]| PathStep {
            action: taken.to_owned(),
            branches: summarize(
                &others
                    .iter()
                    .map(|text| text.to_string())
                    .collect::<Vec<_>>(),
            ),
            hidden_branches: 2,
        };
        TestPath {
            title: "a < b".to_owned(),
            before: 7,
            steps: vec![
                step(
                    "int0 = 1",
                    &["int1 = 5", "int1 = 6", "int1 = 7", "avl0 = AVLTree()"],
                ),
                step("avl0.insert(int0)", &[]),
                step(&"long".repeat(200), &["]]> <script>\u{1b}"]),
            ],
            end: "ValueError: 1 < 2".to_owned(),
        }
    }

    #[test]
    fn steps_are_numbered_and_summarised() {
        let text = write(&path());
        for shown in [
            ">7 steps not shown<",
            ">10</text>",
            ">int0 = 1<",
            "… and 2 more like int1 = &lt;[5..7]&gt;",
            "… and 2 other actions",
            "2 other actions enabled",
            ">ValueError: 1 &lt; 2<",
        ] {
            assert!(text.contains(shown), "{shown} in {text}");
        }
    }

    #[test]
    fn path_pictures_are_well_formed() {
        for path in [path(), TestPath::default()] {
            let text = write(&path);
            let mut reader = quick_xml::Reader::from_str(&text);
            loop {
                match reader.read_event().expect("well-formed") {
                    quick_xml::events::Event::Start(start) => {
                        assert_ne!(start.name().as_ref(), "script")
                    }
                    quick_xml::events::Event::Eof => break,
                    _ => {}
                }
            }
            assert!(!text.contains('\u{1b}'));
        }
    }

    #[test]
    fn texts_do_not_meet() {
        let text = write(&path());
        let mut positions: Vec<(f64, f64)> = Vec::new();
        for element in text.split("<text class=\"").skip(2) {
            let value = |name: &str| -> f64 {
                let rest = element.split(&format!(" {name}=\"")).nth(1).unwrap();
                rest.split('"').next().unwrap().parse().unwrap()
            };
            let is_left = element.starts_with("taken left") || element.starts_with("before left");
            let position = (if is_left { 0.0 } else { value("x") }, value("y"));
            for other in &positions {
                assert!(
                    other.0 != position.0 || (other.1 - position.1).abs() >= LINE,
                    "{position:?}"
                );
            }
            positions.push(position);
        }
        assert!(positions.len() > 8);
    }

    #[test]
    fn endless_paths_are_cut() {
        let path = TestPath {
            steps: vec![PathStep::default(); MAX_STEPS + 5],
            ..TestPath::default()
        };
        assert!(write(&path).contains("5 more steps not shown"));
    }
}
