//! Definitions and imports read from single files.

use super::*;

fn module(text: &str) -> ProjectModule {
    ProjectModule::from_text(Path::new("app.py"), text, &PytestSettings::default())
}

fn role_of(module: &ProjectModule, name: &str) -> FunctionRole {
    match &module.definition(name).expect("it is defined").kind {
        DefinitionKind::Function(function) => function.role,
        DefinitionKind::Class(_) => panic!("a class"),
    }
}

#[test]
fn definitions_are_found_where_they_stand() {
    let text = "if True:\n    def a(): pass\nelse:\n    def a(x): pass\ntry:\n    class B:\n        class C:\n            async def d(self): yield 1\nexcept E:\n    pass\nadd = lambda x, y=2: x + y\n";
    let found = module(text);
    let names: Vec<&str> = found
        .definitions
        .iter()
        .map(|definition| definition.qualified_name.as_str())
        .collect();
    assert_eq!(names, ["a", "a", "B", "B.C", "B.C.d", "add"]);
    let DefinitionKind::Function(last) = &found.definitions[4].kind else {
        panic!("not a function");
    };
    assert_eq!(last.execution, ExecutionKind::AsyncGenerator);
    assert!(found.definition_at(11, "<lambda>").is_some());
}

#[test]
fn roles_come_from_decorators_and_places() {
    let text = "class A:\n    @property\n    def p(self): pass\n    @p.setter\n    def p(self, v): pass\n    @classmethod\n    def c(cls): pass\n    @staticmethod\n    def s(): pass\n    @functools.cached_property\n    def k(self): pass\n    @typing.overload\n    def o(self): ...\n    def __new__(cls): pass\n    def m(self):\n        def inner(): pass\n";
    let found = module(text);
    assert_eq!(role_of(&found, "A.p"), FunctionRole::Setter);
    assert_eq!(role_of(&found, "A.c"), FunctionRole::ClassMethod);
    assert_eq!(role_of(&found, "A.s"), FunctionRole::StaticMethod);
    assert_eq!(role_of(&found, "A.k"), FunctionRole::Getter);
    assert_eq!(role_of(&found, "A.o"), FunctionRole::Overload);
    assert_eq!(role_of(&found, "A.__new__"), FunctionRole::StaticMethod);
    assert_eq!(role_of(&found, "A.m"), FunctionRole::Method);
    assert_eq!(role_of(&found, "A.m.<locals>.inner"), FunctionRole::Nested);
    assert_eq!(found.definitions[1].first_line, 2);
}

#[test]
fn signatures_keep_kinds_defaults_and_annotations() {
    let found = module("def f(a: int, /, b=-1.5, *, c: str = 'x', d=[], **e) -> bool: pass\n");
    let DefinitionKind::Function(function) = &found.definitions[0].kind else {
        panic!("not a function");
    };
    let defaults: Vec<Option<(&str, bool)>> = function
        .signature
        .parameters
        .iter()
        .map(|parameter| {
            let default = parameter.default.as_ref();
            default.map(|default| (default.text.as_str(), default.literal))
        })
        .collect();
    assert_eq!(
        defaults,
        [
            None,
            Some(("-1.5", true)),
            Some(("'x'", true)),
            Some(("[]", false)),
            None
        ]
    );
    assert_eq!(function.signature.returns.as_deref(), Some("bool"));
    assert_eq!(
        function.signature.parameters[2].annotation.as_deref(),
        Some("str")
    );
}

#[test]
fn natures_and_targets() {
    let text = "@dataclass(frozen=True)\nclass R: pass\nclass N(NamedTuple): pass\nclass E(enum.Enum): pass\nclass X(ValueError): pass\nclass Y(ValueError):\n    def more(self): pass\nclass P(Protocol[T]): pass\nclass Q:\n    @abc.abstractmethod\n    def m(self): pass\nclass _Hidden:\n    def m(self): pass\nclass TestIt:\n    def test_a(self): pass\ndef open_one(): pass\ndef _closed(): pass\n";
    let found = module(text);
    let targets: Vec<&str> = found
        .definitions
        .iter()
        .filter(|definition| definition.is_target())
        .map(|definition| definition.qualified_name.as_str())
        .collect();
    assert_eq!(targets, ["R", "N", "Y", "Y.more", "Q.m", "open_one"]);
}

#[test]
fn fields_are_what_a_constructor_takes() {
    let text = "@dataclass\nclass R:\n    a: int\n    b: ClassVar[int] = 1\n    c: list = field(init=False)\n    d: str = 'x'\n    e = 2\n";
    let found = module(text);
    let DefinitionKind::Class(class) = &found.definitions[0].kind else {
        panic!("not a class");
    };
    let fields: Vec<(&str, Option<&str>)> = class
        .fields
        .iter()
        .map(|field| (field.name.as_str(), field.annotation.as_deref()))
        .collect();
    assert_eq!(fields, [("a", Some("int")), ("d", Some("str"))]);
    let default = class.fields[1].default.as_ref().expect("a default");
    assert_eq!((default.text.as_str(), default.literal), ("'x'", true));
    assert_eq!(class.members, ["e"]);
}

#[test]
fn names_mean_what_was_imported() {
    let text = "from .inner import Thing\nfrom . import other\nfrom ..far import away as near\nimport os.path\n";
    let settings = PytestSettings::default();
    let package = ProjectModule::from_text(Path::new("shop/cart/__init__.py"), text, &settings);
    let plain = ProjectModule::from_text(Path::new("shop/cart.py"), text, &settings);
    let meanings = |module: &ProjectModule| {
        ["Thing", "other.f", "near", "os.path", "own"].map(|name| module.resolve(name).to_string())
    };
    assert_eq!(
        meanings(&package),
        [
            "shop.cart.inner.Thing",
            "shop.cart.other.f",
            "shop.far.away",
            "os.path",
            "shop.cart.own"
        ]
    );
    assert_eq!(
        meanings(&plain),
        [
            "shop.inner.Thing",
            "shop.other.f",
            "far.away",
            "os.path",
            "shop.cart.own"
        ]
    );
}

#[test]
fn imports_variables_and_the_guard() {
    let text = "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os.path as p, sys\ntry:\n    from . import x as y\nexcept ImportError:\n    pass\n\nlimit, (a, *b) = 1, (2, 3)\nlast: int = 3\n\ndef f():\n    import json\n\nimport late\n\nif '__main__' == __name__:\n    f()\n";
    let found = module(text);
    let bound: Vec<&str> = found
        .imports
        .iter()
        .map(|import| import.bound_name.as_str())
        .collect();
    assert_eq!(bound, ["annotations", "p", "sys", "y", "late"]);
    assert_eq!(found.variables, ["limit", "a", "b", "last"]);
    assert!(text[found.imports_end..].starts_with("\nlimit"));
    let guard = found.main_guard.expect("a guard");
    assert!(text[guard].starts_with("if '__main__'"));
}

#[test]
fn imports_are_added_below_what_introduces_a_file() {
    for (text, behind) in [
        ("", ""),
        ("# c\n\"\"\"D.\"\"\"\nx = 1\n", "x = 1\n"),
        ("# c\n\nx = 1\n", "x = 1\n"),
        ("import a", ""),
        ("import a; import b  # c\nx = 1\n", "x = 1\n"),
    ] {
        assert_eq!(&text[module(text).imports_end..], behind, "{text:?}");
    }
}
