//! Names with a meaning for what code can reach.

/// Functions with a view of everything, or that depend on more than their arguments.
pub(super) const ALL_SEEING: [&str; 9] = [
    "__import__",
    "breakpoint",
    "compile",
    "eval",
    "exec",
    "globals",
    "input",
    "locals",
    "open",
];

/// Those that get at attributes by names that no code mentions.
pub(super) const NAME_TAKING: [&str; 6] =
    ["getattr", "hasattr", "vars", "dir", "setattr", "delattr"];

/// Attributes that code written in C may ask for without any code of the system mentioning them.
pub(super) const ASKED_BY_BUILTINS: [&str; 24] = [
    "append",
    "as_integer_ratio",
    "clear",
    "conjugate",
    "copy",
    "count",
    "denominator",
    "extend",
    "flush",
    "get",
    "imag",
    "index",
    "insert",
    "is_integer",
    "items",
    "keys",
    "numerator",
    "pop",
    "real",
    "register",
    "sort",
    "update",
    "values",
    "write",
];

/// Attributes that lead further than to attributes.
pub(super) const ALL_SEEING_ATTRIBUTES: [&str; 14] = [
    "__annotate__",
    "__annotations__",
    "__builtins__",
    "__globals__",
    "__orig_bases__",
    "__parameters__",
    "__self__",
    "__subclasses__",
    "__type_params__",
    "f_back",
    "f_globals",
    "gi_frame",
    "tb_frame",
    "__weakref__",
];

/// Attributes that get at others by names that no code mentions.
pub(super) const NAME_TAKING_ATTRIBUTES: [&str; 7] = [
    "__dict__",
    "__getattribute__",
    "attrgetter",
    "format_map",
    "getattr_static",
    "methodcaller",
    "vformat",
];

/// What classes hold for readers of types. Code that mentions it is not followed any further.
pub(super) const OF_TYPES: [&str; 6] = [
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__orig_bases__",
    "__parameters__",
    "__type_params__",
];
