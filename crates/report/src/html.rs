//! HTML pages: an index of all files, and a page for each with its source, line by line.
//!
//! Each page is self-contained: it loads nothing, works from a disk, and can be sent on its own.
//! The browser chooses light or dark. Without JavaScript everything can be read, except which tests
//! reach a line.
//!
//! Names, tests and source are not trusted. Everything that is not markup goes through `escape.rs`,
//! and a content policy forbids the pages to load or to send anything.

mod branch_text;
mod escape;
mod index;
mod page;
mod page_names;
mod reaching_tests;

use std::fs;
use std::path::{Path, PathBuf};

use crate::atomic_write::write_text;
use crate::coverage::{CoverageReport, CoverageSummary};
use crate::{Error, Timestamp};
use escape::Escaped;

/// One page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportPage {
    /// File name. All names are different, also on file systems that ignore case.
    pub name: String,
    /// Content of the page.
    pub text: String,
}

/// File name of the first page.
pub const INDEX: &str = "index.html";

/// Writes all pages into a folder, which is created if needed. Returns the path of the index.
///
/// Each page is written completely or not at all, and the index last. Other files in the folder are
/// left alone.
pub fn write(
    report: &CoverageReport,
    folder: &Path,
    timestamp: Timestamp,
) -> Result<PathBuf, Error> {
    fs::create_dir_all(folder).map_err(|cause| Error::new(folder, cause))?;
    for page in pages(report, timestamp) {
        write_text(&folder.join(&page.name), &page.text)?;
    }
    Ok(folder.join(INDEX))
}

/// Iterates over all pages, since together they may be large. The index comes last.
pub fn pages(report: &CoverageReport, timestamp: Timestamp) -> impl Iterator<Item = ReportPage> {
    let files = report.sorted_files();
    let names = page_names::page_names(files.iter().map(|(name, _)| name.as_str()));
    let mut rows = Vec::with_capacity(files.len());
    let mut next = 0;
    std::iter::from_fn(move || {
        let number = next;
        next += 1;
        if number > files.len() {
            return None;
        }
        if number == files.len() {
            return Some(ReportPage {
                name: INDEX.to_owned(),
                text: index::index(report, &rows, timestamp),
            });
        }
        let (name, file) = &files[number];
        let findings = file.findings();
        let neighbour = |number: Option<usize>| {
            number.and_then(|number| Some((names.get(number)?.as_str(), files[number].0.as_str())))
        };
        let position = page::PagePosition {
            name,
            previous: neighbour(number.checked_sub(1)),
            next: neighbour(Some(number + 1)),
        };
        let text = page::page(report, file, &findings, &position, timestamp);
        rows.push(index::IndexRow {
            page: names[number].clone(),
            name: name.clone(),
            counts: findings.counts(),
        });
        Some(ReportPage {
            name: names[number].clone(),
            text,
        })
    })
}

const STYLE: &str = include_str!("html/style.css");

/// Renders the beginning of a page, up to its body.
fn page_head(title: &str, script: &str) -> String {
    // The policy is a second defence behind the escaping: nothing is loaded, nothing is sent.
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{STYLE}</style>\n<script>\n{script}</script>\n</head>\n",
        title = Escaped(title),
    )
}

/// Renders the end of a page.
fn page_foot(timestamp: Timestamp) -> String {
    format!(
        "<footer>Testwright {} · {} UTC</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        timestamp.date_and_time()
    )
}

/// Maximum length of a shown name. Longer names lose their first folders; the title of the element
/// has the whole name.
const MAX_NAME: usize = 80;

/// Renders a file's name with its folder less prominent.
fn name_with_folder(name: &str) -> String {
    let count = name.chars().count();
    let name = match count.checked_sub(MAX_NAME) {
        None | Some(0) => name.to_owned(),
        Some(excess) => {
            let start = name
                .char_indices()
                .nth(excess)
                .map_or(0, |(position, _)| position);
            let start = name[start..].find('/').map_or(start, |slash| start + slash);
            format!("…{}", &name[start..])
        }
    };
    let (folder, base) = name.split_at(name.rfind('/').map_or(0, |slash| slash + 1));
    // A line may break after each folder.
    let folder = Escaped(folder).to_string().replace('/', "/<wbr>");
    if folder.is_empty() {
        Escaped(base).to_string()
    } else {
        format!("<span class=\"folder\">{folder}</span>{}", Escaped(base))
    }
}

/// Renders a bar as long as the covered share, colored by its rating.
fn coverage_bar(counts: &CoverageSummary) -> String {
    let share = counts.percentage();
    let judgement = match share {
        90.0.. => "good",
        60.0.. => "fair",
        _ => "poor",
    };
    format!("<span class=\"bar {judgement}\"><span style=\"width:{share:.1}%\"></span></span>")
}

/// Renders a number with its noun.
fn count_with_noun(number: usize, noun: &str) -> String {
    let plural = match (number, noun.strip_suffix("ch")) {
        (1, _) => "",
        (_, Some(_)) => "es",
        (_, None) => "s",
    };
    format!("{} {noun}{plural}", group_digits(number))
}

/// Renders a number with commas between its thousands.
fn group_digits(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::coverage::{Attribution, FileCoverage};
    use crate::toys;

    fn file(path: &str, text: &str, lines: u32) -> FileCoverage {
        FileCoverage {
            path: path.into(),
            text: Some(text.to_owned()),
            statements: (1..=lines).collect(),
            by_test: vec![(0, BTreeSet::from([(-1, 1)]))],
            ..FileCoverage::default()
        }
    }

    fn of(files: Vec<FileCoverage>) -> CoverageReport {
        CoverageReport {
            files,
            ..toys::report()
        }
    }

    fn all(report: &CoverageReport) -> Vec<ReportPage> {
        pages(report, Timestamp(0)).collect()
    }

    /// Checks that the tags of a page are closed and in order.
    fn check_tags(page: &ReportPage) {
        let mut open = Vec::new();
        let mut rest = page.text.as_str();
        while let Some(start) = rest.find('<') {
            rest = &rest[start + 1..];
            if rest.starts_with('!') {
                continue;
            }
            let end = rest.find('>').expect("a tag ends");
            let name: String = (rest.chars())
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '/')
                .collect();
            rest = &rest[end + 1..];
            match name.strip_prefix('/') {
                Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "{}", page.name),
                None if ["meta", "link", "input", "wbr"].contains(&name.as_str()) => {}
                None => {
                    // Scripts and styles are our own, and contain no tags to follow.
                    if let "script" | "style" = name.as_str() {
                        rest = &rest[rest.find(&format!("</{name}")).unwrap()..];
                    }
                    open.push(name);
                }
            }
        }
        assert_eq!(open, Vec::<String>::new(), "{}", page.name);
    }

    #[test]
    fn tags_match_in_every_page() {
        for attribution in [Attribution::Every, Attribution::First] {
            let mut report = toys::report();
            report.attribution = attribution;
            let pages = all(&report);
            assert_eq!(pages.len(), 6);
            assert_eq!(pages[5].name, INDEX);
            pages.iter().for_each(check_tags);
        }
        let nothing = all(&of(Vec::new()));
        assert!(nothing[0].text.contains("There are no files"));
        check_tags(&nothing[0]);
    }

    #[test]
    fn texts_cannot_write_markup() {
        let hostile = "</code></script><script>alert(1)</script><img src=x onerror='alert(\"1\")'>&amp;\0\u{202e}";
        let mut report = of(vec![file(&format!("/project/{hostile}.py"), hostile, 1)]);
        report.tests[0] = hostile.to_owned();
        for attribution in [Attribution::Every, Attribution::First] {
            report.attribution = attribution;
            for page in all(&report) {
                check_tags(&page);
                assert!(!page.text.contains("<script>alert"));
                assert!(!page.text.contains("<img"));
                assert!(!page.text.contains(['\0', '\u{202e}']));
                assert!(page.text.contains("&lt;script&gt;alert(1)"));
                assert!(page.name.is_ascii() && !page.name.contains(['<', '\'', '/', ' ']));
            }
        }
    }

    #[test]
    fn nothing_is_loaded_from_anywhere() {
        for page in all(&toys::report()) {
            for marker in ["http://", "https://", "src=", "@import", "url("] {
                assert!(!page.text.contains(marker), "{marker} in {}", page.name);
            }
        }
    }

    #[test]
    fn a_page_and_an_index_are_written_and_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("deep/er");
        let index = write(&toys::report(), &folder, Timestamp(0)).unwrap();
        assert_eq!(index, folder.join("index.html"));
        write(&toys::report(), &folder, Timestamp(0)).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 6);
    }

    #[test]
    fn every_link_leads_somewhere() {
        let mut files = toys::report().files;
        files.push(file("/project/Shop/cart.py", "", 1));
        files.push(file("/project/shop_cart.py", "", 1));
        let pages = all(&of(files));
        let names: BTreeSet<&str> = pages.iter().map(|page| page.name.as_str()).collect();
        assert_eq!(names.len(), pages.len());
        for page in &pages {
            for link in page.text.split("href=\"").skip(1) {
                let target = link.split('"').next().unwrap();
                let is_line = target.strip_prefix("#L").is_some_and(|line| {
                    line.parse::<u32>().is_ok() && page.text.contains(&format!("id=\"L{line}\""))
                });
                assert!(
                    names.contains(target) || is_line || target == "data:,",
                    "{target} in {}",
                    page.name
                );
            }
        }
    }

    #[test]
    fn a_file_of_200_000_lines_has_a_page() {
        let lines = 200_000;
        let text = "if x:\n".repeat(lines);
        let big = FileCoverage {
            branches: (1..lines as u32 - 1)
                .map(|line| (line, BTreeSet::from([line as i32 + 1, -1])))
                .collect(),
            by_test: (0..3)
                .map(|test| {
                    (
                        test,
                        (1..lines as i32 - 2).map(|line| (line, line + 1)).collect(),
                    )
                })
                .collect(),
            ..file("/project/big.py", &text, lines as u32)
        };
        let pages = all(&of(vec![big]));
        assert!(pages[0].text.contains("id=\"L200000\""));
        assert!(pages[0].text.len() < 60_000_000, "{}", pages[0].text.len());
    }

    #[test]
    fn long_names_lose_their_first_folders() {
        assert_eq!(name_with_folder("a.py"), "a.py");
        assert_eq!(
            name_with_folder("a&b/c.py"),
            "<span class=\"folder\">a&amp;b/<wbr></span>c.py"
        );
        let name = name_with_folder(&format!("{}end.py", "a/b/".repeat(50)));
        assert!(name.starts_with("<span class=\"folder\">…/<wbr>"), "{name}");
        let name = name_with_folder(&"ü".repeat(200));
        assert_eq!(name.chars().count(), MAX_NAME + 1);
    }

    #[test]
    fn quantities() {
        assert_eq!(count_with_noun(1, "branch"), "1 branch");
        assert_eq!(count_with_noun(0, "branch"), "0 branches");
        assert_eq!(count_with_noun(1_234_567, "line"), "1,234,567 lines");
    }
}
