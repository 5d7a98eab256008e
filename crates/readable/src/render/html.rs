//! One HTML file that needs nothing else, and reads well with style sheets off.
//!
//! The text comes first, as a reader wants it. Where each section comes from stands at the end, folded away: a reader who does
//! not program is not disturbed, and one who does finds the lines by the same names.

use super::markdown::parted;
use crate::block::{Document, Heading, Item, ItemKind, Lines, Section, Source};

/// How all pages look.
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

/// A document as a page.
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
    lines.extend(document.intro.iter().map(|intro| paragraph(&escape(intro))));
    let names = names(&document.sections);
    for (section, name) in document.sections.iter().zip(&names) {
        lines.push(format!("<section id=\"{name}\">"));
        match &section.heading {
            Heading::None => {}
            Heading::Plain(words) | Heading::Action(words) => {
                lines.push(format!("<h2>{}</h2>", escape(words)));
            }
        }
        items(&section.items, &mut lines);
        lines.push("</section>".to_owned());
    }
    lines.push("</main>".to_owned());
    sources(document, &names, &mut lines);
    lines.extend(["</body>", "</html>", ""].map(str::to_owned));
    lines.join("\n")
}

fn items(all: &[Item], lines: &mut Vec<String>) {
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
                lines.push(paragraph(&with_code(words, item.code.as_deref())))
            }
            ItemKind::Labelled { label, sentence } => {
                let sentence = with_code(sentence, item.code.as_deref());
                lines.push(paragraph(&format!("{} {sentence}", strong(label))));
            }
            ItemKind::Group {
                label,
                items: below,
            } => {
                let (label, rest) = parted(label);
                lines.push(paragraph(&format!("{}{}", strong(label), escape(rest))));
                items(below, lines);
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
                    let heading = with_code(&heading, item.code_of(number));
                    lines.push(format!("<li>{heading}"));
                    items(below, lines);
                    lines.push("</li>".to_owned());
                }
            }
        }
    }
    if in_list {
        lines.push("</ul>".to_owned());
    }
}

fn paragraph(inside: &str) -> String {
    format!("<p>{inside}</p>")
}

fn strong(label: &str) -> String {
    format!("<strong>{}</strong>", escape(label))
}

fn with_code(words: &str, code: Option<&str>) -> String {
    match code {
        Some(code) => format!("{} <code>{}</code>", escape(words), escape(code)),
        None => escape(words),
    }
}

/// Where each section comes from.
fn sources(document: &Document, names: &[String], lines: &mut Vec<String>) {
    if document.source.text.is_empty() {
        return;
    }
    lines.push("<footer id=\"source\">".to_owned());
    for (section, name) in document.sections.iter().zip(names) {
        let place = place(&document.source, &section.lines);
        let title = match &section.heading {
            Heading::None => first_words(section),
            Heading::Plain(words) | Heading::Action(words) => words.clone(),
        };
        lines.push(format!("<details id=\"source-of-{name}\">"));
        lines.push(format!(
            "<summary><a href=\"#{name}\">{}</a>: {}</summary>",
            escape(title.trim_end_matches(['.', ':'])),
            escape(&place)
        ));
        let code = escape(&document.source.lines(&section.lines));
        // A line break right behind `<pre>` is not shown, so one more keeps a first line that is blank.
        lines.push(format!("<pre>\n{code}</pre>"));
        lines.push("</details>".to_owned());
    }
    lines.push("</footer>".to_owned());
}

fn first_words(section: &Section) -> String {
    let first = section.items.first();
    match first.map(|item| &item.kind) {
        Some(ItemKind::Labelled { label, .. } | ItemKind::Group { label, .. }) => label.clone(),
        Some(ItemKind::Paragraph(words) | ItemKind::Sentence(words)) => words.clone(),
        _ => "Source".to_owned(),
    }
}

/// `plates.py, lines 3 to 5`.
pub(crate) fn place(source: &Source, lines: &Lines) -> String {
    let (first, last) = (lines.start(), lines.end());
    if first == last {
        format!("{}, line {first}", source.file)
    } else {
        format!("{}, lines {first} to {last}", source.file)
    }
}

/// A name for each section, all different, of letters that need no escape.
fn names(sections: &[Section]) -> Vec<String> {
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

/// Text that cannot be taken for an element.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// What a browser shows of a page, for tests that compare the formats.
#[cfg(test)]
fn visible(page: &str) -> String {
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

    use super::{html, names, visible};
    use crate::block::{Document, sample};
    use crate::render::text;

    #[test]
    fn choices_are_nested_lists() {
        let page = html(&sample().shown_at(1));
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
        let page = html(&sample());
        assert!(page.contains(
            "<summary><a href=\"#action-start\">Action: start</a>: sample.py, lines 2 to 6</summary>\n<pre>\ndef start():\n  a\n  b &lt; 1"
        ), "{page}");
    }

    #[test]
    fn elements_are_closed_and_names_are_unique() {
        let mut document = sample();
        document.sections.push(document.sections[1].clone());
        assert_eq!(
            names(&document.sections),
            [
                "what-is-remembered",
                "action-start",
                "a-run-may-end",
                "action-start-2"
            ]
        );
        let page = html(&document.shown_at(3));
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
        let document: Document = sample().shown_at(1);
        let plain = text(&document).replace("- ", "");
        let plain: Vec<&str> = plain.split_whitespace().skip(2).collect();
        // A heading needs its colon only where nothing else shows that it is one.
        let plain = plain.join(" ").replace("remembered:", "remembered");
        assert_eq!(visible(&html(&document)), plain);
    }
}
