//! One HTML file that needs nothing else, and reads well without style sheets.
//!
//! The text comes first. The source of each section stands at the end, folded away: it does not
//! disturb readers who do not program, and programmers find the lines under the same headings.

use super::markdown::split_label;
use crate::block::{
    Document, DocumentItem, DocumentSection, DocumentSource, Heading, ItemKind, LineRange,
};

/// The style sheet of every page.
pub(crate) const STYLE: &str = "\
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.2rem; margin-top: 2rem; }
li { margin: 0.2rem 0; }
details { margin: 0.4rem 0; color: #555; }
figure { margin: 2rem 0; overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: 0.2rem 0.8rem 0.2rem 0; text-align: left; border-bottom: 1px solid #ddd; }
pre { overflow-x: auto; }";

/// Renders a document as an HTML page.
#[must_use]
pub fn html(document: &Document) -> String {
    let title = escape(&document.title);
    let mut lines: Vec<String> = vec![
        "<!DOCTYPE html>".to_owned(),
        "<html lang=\"en\">".to_owned(),
        "<head>".to_owned(),
        "<meta charset=\"utf-8\">".to_owned(),
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">".to_owned(),
        format!("<title>{title}</title>"),
        format!("<style>\n{STYLE}\n</style>"),
        "</head>".to_owned(),
        "<body>".to_owned(),
        "<main>".to_owned(),
        format!("<h1>{title}</h1>"),
    ];
    lines.extend(
        document
            .intro
            .iter()
            .map(|intro| paragraph_element(&escape(intro))),
    );
    let names = section_anchors(&document.sections);
    for (section, name) in document.sections.iter().zip(&names) {
        lines.push(format!("<section id=\"{name}\">"));
        match &section.heading {
            Heading::None => {}
            Heading::Plain(words) | Heading::Action(words) => {
                lines.push(format!("<h2>{}</h2>", escape(words)));
            }
        }
        push_items(&section.items, &mut lines);
        lines.push("</section>".to_owned());
    }
    lines.push("</main>".to_owned());
    push_sources(document, &names, &mut lines);
    lines.extend(["</body>", "</html>", ""].map(str::to_owned));
    lines.join("\n")
}

/// Appends the elements of items; consecutive entries share one list.
fn push_items(all: &[DocumentItem], lines: &mut Vec<String>) {
    let mut in_list = false;
    for item in all {
        let is_entry = matches!(
            item.kind,
            ItemKind::Sentence(_) | ItemKind::Choice { .. } | ItemKind::Block { .. }
        );
        if is_entry != in_list {
            lines.push(if is_entry { "<ul>" } else { "</ul>" }.to_owned());
            in_list = is_entry;
        }
        match &item.kind {
            ItemKind::Paragraph(words) => {
                lines.push(paragraph_element(&with_code(words, item.code.as_deref())))
            }
            ItemKind::Labelled { label, sentence } => {
                let sentence = with_code(sentence, item.code.as_deref());
                lines.push(paragraph_element(&format!(
                    "{} {sentence}",
                    strong_element(label)
                )));
            }
            ItemKind::Group {
                label,
                items: below,
            } => {
                let (label, rest) = split_label(label);
                lines.push(paragraph_element(&format!(
                    "{}{}",
                    strong_element(label),
                    escape(rest)
                )));
                push_items(below, lines);
            }
            ItemKind::Sentence(words) => {
                lines.push(format!(
                    "<li>{}</li>",
                    with_code(words, item.code.as_deref())
                ));
            }
            ItemKind::Choice { .. } | ItemKind::Block { .. } => {
                for (number, (heading, below)) in item.parts().into_iter().enumerate() {
                    let heading = format!("{heading}:");
                    let heading = with_code(&heading, item.code_of_part(number));
                    lines.push(format!("<li>{heading}"));
                    push_items(below, lines);
                    lines.push("</li>".to_owned());
                }
            }
        }
    }
    if in_list {
        lines.push("</ul>".to_owned());
    }
}

/// Wraps content in a paragraph.
fn paragraph_element(inside: &str) -> String {
    format!("<p>{inside}</p>")
}

/// Escapes a label and emphasises it.
fn strong_element(label: &str) -> String {
    format!("<strong>{}</strong>", escape(label))
}

/// Escapes words and appends the code that they describe, if there is any.
fn with_code(words: &str, code: Option<&str>) -> String {
    match code {
        Some(code) => format!("{} <code>{}</code>", escape(words), escape(code)),
        None => escape(words),
    }
}

/// Appends the source of each section, folded away.
fn push_sources(document: &Document, names: &[String], lines: &mut Vec<String>) {
    if document.source.text.is_empty() {
        return;
    }
    lines.push("<footer id=\"source\">".to_owned());
    for (section, name) in document.sections.iter().zip(names) {
        let location = source_location(&document.source, &section.lines);
        let title = match &section.heading {
            Heading::None => first_words(section),
            Heading::Plain(words) | Heading::Action(words) => words.clone(),
        };
        lines.push(format!("<details id=\"source-of-{name}\">"));
        lines.push(format!(
            "<summary><a href=\"#{name}\">{}</a>: {}</summary>",
            escape(title.trim_end_matches(['.', ':'])),
            escape(&location)
        ));
        let code = escape(&document.source.lines(&section.lines));
        // Browsers drop a line break right after `<pre>`, so one more keeps a blank first line.
        lines.push(format!("<pre>\n{code}</pre>"));
        lines.push("</details>".to_owned());
    }
    lines.push("</footer>".to_owned());
}

/// Returns the first words of a section that has no heading, to name it by.
fn first_words(section: &DocumentSection) -> String {
    let first = section.items.first();
    match first.map(|item| &item.kind) {
        Some(ItemKind::Labelled { label, .. } | ItemKind::Group { label, .. }) => label.clone(),
        Some(ItemKind::Paragraph(words) | ItemKind::Sentence(words)) => words.clone(),
        _ => "Source".to_owned(),
    }
}

/// Describes source lines: `plates.py, lines 3 to 5`.
pub(crate) fn source_location(source: &DocumentSource, lines: &LineRange) -> String {
    let (first, last) = (lines.start(), lines.end());
    if first == last {
        format!("{}, line {first}", source.file)
    } else {
        format!("{}, lines {first} to {last}", source.file)
    }
}

/// Makes an anchor for each section. Anchors are distinct and need no escaping.
fn section_anchors(sections: &[DocumentSection]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for section in sections {
        let words = match &section.heading {
            Heading::None => first_words(section),
            Heading::Plain(words) | Heading::Action(words) => words.clone(),
        };
        let name = slug(&words);
        let mut unique = name.clone();
        let mut number = 1;
        while names.contains(&unique) {
            number += 1;
            unique = format!("{name}-{number}");
        }
        names.push(unique);
    }
    names
}

/// Turns words into an anchor of small letters, digits and dashes; at most eight words.
fn slug(words: &str) -> String {
    let small = words.to_lowercase();
    let parts = small.split(|letter: char| !letter.is_ascii_alphanumeric());
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).take(8).collect();
    if parts.is_empty() {
        "section".to_owned()
    } else {
        parts.join("-")
    }
}

/// Escapes text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns the text that a browser shows, for tests that compare the formats.
#[cfg(test)]
fn visible_text(page: &str) -> String {
    let body = page.split("</h1>").nth(1).unwrap_or_default();
    let body = body.split("<footer").next().unwrap_or_default();
    let mut shown = String::new();
    let mut inside = false;
    for one in body.chars() {
        match one {
            '<' => inside = true,
            '>' if inside => {
                inside = false;
                shown.push(' ');
            }
            _ if !inside => shown.push(one),
            _ => {}
        }
    }
    let shown = shown.replace("&lt;", "<").replace("&gt;", ">");
    let shown = shown.replace("&amp;", "&");
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::{html, section_anchors, visible_text};
    use crate::block::{Document, sample_document};
    use crate::render::text;

    #[test]
    fn choices_are_nested_lists() {
        let page = html(&sample_document().at_verbosity(1));
        let start = page
            .find("<section id=\"action-start\">")
            .expect("the action");
        let end = page[start..].find("</section>").expect("its end") + start;
        expect![[r#"
            <section id="action-start">
            <h2>Action: start</h2>
            <p>Start *it*.</p>
            <p><strong>Inputs:</strong> none.</p>
            <p><strong>What happens:</strong></p>
            <ul>
            <li>Zero.</li>
            <li>If a is &lt;b&gt;:
            <ul>
            <li>One.</li>
            </ul>
            </li>
            <li>Otherwise, if c:
            <ul>
            <li>Two.</li>
            </ul>
            </li>
            <li>Otherwise:
            <ul>
            <li>Three.</li>
            </ul>
            </li>
            <li>For each v in the w:
            <ul>
            <li>Four.</li>
            </ul>
            </li>
            </ul>
        "#]]
        .assert_eq(&page[start..end]);
    }

    #[test]
    fn sources_are_folded_away() {
        let page = html(&sample_document());
        assert!(page.contains(
            "<summary><a href=\"#action-start\">Action: start</a>: sample.py, lines 2 to 6</summary>\n<pre>\ndef start():\n  a\n  b &lt; 1"
        ), "{page}");
    }

    #[test]
    fn elements_are_closed_and_names_are_unique() {
        let mut document = sample_document();
        document.sections.push(document.sections[1].clone());
        assert_eq!(
            section_anchors(&document.sections),
            [
                "what-is-remembered",
                "action-start",
                "a-run-may-end",
                "action-start-2"
            ]
        );
        let page = html(&document.at_verbosity(3));
        for element in [
            "ul", "li", "p", "section", "details", "footer", "pre", "strong", "code",
        ] {
            let count = |tag: String| page.matches(&tag).count();
            let opened = count(format!("<{element}>")) + count(format!("<{element} "));
            assert_eq!(opened, count(format!("</{element}>")), "{element}");
        }
        assert!(!page.contains("http"), "a page loads nothing");
    }

    #[test]
    fn the_formats_say_the_same() {
        let document: Document = sample_document().at_verbosity(1);
        let plain = text(&document).replace("- ", "");
        let plain: Vec<&str> = plain.split_whitespace().skip(2).collect();
        // A heading needs its colon only where no markup shows that it is one.
        let plain = plain.join(" ").replace("remembered:", "remembered");
        assert_eq!(visible_text(&html(&document)), plain);
    }
}
