//! Catalogs from harness-like lines, for toys and tests. The real language is in the `lang`
//! crate.

use crate::{Axis, Catalog, ChoiceValues, PoolId, SlotPool, SlotRole, Template, TemplatePiece};

/// Builds a catalog from pools (name and size) and lines.
///
/// `<name>` is a slot of a pool: a definition left of `:=`, otherwise a use, and `~<name>` a silent
/// use. `<[1..20]>` and `<[red,green]>` are choices. The part before ` -> ` is a guard, which
/// multiplies the actions but does not show in their text. `*3 ` in front makes three copies.
///
/// # Panics
/// Panics if a line has an unknown pool, or if there are too many actions: toys are written by
/// people who can fix that.
///
/// ```
/// use testwright_core::{ActionId, toys};
///
/// let catalog = toys::catalog(&[("int", 2), ("set", 1)], &["<int> := <[1..3]>", "<set>.add(<int>)"]);
/// assert_eq!(catalog.len(), 2 * 3 + 1 * 2);
/// assert_eq!(catalog.text(ActionId(4)), "int1 = 2");
/// assert_eq!(catalog.text(ActionId(7)), "set0.add(int1)");
/// ```
pub fn catalog(pools: &[(&str, u32)], lines: &[&str]) -> Catalog {
    let pools: Vec<SlotPool> = pools
        .iter()
        .map(|(name, size)| SlotPool {
            name: (*name).to_owned(),
            size: *size,
        })
        .collect();
    let numbered = lines.iter().enumerate();
    let templates = numbered
        .map(|(index, line)| template(&pools, index + 1, line))
        .collect();
    Catalog::new(pools, templates).expect("a toy has few actions")
}

/// Parses one line.
fn template(pools: &[SlotPool], number: usize, line: &str) -> Template {
    let mut template = Template {
        class: line.to_owned(),
        line: number,
        pieces: Vec::new(),
        axes: Vec::new(),
    };
    let mut rest = line;
    if let Some((times, after)) = line.strip_prefix('*').and_then(|line| line.split_once(' ')) {
        let times = times.parse().expect("a number after `*`");
        template.axes.push(Axis::Repeat(times));
        rest = after;
    }
    let (guard, statement) = rest.split_once(" -> ").unwrap_or(("", rest));
    add_placeholders(pools, guard, SlotRole::Use, &mut template);
    template.pieces.clear();
    match statement.split_once(" := ") {
        Some((left, right)) => {
            add_placeholders(pools, left, SlotRole::Definition, &mut template);
            template.pieces.push(TemplatePiece::Text(" = ".to_owned()));
            add_placeholders(pools, right, SlotRole::Use, &mut template);
        }
        None => add_placeholders(pools, statement, SlotRole::Use, &mut template),
    }
    template
}

/// Parses a text with placeholders and adds its pieces and axes to a template.
fn add_placeholders(pools: &[SlotPool], text: &str, role: SlotRole, template: &mut Template) {
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let (name, after) = after.split_once('>').expect("`>` after `<`");
        let (before, role) = match before.strip_suffix('~') {
            Some(before) => (before, SlotRole::SilentUse),
            None => (before, role),
        };
        if !before.is_empty() {
            template.pieces.push(TemplatePiece::Text(before.to_owned()));
        }
        template
            .pieces
            .push(TemplatePiece::Hole(template.axes.len()));
        template.axes.push(axis(pools, name, role));
        rest = after;
    }
    if !rest.is_empty() {
        template.pieces.push(TemplatePiece::Text(rest.to_owned()));
    }
}

/// Parses a placeholder.
fn axis(pools: &[SlotPool], name: &str, role: SlotRole) -> Axis {
    if let Some(choices) = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'))
    {
        let range = choices
            .split_once("..")
            .and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
        return Axis::Choice(match range {
            Some((first, last)) => ChoiceValues::Integers { first, last },
            None => ChoiceValues::Texts(choices.split(',').map(str::to_owned).collect()),
        });
    }
    let index = pools.iter().position(|pool| pool.name == name);
    Axis::Slot {
        pool: PoolId(index.expect("a pool of that name")),
        role,
    }
}
