//! The list of crates in ARCHITECTURE.md is what the `Cargo.toml` files say.

use super::files::{folders, read};

/// Reads the crates of ours that a `Cargo.toml` names as dependencies, for any purpose.
fn uses(manifest: &str) -> Vec<String> {
    let mut names: Vec<String> = manifest
        .lines()
        .filter_map(|line| line.strip_prefix("testwright-"))
        .map(|rest| rest.split(['.', ' ', '=']).next().unwrap().to_owned())
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Reads the list from ARCHITECTURE.md: each crate with those that its section says it uses.
fn listed(map: &str) -> Vec<(String, Vec<String>)> {
    let mut crates: Vec<(String, Vec<String>)> = Vec::new();
    for line in map.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            let name = heading.strip_prefix("`crates/");
            let name = name.map_or("", |name| name.trim_end_matches('`'));
            crates.push((name.to_owned(), Vec::new()));
        } else if let (Some(names), Some((_, uses))) =
            (line.strip_prefix("Uses: "), crates.last_mut())
        {
            *uses = names
                .split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned)
                .collect();
            uses.sort();
        }
    }
    crates.retain(|(name, _)| !name.is_empty());
    crates
}

/// Compares the list with the dependencies, and returns a sentence for each difference.
fn differences(map: &str, manifests: &[(String, String)]) -> Vec<String> {
    let listed = listed(map);
    let mut problems = Vec::new();
    for (name, manifest) in manifests {
        let uses = uses(manifest);
        let Some(position) = listed.iter().position(|(other, _)| other == name) else {
            problems.push(format!("`crates/{name}` is not listed"));
            continue;
        };
        if listed[position].1 != uses {
            let told = &listed[position].1;
            problems.push(format!(
                "`crates/{name}` uses {uses:?}, and its section says {told:?}"
            ));
        }
        let above: Vec<&String> = listed[..position].iter().map(|(name, _)| name).collect();
        for used in uses.iter().filter(|used| !above.contains(used)) {
            problems.push(format!(
                "`crates/{name}` uses `crates/{used}`, which is not above it"
            ));
        }
    }
    for (name, _) in &listed {
        if !manifests.iter().any(|(other, _)| other == name) {
            problems.push(format!("`crates/{name}` is listed and does not exist"));
        }
    }
    problems
}

#[test]
fn architecture_lists_the_crates_in_the_order_of_their_dependencies() {
    let manifests: Vec<(String, String)> = folders("crates")
        .into_iter()
        .map(|name| {
            let manifest = read(&format!("crates/{name}/Cargo.toml"));
            (name, manifest)
        })
        .collect();
    let problems = differences(&read("ARCHITECTURE.md"), &manifests);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn a_wrong_list_is_noticed() {
    let manifests = [
        ("a", "[dependencies]\n"),
        ("b", "[dependencies]\ntestwright-a.workspace = true\n"),
    ];
    let manifests = manifests.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let check = |map: &str| differences(map, &manifests).join("; ");
    assert_eq!(check("### `crates/a`\n### `crates/b`\nUses: `a`.\n"), "");
    assert_eq!(
        check("### `crates/b`\nUses: `a`.\n### `crates/a`\n"),
        "`crates/b` uses `crates/a`, which is not above it"
    );
    assert_eq!(
        check("### `crates/a`\n### `crates/b`\n"),
        "`crates/b` uses [\"a\"], and its section says []"
    );
    assert_eq!(
        check("### `crates/a`\n### `crates/b`\nUses: `a`.\n### `crates/c`\n"),
        "`crates/c` is listed and does not exist"
    );
    assert_eq!(
        check("### `crates/b`\nUses: `a`.\n"),
        "`crates/a` is not listed; `crates/b` uses `crates/a`, which is not above it"
    );
}
