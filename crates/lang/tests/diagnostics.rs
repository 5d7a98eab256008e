//! Every diagnostic with its place and its text.
//!
//! After a change, run with `UPDATE_EXPECT=1` and read the difference.

use expect_test::{Expect, expect};
use testwright_lang::{Severity, parse};

/// Renders diagnostics, and compares them. Each is a line with severity, name, place and message,
/// then label and help.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "reads better at the calls")]
fn check(source: &str, expected: Expect) {
    let (_, diagnostics) = parse(source);
    let mut shown = String::new();
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let range = &diagnostic.range;
        let before = &source[..range.start];
        let line = 1 + before.matches('\n').count();
        let column = 1 + before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        shown += &format!(
            "{severity}[{}] {line}:{column} {:?}: {}\n",
            diagnostic.name,
            &source[range.clone()],
            diagnostic.message
        );
        if !diagnostic.label.is_empty() {
            shown += &format!("  {}\n", diagnostic.label);
        }
        if let Some((range, words)) = &diagnostic.related {
            shown += &format!("  {:?}: {words}\n", &source[range.clone()]);
        }
        if let Some(help) = &diagnostic.help {
            shown += &format!("  help: {help}\n");
        }
    }
    expected.assert_eq(&shown);
}

// Lines.

#[test]
fn nul() {
    check(
        "x\0 = 1\n",
        expect![[r#"
        error[nul-character] 1:2 "\0": the file contains a NUL character
          not text
          help: save the harness as UTF-8 text
    "#]],
    );
}

#[test]
fn indented_marker() {
    check(
        " <@\nx = 1\n @>\n @import y\nx()\n",
        expect![[r#"
            error[indented-marker] 1:2 "<@": `<@`, which starts a raw block, must be at the very start of its line
              indented
              help: remove the blanks before it
            error[indented-marker] 3:2 "@>": `@>`, which ends a raw block, must be at the very start of its line
              indented
              help: remove the blanks before it
            error[indented-marker] 4:2 "@": `@`, which marks raw code, must be at the very start of its line
              indented
              help: remove the blanks before it
        "#]],
    );
}

#[test]
fn unclosed_block() {
    check(
        "x()\n<@\nimport y\n",
        expect![[r#"
            error[unclosed-block] 2:1 "<@": this raw block is never closed
              opened here
              help: end it with a line `@>`
        "#]],
    );
}

#[test]
fn block_opened_twice() {
    check(
        "x()\n<@\n<@\nimport y\n@>\n",
        expect![[r#"
        warning[block-opened-twice] 3:1 "<@": a raw block is open already, so this line is ignored
          `<@` inside a raw block
          "<@": opened here
    "#]],
    );
}

#[test]
fn stray_block_end() {
    check(
        "@>\nx()\n",
        expect![[r#"
            warning[stray-block-end] 1:1 "@>": `@>` closes a raw block, but none is open
              no `<@` before this
              help: put a line `<@` where the raw code starts
        "#]],
    );
}

#[test]
fn text_behind_marker() {
    check(
        "<@ import a\n@> b\nx()\n",
        expect![[r#"
        warning[text-behind-marker] 1:4 "import a": text behind `<@` is ignored
          ignored
          help: put it on a line of its own
        warning[text-behind-marker] 2:4 "b": text behind `@>` is ignored
          ignored
          help: put it on a line of its own
    "#]],
    );
}

#[test]
fn comment_with_backslash() {
    check(
        "# first \\\nx()\ny()\n",
        expect![[r##"
        warning[swallowed-by-comment] 2:1 "x()": this line is part of the comment before it, which ends in a backslash
          ignored
          "# first \\": the comment
          help: remove the backslash at the end of the comment
    "##]],
    );
}

#[test]
fn joined_keyword_line() {
    check(
        "x()\ncompare: in\\\ncompare: get\n",
        expect![[r#"
        warning[joined-keyword-line] 3:1 "compare: get": this line is joined with the one before it, which ends in a backslash
          not a line of its own
          "compare: in\\": continued by the backslash at its end
          help: remove the backslash at the end of the line before
    "#]],
    );
}

#[test]
fn nothing_to_continue() {
    check(
        "x()\\\n",
        expect![[r#"
        warning[nothing-to-continue] 1:4 "\\": the last line ends in a backslash, but no line follows
          continues nothing
    "#]],
    );
}

#[test]
fn blanks_behind_backslash() {
    check(
        "f(1, \\  \n  2)\n",
        expect![[r#"
        warning[blanks-behind-backslash] 1:7 "  ": blanks follow the backslash at the end of this line
          blanks here
          help: remove them; the line is continued nevertheless
    "#]],
    );
}

#[test]
fn trailing_comment_with_backslash() {
    check(
        "f() # first \\\ng()\nh()\n",
        expect![[r##"
        warning[swallowed-by-comment] 2:1 "g()": this line is part of the comment before it, which ends in a backslash
          ignored
          "# first \\": the comment
          help: remove the backslash at the end of the comment
    "##]],
    );
}

// Keywords.

#[test]
fn empty_file() {
    check(
        "",
        expect![[r#"
            error[no-actions] 1:1 "": the harness is empty
              help: declare a pool with `pool: <x> 3` and give it values with an action `<x> := <[1..9]>`
        "#]],
    );
}

#[test]
fn no_actions() {
    check(
        "pool: <x> 1\n",
        expect![[r#"
        error[no-actions] 1:1 "": the harness has no actions
          help: write at least one line that does something, such as `<x> := 1`
    "#]],
    );
}

#[test]
fn misspelt_keyword() {
    check(
        "propertry: x\ny()\n",
        expect![[r#"
        error[unknown-keyword] 1:1 "propertry:": there is no keyword `propertry:`
          not a keyword
          help: did you mean `property:`?
    "#]],
    );
}

#[test]
fn keyword_in_capitals() {
    check(
        "Pool: <x> 3\ny()\n",
        expect![[r#"
        error[unknown-keyword] 1:1 "Pool:": there is no keyword `Pool:`
          not a keyword
          help: did you mean `pool:`?
    "#]],
    );
}

#[test]
fn misspelt_header_in_a_section() {
    check(
        "pools:\n<x> 1\nActions:\n<x> := 1\n",
        expect![[r#"
        error[unknown-keyword] 3:1 "Actions:": there is no keyword `Actions:`
          not a keyword
          help: did you mean `actions:`?
    "#]],
    );
}

#[test]
fn unknown_keyword() {
    check(
        "timeout: 5\n",
        expect![[r#"
            warning[unknown-keyword] 1:1 "timeout:": there is no keyword `timeout:`, so the line is taken for an action
              not a keyword
              help: the keywords are `pool:`, `property:`, `init:`, `finally:`, `log:`, `assume:`, `hint:`, `exception:`, `reference:`, `compare:`, `source:`, `feature:`, `expect:`
        "#]],
    );
}

#[test]
fn missing_colon() {
    check(
        "pool <x> 3\nproperty f(1)\ny()\n",
        expect![[r#"
        error[missing-colon] 1:1 "pool": the keyword `pool` needs a colon
          no colon
          help: write `pool: <x> 3`
        error[missing-colon] 2:1 "property": the keyword `property` needs a colon
          no colon
          help: write `property: f(1)`
    "#]],
    );
}

#[test]
fn wrong_section() {
    check(
        "pools:\n<x> 1\nproperty: f(<x>)\nactions:\n<x> := 1\n",
        expect![[r#"
        error[wrong-section] 3:1 "property:": `property:` cannot stand in the section `pools:`
          every line here is read as `pool:`
          "pools:": the section starts here
          help: put a header `properties:` before it, or move it out of the section
    "#]],
    );
}

#[test]
fn text_behind_header() {
    check(
        "actions: x()\ny()\n",
        expect![[r#"
        warning[text-behind-header] 1:10 "x()": text behind the section header `actions:` is ignored
          ignored
          help: put it on a line of its own
    "#]],
    );
}

#[test]
fn repeat_without_number() {
    check(
        "*x y()\n",
        expect![[r#"
            error[bad-repeat] 1:1 "*x": `*` at the start of a line must be followed by a number
              help: write `*3 <x> := 1` to have an action three times as often, at most 1000000 times
        "#]],
    );
}

#[test]
fn repeat_zero() {
    check(
        "*0 y()\n",
        expect![[r#"
            error[bad-repeat] 1:1 "*0": the line is repeated zero times, so it has no actions
              help: write `*3 <x> := 1` to have an action three times as often, at most 1000000 times
        "#]],
    );
}

#[test]
fn repeat_too_often() {
    check(
        "*99999999999 y()\n",
        expect![[r#"
            error[bad-repeat] 1:1 "*99999999999": the repeat count is too large
              help: write `*3 <x> := 1` to have an action three times as often, at most 1000000 times
        "#]],
    );
}

#[test]
fn repeat_nothing() {
    check(
        "*3\n",
        expect![[r#"
            error[bad-repeat] 1:1 "*3": nothing stands behind the repeat count
              help: write `*3 <x> := 1` to have an action three times as often, at most 1000000 times
        "#]],
    );
}

#[test]
fn repeat_of_a_keyword_line() {
    check(
        "*3 property: x\n",
        expect![[r#"
            error[bad-repeat] 1:1 "*3": only actions can be repeated
              help: write `*3 <x> := 1` to have an action three times as often, at most 1000000 times
        "#]],
    );
}

#[test]
fn nothing_behind_keyword() {
    check(
        "init:\nproperty: # soon\nlog: 1\nx()\n",
        expect![[r#"
            error[empty-part] 1:1 "init:": nothing stands behind `init:`
              no content
              help: write something behind it; a section of such lines starts with `inits:`
            error[empty-part] 2:1 "property: # soon": nothing stands behind `property:`
              no content
              help: write something behind it; a section of such lines starts with `properties:`
        "#]],
    );
}

// Pools.

#[test]
fn pool_without_name() {
    check(
        "pool:\nx()\n",
        expect![[r#"
        error[bad-pool] 1:1 "pool:": the pool has no name
          help: write `pool: <name> 3`: the name in angle brackets, then the number of slots; a section of pools starts with `pools:`
    "#]],
    );
}

#[test]
fn pool_without_brackets() {
    check(
        "pool: x 3\ny()\n",
        expect![[r#"
            error[bad-pool-name] 1:7 "x": the name of a pool stands in angle brackets, not plainly as `x`
              help: write `pool: <x> 3`
        "#]],
    );
}

#[test]
fn bad_pool_name() {
    check(
        "pool: <a-b> 3\ny()\n",
        expect![[r#"
            error[bad-pool-name] 1:7 "<a-b>": `<a-b>` cannot be the name of a pool: only letters, digits and underscores can
              help: write `pool: <a_b> 3`
        "#]],
    );
}

#[test]
fn pool_without_size() {
    check(
        "pool: <x>\n<x> := 1\n",
        expect![[r#"
            error[bad-pool-size] 1:7 "<x>": the pool `<x>` has no size
              help: write `pool: <x> 3` for three slots
        "#]],
    );
}

#[test]
fn pool_size_is_no_number() {
    check(
        "pools:\n<x> := 1\n",
        expect![[r#"
            error[unknown-pool] 2:1 "<x>": no pool named `<x>`
              not declared in this harness
              help: declare it with `pool: <x> 2`
            error[wrong-section] 2:1 "<x> := 1": an action cannot stand in the section `pools:`
              every line here is read as `pool:`
              "pools:": the section starts here
              help: put a header `actions:` before it
        "#]],
    );
}

#[test]
fn pool_size_negative() {
    check(
        "pool: <x> -1\ny()\n",
        expect![[r#"
            error[bad-pool-size] 1:11 "-1": the size of a pool is at least 1
              help: write `pool: <x> 1`
        "#]],
    );
}

#[test]
fn pool_too_large() {
    check(
        "pool: <x> 99999999999\ny()\n",
        expect![[r#"
        error[bad-pool-size] 1:11 "99999999999": a pool can have at most 1000000 slots
          help: a handful is usually enough
    "#]],
    );
}

#[test]
fn pool_of_zero() {
    check(
        "pool: <x> 0\n<x> := 1\n",
        expect![[r#"
            warning[empty-pool] 1:11 "0": a pool without slots: every action that names it vanishes
              no slots
              help: write `pool: <x> 1` for one slot
        "#]],
    );
}

#[test]
fn unknown_flag() {
    check(
        "pool: <x> 1 ref SHINY\n<x> := 1\n",
        expect![[r#"
            warning[unknown-flag] 1:13 "ref": `ref` is not a flag of pools, so it is ignored
              ignored
              help: write `REF`: flags are written in capitals
            warning[unknown-flag] 1:17 "SHINY": `SHINY` is not a flag of pools, so it is ignored
              ignored
              help: the flags are REF, CONST, OPAQUE, OPAQUEREF, ABSTRACT, and `: type`
        "#]],
    );
}

#[test]
fn flag_without_argument() {
    check(
        "pool: <x> 1 ABSTRACT\npool: <y> 1 :\nz()\n",
        expect![[r#"
        error[bad-pool-flag] 1:13 "ABSTRACT": `ABSTRACT` must be followed by a function
          help: write `pool: <x> 3 ABSTRACT len`
        error[bad-pool-flag] 2:13 ":": `:` must be followed by a type
          help: write `pool: <x> 3 : int`
    "#]],
    );
}

#[test]
fn type_is_no_expression() {
    check(
        "pool: <x> 1 : in(t\ny()\n",
        expect![[r#"
            error[bad-pool-flag] 1:15 "in(t": `in(t` is not an expression: `in` is a keyword of Python and cannot stand here
              help: write it in one piece, without blanks
        "#]],
    );
}

#[test]
fn pool_declared_twice() {
    check(
        "pool: <x> 1\npool: <x> 2\n<x> := 1\n",
        expect![[r#"
        warning[pool-declared-twice] 2:7 "<x>": the pool `<x>` is declared twice; the later size counts
          declared again
          "<x>": first declared here
    "#]],
    );
}

#[test]
fn pool_is_a_twin() {
    check(
        "pool: <x> 1 REF\npool: <x_REF> 1\ny()\n",
        expect![[r#"
        error[pool-is-twin] 2:7 "<x_REF>": `x_REF` is the reference twin of the pool `<x>`
          the name is taken
          "<x>": declared with `REF` here
          help: choose another name
    "#]],
    );
}

#[test]
fn unused_pool() {
    check(
        "pool: <x> 1\ny()\n",
        expect![[r#"
            warning[unused-pool] 1:7 "<x>": the pool `<x>` is never used
              never used
              help: use it in an action, or remove it
        "#]],
    );
}

#[test]
fn never_initialised() {
    check(
        "pool: <x> 1\npool: <y> 1\n<x>.f()\nlen(<y>) > 0 -> <x,1> = 2; g(<x>)\n",
        expect![[r#"
            warning[never-initialized] 1:7 "<x>": no action initializes the pool `<x>`, so no action that uses it can happen
              never filled
              "len(<y>) > 0 -> <x,1> = 2; g(<x>)": `=` only changes a slot that holds a value already
              help: write `<x> := …` to give it its first value
            warning[never-initialized] 2:7 "<y>": no action initializes the pool `<y>`, so no action that uses it can happen
              never filled
              help: add an action such as `<y> := …`
        "#]],
    );
}

// Placeholders.

#[test]
fn unknown_pool() {
    check(
        "pool: <AVL> 1\n<AVL> := 1\n<avl>.insert(1)\nf(%OTHER%, <avl>)\n",
        expect![[r#"
            error[unknown-pool] 3:1 "<avl>": no pool named `<avl>`
              not declared in this harness, but named 2 times
              help: did you mean `<AVL>`? Otherwise declare it: `pool: <avl> 2`
            error[unknown-pool] 4:3 "%OTHER%": no pool named `<OTHER>`
              not declared in this harness
              help: declare it with `pool: <OTHER> 2`
        "#]],
    );
}

#[test]
fn unknown_pool_in_a_back_reference() {
    check(
        "f(<x,1>)\n",
        expect![[r#"
        error[unknown-pool] 1:3 "<x,1>": no pool named `<x>`
          not declared in this harness
          help: declare it with `pool: <x> 2`
    "#]],
    );
}

#[test]
fn comparison_is_no_pool() {
    check("x = a<b>c\ny = 5%3 - a%b%c\n", expect![[""]]);
}

#[test]
fn back_reference_too_large() {
    check(
        "pool: <x> 2\n<x> := 1\nf(<x>, <x,3>)\n",
        expect![[r#"
            error[bad-back-reference] 3:8 "<x,3>": the line has only one `<x>`, so `<x,3>` does not exist
              refers to nothing
              help: write `<x,1>` for the slot of that one
        "#]],
    );
}

#[test]
fn back_reference_to_nothing() {
    check(
        "pool: <x> 2\n<x> := 1\nf(<x,1>)\n",
        expect![[r#"
        error[bad-back-reference] 3:3 "<x,1>": the line has no `<x>` to which `<x,1>` could refer
          refers to nothing
          help: write `<x>` where the slot is to be chosen
    "#]],
    );
}

#[test]
fn no_twin() {
    check(
        "pool: <x> 1\n<x> := 1\nf(REF:<x>)\n",
        expect![[r#"
            error[no-twin] 3:3 "REF:<x>": the pool `<x>` has no reference twin
              help: declare it with `REF`: `pool: <x> 1 REF`
        "#]],
    );
}

#[test]
fn format_is_a_placeholder() {
    check(
        "pool: <s> 1\n<s> := \"%s%s\"\n",
        expect![[r#"
        warning[format-is-placeholder] 2:9 "%s%": `%s%` in this string means the pool `<s>`
          replaced by the slot
          help: if it is a format, put a blank between the two, or rename the pool
    "#]],
    );
}

// Choices.

#[test]
fn unclosed_choice() {
    check(
        "x = <[1,2\n",
        expect![[r#"
        error[unclosed-choice] 1:5 "<[": this choice is never closed
          help: end it with `]>`
    "#]],
    );
}

#[test]
fn unclosed_choice_with_double_commas() {
    check(
        "x = <,[1,,2]>\n",
        expect![[r#"
            error[unclosed-choice] 1:5 "<,[": this choice is never closed
              help: end it with `],>`: `<,[1,,2],>`
        "#]],
    );
}

#[test]
fn bad_range() {
    check(
        "x = <[1..n]>\n",
        expect![[r#"
            error[bad-range] 1:5 "<[1..n]>": `1..n` is neither a range of integers nor of characters
              help: write `<[1..20]>` or `<['a'..'z']>`, or list the values: `<[0.5,1.0,2.5]>`
        "#]],
    );
}

#[test]
fn range_too_large() {
    check(
        "x = <[1..99999999999999999999]>\n",
        expect![[r#"
            error[bad-range] 1:5 "<[1..99999999999999999999]>": the numbers of the range `1..99999999999999999999` are too large
              help: use smaller numbers
        "#]],
    );
}

#[test]
fn empty_range() {
    check(
        "x = <[5..1]>\n",
        expect![[r#"
            warning[empty-choice] 1:5 "<[5..1]>": the range is empty, so the line has no actions
              nothing to choose
              help: the smaller end of a range comes first: `<[1..9]>`
        "#]],
    );
}

#[test]
fn empty_choice() {
    check(
        "x = <[]>\n",
        expect![[r#"
        warning[empty-choice] 1:5 "<[]>": the choice has no alternatives, so the line has no actions
          nothing to choose
          help: write the alternatives between the brackets: `<[1,2,3]>`
    "#]],
    );
}

#[test]
fn too_many_alternatives() {
    check(
        "pool: <x> 1\n<x> := 1\nf(<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>)\n",
        expect![[r#"
        error[too-many-alternatives] 3:1 "f(<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>,<[<x>,1]>)": the choices of this line have too many combinations of alternatives with placeholders
          help: write several lines, or use a pool
    "#]],
    );
}

#[test]
fn too_many_actions() {
    check(
        "f(<[1..10000]>,<[1..10000]>,<[1..10000]>,<[1..10000]>)\n",
        expect![[r#"
        error[too-many-actions] 1:1 "f(<[1..10000]>,<[1..10000]>,<[1..10000]>,<[1..10000]>)": with this line the harness has more than 281474976710656 actions
          help: use smaller ranges, or fewer placeholders in one line
    "#]],
    );
}

#[test]
fn too_deep() {
    check(
        "f(<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,<[1,2]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>]>)\n",
        expect![[r#"
            error[too-deep] 1:87 "<[1,<[1,<[1,<[1,2]>]>]>]>": choices are nested too deeply
              help: write several lines, or use a pool
        "#]],
    );
}

// Actions.

#[test]
fn unclosed_exceptions() {
    check(
        "{KeyError x()\n",
        expect![[r#"
            error[unclosed-exceptions] 1:1 "{": the list of exceptions is never closed
              no `}` follows
              help: write `{KeyError} statement`
        "#]],
    );
}

#[test]
fn bad_exception() {
    check(
        "{KeyError IndexError, !} x()\nexception: 1 2\n",
        expect![[r#"
            error[bad-exception] 1:11 "IndexError": `KeyError IndexError` does not name an exception
              help: write class names with commas between: `{KeyError, IndexError}`
            error[bad-exception] 1:23 "!": `!` must be followed by an exception
              help: write `{!ValueError}` for one that is to be reported as a warning
            error[bad-exception] 2:14 "2": `1 2` does not name an exception
              help: write class names with commas between: `exception: KeyError, ValueError`
        "#]],
    );
}

#[test]
fn no_exceptions() {
    check(
        "{} x()\n",
        expect![[r#"
        warning[empty-exceptions] 1:1 "{}": the list of exceptions is empty, so none is expected
          help: name those that may be raised: `{KeyError} statement`; `{Exception}` is any
    "#]],
    );
}

#[test]
fn empty_guard() {
    check(
        "-> x()\n",
        expect![[r#"
        error[empty-part] 1:1 "->": the guard is empty
          no condition before `->`
    "#]],
    );
}

#[test]
fn empty_statement() {
    check(
        "a -> => b\n{E}\n",
        expect![[r#"
            error[empty-part] 1:3 "->": the statement is empty
              no statement behind `->`
            error[empty-part] 2:1 "{E}": the statement is empty
              no statement behind the exceptions
        "#]],
    );
}

#[test]
fn empty_post_condition() {
    check(
        "x() =>\n",
        expect![[r#"
        error[empty-part] 1:5 "=>": the post-condition is empty
          no condition behind `=>`
    "#]],
    );
}

#[test]
fn second_arrow() {
    check(
        "a -> b -> c\n",
        expect![[r#"
            warning[dropped-text] 1:11 "c": text behind a second `->` is ignored
              never executed
              help: a line has one guard: join conditions with `and`, statements with `;`
        "#]],
    );
}

#[test]
fn second_post_condition() {
    check(
        "a => b => c\n",
        expect![[r#"
            warning[dropped-text] 1:11 "c": text behind a second `=>` is ignored
              never executed
              help: join conditions with `and`; greater or equal is written `>=`
        "#]],
    );
}

#[test]
fn statement_behind_post_condition() {
    check("a => b; c\n", expect![""]);
}

#[test]
fn semicolon_behind_post_condition() {
    check("a => b == 1, 'm';\nproperty: c ; \n", expect![[""]]);
}

#[test]
fn post_condition_before_guard() {
    check(
        "a => b -> c\n",
        expect![[r#"
            error[post-before-guard] 1:3 "=>": the guard comes first, the post-condition last
              stands before the guard's `->`
              help: write `guard -> statement => post-condition`; greater or equal is written `>=`
        "#]],
    );
}

#[test]
fn pre_in_a_statement() {
    check(
        "f(pre<(x)>)\n",
        expect![[r#"
        error[misplaced-pre] 1:3 "pre<(": `pre<(…)>` cannot stand in a statement
          help: it belongs into a post-condition, behind `=>`, or into a raw function
    "#]],
    );
}

#[test]
fn pre_in_a_property() {
    check(
        "property: pre<(x)> == 1\ny()\n",
        expect![[r#"
        error[misplaced-pre] 1:11 "pre<(": `pre<(…)>` cannot stand in a `property:` line
          help: it belongs into a post-condition, behind `=>`, or into a raw function
    "#]],
    );
}

#[test]
fn unclosed_pre() {
    check(
        "x() => pre<(y == 1\n",
        expect![[r#"
        error[unclosed-pre] 1:8 "pre<(": this `pre<(` is never closed
          help: end the expression with `)>`
    "#]],
    );
}

#[test]
fn nested_pre() {
    check(
        "x() => pre<(f(pre<(y)>))> == 1\n",
        expect![[r#"
            error[nested-pre] 1:15 "pre<(y)>": a `pre<(…)>` cannot stand inside another one
              help: write one around the whole expression
        "#]],
    );
}

#[test]
fn expect_without_arrow() {
    check(
        "expect: x()\n",
        expect![[r#"
            error[bad-expect] 1:9 "x()": an `expect:` line needs `==>`
              help: write `expect: x() ==> name(arguments)`
        "#]],
    );
}

#[test]
fn bad_expect() {
    check(
        "x() ==> y\n",
        expect![[r#"
            error[bad-expect] 1:9 "y": `name(arguments)` must follow `==>`
              help: a condition stands behind `=>`; behind `==>` stands the name of three functions, `name_before`, `name_after` and `name_check`, and their arguments
        "#]],
    );
}

#[test]
fn definition_in_init() {
    check(
        "pool: <x> 1\ninit: <x> := 1\nf(<x>)\n",
        expect![[r#"
            error[misplaced-definition] 2:11 ":=": `:=` cannot stand in an `init:` line
              help: write `init: <x> = 1`
        "#]],
    );
}

#[test]
fn arrow_in_a_property() {
    check(
        "property: a -> b\nx()\n",
        expect![[r#"
            error[misplaced-separator] 1:13 "->": `->` cannot stand in a `property:` line
              help: only actions have a guard; for “if a, then b” write `not a or b`
        "#]],
    );
}

// Host code.

#[test]
fn guard() {
    check(
        "x = -> y()\n",
        expect![[r#"
        error[host-syntax] 1:3 "=": syntax error in the guard: an assignment has no value; to compare, write `==`
    "#]],
    );
}

#[test]
fn statement() {
    check(
        "f(1 2)\n",
        expect![[r#"
        error[host-syntax] 1:5 "2": syntax error in the statement: expected `,`, found `2`
    "#]],
    );
}

#[test]
fn continuation_line() {
    check(
        "f(1, \\\n  2 3)\n",
        expect![[r#"
        error[host-syntax] 2:5 "3": syntax error in the statement: expected `,`, found `3`
    "#]],
    );
}

#[test]
fn post_condition() {
    check(
        "f() => a b\n",
        expect![[r#"
        error[host-syntax] 1:10 "b": syntax error in the post-condition: expected the end of the expression, found `b`
    "#]],
    );
}

#[test]
fn message() {
    check(
        "f() => a, b c\n",
        expect![[r#"
        error[host-syntax] 1:13 "c": syntax error in the message: expected the end of the expression, found `c`
    "#]],
    );
}

#[test]
fn one_alternative() {
    check(
        "<[f,g,h i]>(1)\n",
        expect![[r#"
            error[host-syntax] 1:9 "i": syntax error in the statement with the alternative `h i`: expected the end of the statement; statements on one line are separated by `;`
              help: alternatives are separated by commas: `<[1,2,3]>`
        "#]],
    );
}

#[test]
fn property() {
    check(
        "property: x = 1\ny()\n",
        expect![[r#"
        error[host-syntax] 1:13 "=": syntax error in the property: an assignment has no value; to compare, write `==`
    "#]],
    );
}

#[test]
fn raw_code() {
    check(
        "<@\ndef f(:\n  pass\n@>\nx()\n",
        expect![[r#"
        error[host-syntax] 2:7 ":": syntax error in the raw code: expected a parameter or the end of the parameter list
    "#]],
    );
}

#[test]
fn raw_line() {
    check(
        "@x = = 1\ny()\n",
        expect![[r#"
        error[host-syntax] 1:6 "=": syntax error in the raw code: expected an expression, found `=`
    "#]],
    );
}

#[test]
fn python_2() {
    check(
        "@print \"a\"\nprint \"b\"\nx <> y -> f()\n",
        expect![[r#"
        error[python-2] 1:2 "print \"a\"": `print` is a statement only in Python 2
          help: write `print("a")`
        error[python-2] 2:1 "print \"b\"": `print` is a statement only in Python 2
          help: write `print("b")`
        error[python-2] 3:3 "<>": `<>` is an operator only in Python 2
          help: write `!=`
    "#]],
    );
}

#[test]
fn much_python_2() {
    check(
        "<@\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\nprint 1\n@>\nx()\n",
        expect![[r#"
        error[python-2] 2:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 3:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 4:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 5:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 6:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 7:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 8:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 9:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 10:1 "print 1": `print` is a statement only in Python 2
          help: write `print(1)`
        error[python-2] 11:1 "print 1": `print` is a statement only in Python 2 (and 4 more like this)
          help: write `print(1)`
    "#]],
    );
}

#[test]
fn pre_outside_of_functions() {
    check(
        "@x = pre<(1)>\ny()\n",
        expect![[r#"
        error[misplaced-pre] 1:6 "pre<(1)>": `pre<(…)>` stands outside of any function
          help: it is the value of an expression when the function around it was entered
    "#]],
    );
}

#[test]
fn unclosed_pre_in_raw_code() {
    check(
        "<@\ndef f():\n  return pre<(x\n@>\ny()\n",
        expect![[r#"
        error[unclosed-pre] 3:10 "pre<(": this `pre<(` is never closed
          help: end the expression with `)>`
    "#]],
    );
}

#[test]
fn commit_outside_of_guarded_functions() {
    check(
        "<@\ndef f():\n  %COMMIT%\n@>\ny()\n",
        expect![[r#"
        error[misplaced-commit] 3:3 "%COMMIT%": `%COMMIT%` stands outside of a guarded function
          help: it belongs into a function whose name starts with `guarded`
    "#]],
    );
}

// References.

#[test]
fn reference_without_arrow() {
    check(
        "reference: a b\nx()\n",
        expect![[r#"
            error[bad-reference] 1:12 "a b": a `reference:` line needs `==>`
              help: write `reference: a ==> b`
        "#]],
    );
}

#[test]
fn reference_without_pattern() {
    check(
        "reference: ==> b\nx()\n",
        expect![[r#"
        error[bad-reference] 1:12 "==> b": no pattern stands before `==>`
          help: write `reference: pattern ==> replacement`
    "#]],
    );
}

#[test]
fn reference_without_content() {
    check(
        "reference:\ncompare: # x\nx()\n",
        expect![[r#"
            error[empty-part] 1:1 "reference:": nothing stands behind `reference:`
              no content
              help: write something behind it; a section of such lines starts with `references:`
            error[empty-part] 2:1 "compare: # x": nothing stands behind `compare:`
              no content
              help: write something behind it; a section of such lines starts with `compares:`
        "#]],
    );
}

#[test]
fn reference_replaced() {
    check(
        "reference: a ==> b\nreference: a ==> c\nx()\n",
        expect![[r#"
            warning[reference-replaced] 2:12 "a ==> c": `a` was translated on line 1 already; this line replaces it
              help: remove one of the two lines
        "#]],
    );
}

#[test]
fn reference_matches_part_of_a_name() {
    check(
        "pool: <c> 1 REF\n<c> := C(Counter)\nf(<c>)\nreference: C ==> set\n",
        expect![[r#"
        warning[matches-part] 4:1 "reference: C ==> set": the pattern `C` also matches inside `Counter` on line 2
          replaced wherever these letters stand
          help: write `\bC\b` to match whole words
    "#]],
    );
}

#[test]
fn extra_words() {
    check(
        "source: a.py b.py\nx()\n",
        expect![[r#"
        warning[extra-words] 1:14 "b.py": a `source:` line takes one word, the rest is ignored
          ignored
          help: write one `source:` line for each
    "#]],
    );
}
