//! How it is shown what is special about a state.

use crate::graph::Marks;

/// Something that is special about a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Start,
    Accepting,
    Unsafe,
    Frontier,
    Deadend,
    Finished,
    Dead,
}

impl Mark {
    pub(super) const ALL: [Mark; 7] = [
        Mark::Start,
        Mark::Accepting,
        Mark::Unsafe,
        Mark::Frontier,
        Mark::Deadend,
        Mark::Finished,
        Mark::Dead,
    ];

    /// Whether this is so of a state.
    pub(super) fn applies(self, marks: Marks) -> bool {
        match self {
            Mark::Start => marks.start,
            Mark::Accepting => marks.accepting,
            Mark::Unsafe => marks.is_unsafe,
            Mark::Frontier => marks.frontier,
            Mark::Deadend => marks.deadend,
            Mark::Finished => marks.finished,
            Mark::Dead => marks.dead,
        }
    }

    /// All that apply.
    pub(super) fn of(marks: Marks) -> impl Iterator<Item = Mark> {
        (Mark::ALL.into_iter()).filter(move |mark| mark.applies(marks))
    }

    /// The class of the element.
    pub(super) fn class(self) -> &'static str {
        match self {
            Mark::Start => "start",
            Mark::Accepting => "accepting",
            Mark::Unsafe => "unsafe",
            Mark::Frontier => "frontier",
            Mark::Deadend => "deadend",
            Mark::Finished => "finished",
            Mark::Dead => "dead",
        }
    }

    /// What the legend says.
    pub(super) fn words(self) -> &'static str {
        match self {
            Mark::Start => "start",
            Mark::Accepting => "accepting: a run may stop",
            Mark::Unsafe => "unsafe: an invariant is false",
            Mark::Frontier => "frontier: not fully explored",
            Mark::Deadend => "dead end: stuck, not accepting",
            Mark::Finished => "finished: nothing left to do",
            Mark::Dead => "dead: never accepting again",
        }
    }

    /// The symbol in its badge, as a path around the middle of the badge; some marks have other signs.
    pub(super) fn badge(self) -> Option<&'static str> {
        match self {
            Mark::Start | Mark::Accepting => None,
            Mark::Unsafe => Some("M0 -3.6V.6M0 3.2v.2"),
            Mark::Frontier => Some("M-3.2 0h.2M-.1 0h.2M3 0h.2"),
            Mark::Deadend => Some("M-2.5 -2.5l5 5M2.5 -2.5l-5 5"),
            Mark::Finished => Some("M-3 .2l2 2.3l4 -4.8"),
            Mark::Dead => Some("M-3.2 0h6.4"),
        }
    }
}

/// The word for the colour of a state: the first that applies.
pub(super) fn colour(marks: Marks) -> &'static str {
    let by_weight = [
        Mark::Unsafe,
        Mark::Frontier,
        Mark::Deadend,
        Mark::Finished,
        Mark::Dead,
        Mark::Start,
    ];
    (by_weight.into_iter())
        .find(|mark| mark.applies(marks))
        .map_or("fill-plain", |mark| match mark {
            Mark::Unsafe => "fill-unsafe",
            Mark::Frontier => "fill-frontier",
            Mark::Deadend => "fill-deadend",
            Mark::Finished => "fill-finished",
            Mark::Dead => "fill-dead",
            Mark::Start | Mark::Accepting => "fill-start",
        })
}

/// A state for the legend that has just this mark.
pub(super) fn only(mark: Mark) -> Marks {
    let mut marks = Marks::default();
    match mark {
        Mark::Start => marks.start = true,
        Mark::Accepting => marks.accepting = true,
        Mark::Unsafe => marks.is_unsafe = true,
        Mark::Frontier => marks.frontier = true,
        Mark::Deadend => marks.deadend = true,
        Mark::Finished => marks.finished = true,
        Mark::Dead => marks.dead = true,
    }
    marks
}
