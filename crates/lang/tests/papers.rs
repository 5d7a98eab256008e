//! The listings of the two papers about the language, which must be accepted as printed.

use testwright_core::ActionId;
use testwright_lang::harness::Harness;
use testwright_lang::parse;

#[track_caller]
fn accepted(source: &str, expected_warnings: &[&str]) -> Harness {
    let (harness, diagnostics) = parse(source);
    let names: Vec<&str> = diagnostics
        .iter()
        .map(|diagnostic| diagnostic.name)
        .collect();
    assert_eq!(names, expected_warnings, "{diagnostics:#?}");
    harness
}

/// Figure 1 of "TSTL: the template scripting testing language" (tool paper), in the old notation.
const AVL: &str = r#"@import avl
@import math
<@
def heightOk(tree):
    h = tree.tree_height()
    l = len(tree.inorder())
    if (l == 0):
        return True
    m = math.log(l,2)
    # Demonstrate PRE
    assert (PRE%(tree.inorder())%
            == tree.inorder())
    return h <= (m + 1)
def it(s):
    l = []
    for i in s:
        l.append(i)
    return sorted(l)
@>
source: avl.py
pool: %INT% 4
pool: %AVL% 2 REF
pool: %LIST% 2

log: 1 %AVL%.inorder()

property: heightOk(%AVL%)
property: %AVL%.check_balanced()

%LIST%:=[]
~%LIST%.append(%INT%)
%INT%:=%[1..20]%

%AVL%:=avl.AVLTree()
%AVL%:=avl.AVLTree(%LIST%)

~%AVL%.insert(%INT%) => \
  (len(%AVL,1%.inorder()) == \
   PRE%(len(%AVL,1%.inorder()))%+1) \
  or PRE%(%AVL,1%.find(%INT,1%))%
~%AVL%.delete(%INT%) => \
  (len(%AVL,1%.inorder()) == \
   PRE%(len(%AVL,1%.inorder()))%-1) \
  or not PRE%((%AVL,1%.find(%INT,1%)))%
~%AVL%.find(%INT%)
%AVL%.inorder()
len(%AVL,1%.inorder()) > 5 -> \
  %AVL%.display()

reference: avl.AVLTree ==> set
reference: insert ==> add
reference: delete ==> discard
reference: find ==> __contains__
reference: (\S+)\.inorder\(\) ==> it(\1)
reference: METHOD(display) ==> CALL(print)

compare: find
compare: inorder
"#;

#[test]
fn avl_in_the_old_notation() {
    let harness = accepted(AVL, &[]);
    // LIST:=[] 2, append 2·4, INT 4·20, AVL 2 and 2·2, insert, delete and find 2·4 each, inorder
    // and display 2 each.
    assert_eq!(
        harness.catalog.len(),
        2 + 8 + 80 + 2 + 4 + 8 + 8 + 8 + 2 + 2
    );
    let modules: Vec<&str> = harness
        .raw
        .reset_modules
        .iter()
        .map(|module| module.text.as_str())
        .collect();
    assert_eq!(modules, ["avl", "math"]);
    assert_eq!(harness.raw.entry_values[0].expression, "tree.inorder()");
    assert_eq!(harness.raw.entry_values[0].line, 11);
    assert_eq!(harness.references[4].replacement, r"it(\1)");
    assert_eq!(harness.actions[5].pre_values.len(), 2);
    assert!(harness.logs[0].level == 1 && !harness.logs[0].after);
}

/// Checks that the new notation means the same if translated letter by letter.
#[test]
fn avl_in_the_new_notation() {
    let mut new = AVL
        .replace("%[1..20]%", "<[1..20]>")
        .replace("PRE%(", "pre<(")
        .replace(")%", ")>");
    for (old, name) in [("INT", "int"), ("AVL", "avl"), ("LIST", "list")] {
        new = new
            .replace(&format!("%{old}%"), &format!("<{name}>"))
            .replace(&format!("%{old},1%"), &format!("<{name},1>"));
    }
    let old_harness = accepted(AVL, &[]);
    let new_harness = accepted(&new, &[]);
    assert_eq!(new_harness.catalog.len(), old_harness.catalog.len());
    for id in 0..new_harness.catalog.len() {
        let old_text = old_harness.catalog.text(ActionId(id)).to_lowercase();
        assert_eq!(
            new_harness.catalog.text(ActionId(id)).to_lowercase(),
            old_text
        );
    }
    assert_eq!(new_harness.raw.text, old_harness.raw.text);
}

/// Checks figure 3 of the journal paper.
#[test]
fn arcpy() {
    let harness = accepted(
        r#"@from arcpy import *

pools:
<fc> 3 CONST # A feature class contains only lines, points, or polygons
<newlayer> 3 CONST
<op> 2 CONST
<val> 2 CONST
<whereclause> 2 CONST # SQL clause to limit objects in new layers
<fieldname> 2 CONST # Extracted from the shape files
<fieldlist> 2

actions:

<fc> := <["d1.shp", "d2.shp", "d3.shp"]> # Just shapefiles for this example
<newlayer> := <["newl1", "newl2", "newl3"]>

{IOError} <fieldlist> := ListFields(<fc>) # Extract fields from a feature class
len(<fieldlist,1>) >= 1 -> <fieldname> := <fieldlist> [0].name
<fieldlist> = <fieldlist> [1:] # Skip to next field

<op> := <[">", "<", "<=", ">=", "=", "!="]>
<val> := <1..10>
<val> = <val> * 10
<val> = <val> + 1
<whereclause> := '"' + <fieldname> + '" ' + <op> + str(<val>)
<whereclause> = <whereclause> + ' AND ' + <whereclause>
<whereclause> = <whereclause> + ' OR ' + <whereclause>
<whereclause> = 'NOT' + <whereclause>
{ExecuteError} MakeFeatureLayer_management(<fc>,<newlayer>)
{ExecuteError} MakeFeatureLayer_management(<fc>,<newlayer>,where_clause=<whereclause>)
"#,
        &[],
    );
    let counts = 9 + 9 + 6 + 4 + 4 + 12 + 20 + 4 + 4 + 16 + 8 + 8 + 4 + 9 + 18;
    assert_eq!(harness.catalog.len(), counts);
    assert!(harness.raw.reset_modules.is_empty());
    assert_eq!(harness.actions[2].expected, ["IOError"]);
    assert_eq!(
        harness.catalog.text(ActionId(9 + 9 + 6)),
        "fieldname0 = fieldlist0 [0].name"
    );
}

/// Checks section 4.1 of the journal paper.
#[test]
fn twenty_assignments() {
    let harness = accepted(
        "pools:\n<val> 2 CONST\n\nactions:\n\n<val> := <1..10>\n<val> = <val> + 1\n",
        &[],
    );
    assert_eq!(harness.catalog.len(), 20 + 4);
    assert_eq!(harness.catalog.text(ActionId(0)), "val0 = 1");
    assert_eq!(harness.catalog.text(ActionId(19)), "val1 = 10");
}

/// Checks section 4.2 of the journal paper: continuation lines with a blank line between, and
/// `init:` code.
#[test]
fn fields() {
    let harness = accepted(
        r#"pools:
<fieldnames> 1
<hascursor> 1
<fc> 2
<fieldname> 2
<fieldtype> 2
<fieldlist> 2
inits:
<fieldnames> = getAllFieldNames(getFeatureClasses())
<hascursor> = []
properties:
sorted(ListFields(<fc>))==sorted(list(<fieldnames> [<fc,1>]))
actions:
<fc> := <["a", "b"]>
<fieldname> := <["f", "g"]>
<fieldtype> := "t"
{ExecuteError} not (<fc,1> in <hascursor>) -> \

AddField_management(<fc>,<fieldname>,<fieldtype>); \
<fieldnames> [<fc,1>].add([<fieldname,1>])

{IOError} <fieldlist> := ListFields(<fc>) \
=> sorted(<fieldlist,1>) == sorted(list(<fieldnames> [<fc,1>]))
"#,
        &[],
    );
    assert_eq!(harness.catalog.len(), 4 + 4 + 2 + 8 + 4);
    assert!(harness.actions[3].guard.is_some());
    assert!(harness.actions[4].post.is_some());
}
