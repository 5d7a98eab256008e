//! Names that determine what code can reach.

/// Built-in functions that can reach anything, or depend on more than their arguments.
pub(super) const UNBOUNDED_FUNCTIONS: [&str; 9] = [
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

/// Built-in functions that access attributes by names computed at run time.
pub(super) const DYNAMIC_NAME_FUNCTIONS: [&str; 6] =
    ["getattr", "hasattr", "vars", "dir", "setattr", "delattr"];

/// Attributes that code written in C may access without being named in code of the system.
pub(super) const QUERIED_BY_BUILTINS: [&str; 24] = [
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

/// Attributes that lead beyond the attributes of an object.
pub(super) const UNBOUNDED_ATTRIBUTES: [&str; 14] = [
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

/// Attributes that access others by names computed at run time.
pub(super) const DYNAMIC_NAME_ATTRIBUTES: [&str; 7] = [
    "__dict__",
    "__getattribute__",
    "attrgetter",
    "format_map",
    "getattr_static",
    "methodcaller",
    "vformat",
];

/// Entries of classes for type hints. Code that names them is not followed any further.
pub(super) const TYPING_ATTRIBUTES: [&str; 6] = [
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__orig_bases__",
    "__parameters__",
    "__type_params__",
];
