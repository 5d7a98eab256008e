//! File names of pages: recognizable, safe on every file system, and all different.

use std::collections::BTreeSet;

/// Maximum length of a name. Longer names are cut in front, because files in the same folder differ
/// at the end.
const MAX_LENGTH: usize = 80;

/// Returns a page name for each file name, in the same order.
pub(super) fn page_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    // The name of the first page must not be taken by a file called `index`.
    let mut taken = BTreeSet::from(["index".to_owned()]);
    names
        .map(|name| {
            let plain = plain_name(name);
            let mut stem = plain.clone();
            let mut number = 2;
            while !taken.insert(stem.clone()) {
                stem = format!("{plain}-{number}");
                number += 1;
            }
            stem + ".html"
        })
        .collect()
}

/// Reduces a name to lower-case ASCII letters, digits and a few characters between them. Such a
/// name needs no quoting in a link or a shell, and names do not differ only in case, which some
/// file systems ignore.
fn plain_name(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| match letter.to_ascii_lowercase() {
            letter @ ('a'..='z' | '0'..='9' | '.' | '-') => letter,
            _ => '_',
        })
        .collect();
    let start = plain.len().saturating_sub(MAX_LENGTH);
    // A dot in front would hide the page.
    let plain = plain[start..].trim_start_matches(['.', '_', '-']);
    if plain.is_empty() {
        "file".to_owned()
    } else {
        plain.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognisable_and_different() {
        let names = [
            "shop/cart.py",
            "shop_cart.py",
            "Shop/cart.py",
            "/elsewhere/../.hidden.py",
            "index",
            "店.py",
            "店",
            "",
        ];
        assert_eq!(
            page_names(names.into_iter()),
            [
                "shop_cart.py.html",
                "shop_cart.py-2.html",
                "shop_cart.py-3.html",
                "elsewhere_.._.hidden.py.html",
                "index-2.html",
                "py.html",
                "file.html",
                "file-2.html",
            ]
        );
        let long = format!("{}/end.py", "folder/".repeat(100));
        let name = &page_names([long.as_str()].into_iter())[0];
        assert!(name.len() < 100 && name.ends_with("_end.py.html"), "{name}");
    }
}
