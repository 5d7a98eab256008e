//! The first page: the totals, and a table of all files that can be sorted and searched.

use std::fmt::Write;

use super::escape::Escaped;
use super::{count_with_noun, coverage_bar, group_digits, name_with_folder, page_foot, page_head};
use crate::Timestamp;
use crate::coverage::{CoverageReport, CoverageSummary};

/// A file in the table.
pub(super) struct IndexRow {
    /// File name of its page.
    pub(super) page: String,
    /// Name of the file.
    pub(super) name: String,
    /// Numbers of the file.
    pub(super) counts: CoverageSummary,
}

const SCRIPT: &str = include_str!("index.js");

/// Renders the first page.
pub(super) fn index(report: &CoverageReport, rows: &[IndexRow], timestamp: Timestamp) -> String {
    let total: CoverageSummary = rows.iter().map(|row| row.counts).sum();
    let percentage = total.percentage_text(0);
    let mut text = page_head(&format!("{percentage}% covered"), SCRIPT);
    let _ = write!(
        text,
        "<body class=\"index\">\n<header>\n<p class=\"kicker\">Coverage</p>\n\
         <h1>{percentage}<small>%</small></h1>\n{bar}\n<dl>\n",
        bar = coverage_bar(&total)
    );
    let fact = |number: usize, noun: &str, remark: String| {
        let quantity = count_with_noun(number, noun);
        let (number, noun) = quantity.split_once(' ').unwrap_or((&quantity, ""));
        format!("<div><dt>{noun}</dt><dd>{number}{remark}</dd></div>\n")
    };
    let missed = |number: usize| match number {
        0 => String::new(),
        _ => format!(" <span>{} missed</span>", group_digits(number)),
    };
    text += &fact(rows.len(), "file", String::new());
    text += &fact(
        total.statements,
        "statement",
        missed(total.missed_statements),
    );
    text += &fact(total.branches, "branch", missed(total.missed_branches));
    if total.excluded > 0 {
        text += &fact(total.excluded, "excluded line", String::new());
    }
    text += &fact(report.tests.len(), "test", String::new());
    text += "</dl>\n</header>\n<main>\n";
    if rows.is_empty() {
        text += "<p class=\"nothing\">There are no files to report on.</p>\n";
    } else {
        text += &table(rows);
    }
    text += "</main>\n";
    text += &page_foot(timestamp);
    text
}

/// Renders the table of files.
fn table(rows: &[IndexRow]) -> String {
    let mut text = String::from(
        "<p class=\"search\"><input type=\"search\" id=\"search\" placeholder=\"Find a file\" \
         aria-label=\"Find a file\" autocomplete=\"off\" spellcheck=\"false\"><kbd>/</kbd></p>\n\
         <table>\n<thead>\n<tr>",
    );
    let columns = [
        ("File", "name", "ascending"),
        ("Covered", "cover", "none"),
        ("Statements", "", "none"),
        ("missed", "sub", "none"),
        ("Branches", "", "none"),
        ("missed", "sub", "none"),
    ];
    for (heading, class, sorted) in columns {
        let _ = write!(
            text,
            "<th scope=\"col\" class=\"{class}\" aria-sort=\"{sorted}\"><button>{heading}</button></th>"
        );
    }
    text += "</tr>\n</thead>\n<tbody>\n";
    for row in rows {
        let counts = &row.counts;
        let missed = |number: usize| match number {
            0 => "<td class=\"sub none\">0</td>".to_owned(),
            _ => format!("<td class=\"sub\">{}</td>", group_digits(number)),
        };
        let _ = writeln!(
            text,
            "<tr{empty}><th scope=\"row\" class=\"name\"><a href=\"{page}\" title=\"{title}\">{name}</a></th>\
             <td class=\"cover\" data-value=\"{value}\">{bar}<b>{percentage}%</b></td>\
             <td>{statements}</td>{missed_statements}<td>{branches}</td>{missed_branches}</tr>",
            empty = if counts.covered().1 == 0 {
                " class=\"empty\""
            } else {
                ""
            },
            page = row.page,
            title = Escaped(&row.name),
            name = name_with_folder(&row.name),
            value = counts.percentage(),
            bar = coverage_bar(counts),
            percentage = counts.percentage_text(0),
            statements = group_digits(counts.statements),
            missed_statements = missed(counts.missed_statements),
            branches = group_digits(counts.branches),
            missed_branches = missed(counts.missed_branches),
        );
    }
    text += "</tbody>\n</table>\n<p class=\"nothing\" id=\"no-match\" hidden>No file has that in its name.</p>\n";
    text
}
