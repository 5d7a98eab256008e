//! Promises that hold for every text, however broken.

use testwright_core::{ActionId, TemplateId};
use testwright_lang::{Severity, parse};

/// Returns the first promise that parsing this text breaks.
pub(crate) fn broken_promise(text: &str) -> Option<String> {
    let (harness, diagnostics) = parse(text);
    for found in &diagnostics {
        let ranges =
            std::iter::once(&found.range).chain(found.related.iter().map(|related| &related.0));
        for range in ranges {
            if text.get(range.clone()).is_none() {
                return Some(format!(
                    "`{}` points at {range:?}, which is no part of the text",
                    found.name
                ));
            }
        }
        if found.message.is_empty() || found.message.ends_with('.') {
            return Some(format!("`{}` says {:?}", found.name, found.message));
        }
        let words = [&found.message, &found.label]
            .into_iter()
            .chain(&found.help);
        // The name that is written for a slot while code is checked must not reach the user.
        if let Some(words) = words.into_iter().find(|words| words.contains("tw_hole")) {
            return Some(format!("`{}` says {words:?}", found.name));
        }
    }
    if diagnostics
        .windows(2)
        .any(|pair| pair[0].range.start > pair[1].range.start)
    {
        return Some(String::from("diagnostics are not in order of place"));
    }
    if diagnostics
        .iter()
        .any(|found| found.severity == Severity::Error)
    {
        return None;
    }
    let catalog = &harness.catalog;
    if catalog.templates().len() != harness.actions.len() {
        return Some(String::from("templates and actions are not in step"));
    }
    for (number, template) in catalog.templates().iter().enumerate() {
        if template.axes != harness.actions[number].axes {
            return Some(format!(
                "template {number} and its action differ in their axes"
            ));
        }
    }
    check_texts(&harness.catalog)
}

/// Maximum number of templates to check.
const MAX_TEMPLATES: usize = 100;

/// Checks that the first and last action of every template are found by their texts.
fn check_texts(catalog: &testwright_core::Catalog) -> Option<String> {
    // Finding an action visits every template, so only some of many templates are tried.
    let stride = catalog.templates().len() / MAX_TEMPLATES + 1;
    let mut start = 0;
    for template in (0..catalog.templates().len()).map(TemplateId) {
        let count = catalog.count(template);
        if template.0 % stride != 0 {
            start += count;
            continue;
        }
        for action in [start, (start + count).saturating_sub(1)].map(ActionId) {
            let text = if count > 0 {
                catalog.text(action)
            } else {
                continue;
            };
            if text.contains('\n') {
                return Some(format!("the text {text:?} has more than one line"));
            }
            let wanted = catalog.first_copy(action);
            let found = catalog.find(&text);
            if found.len() < 65_536 && !found.contains(&wanted) {
                return Some(format!("the action {text:?} is not found by its text"));
            }
        }
        start += count;
    }
    None
}
