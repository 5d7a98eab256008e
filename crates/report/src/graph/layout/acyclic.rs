//! Breaks cycles: chooses the edges that are drawn upwards.

use std::collections::VecDeque;

/// For each edge, whether it is reversed.
pub(super) type ReversedEdges = Vec<bool>;

/// Returns two choices of reversed edges that leave no cycle. Which of them gives the better
/// drawing depends on the graph.
///
/// The first searches depth first from the start states: few edges are reversed, and a long run is
/// drawn as one line. The second goes by the distance from the start. If almost everything can be
/// undone, the first would wind through all states.
pub(super) fn break_cycles(
    count: usize,
    edges: &[(usize, usize)],
    starts: &[usize],
) -> [ReversedEdges; 2] {
    let mut outgoing = vec![Vec::new(); count];
    let mut incoming = vec![Vec::new(); count];
    for (number, &(from, to)) in edges.iter().enumerate() {
        outgoing[from].push(number);
        incoming[to].push(number);
    }
    let sources = (0..count).filter(|&node| incoming[node].is_empty());
    let roots: Vec<usize> = (starts.iter().copied())
        .chain(sources)
        .chain(0..count)
        .collect();
    let (deep, finished) = depth_first(edges, &outgoing, &roots);
    let group_of = strong_components(edges, &incoming, &finished);
    let found = breadth_first(edges, &outgoing, &roots);
    let broad = (edges.iter())
        .map(|&(from, to)| group_of[from] == group_of[to] && found[from] > found[to])
        .collect();
    [deep, broad]
}

/// Returns the edges that lead back to an open state of the search, and the states in the order in
/// which the search left them.
fn depth_first(
    edges: &[(usize, usize)],
    outgoing: &[Vec<usize>],
    roots: &[usize],
) -> (ReversedEdges, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Open,
        Done,
    }
    let mut visits = vec![Visit::Not; outgoing.len()];
    let mut reversed = vec![false; edges.len()];
    let mut finished = Vec::with_capacity(outgoing.len());
    for &root in roots {
        if visits[root] != Visit::Not {
            continue;
        }
        visits[root] = Visit::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.last_mut() {
            let Some(&edge) = outgoing[*node].get(*next) else {
                visits[*node] = Visit::Done;
                finished.push(*node);
                stack.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].1;
            match visits[to] {
                Visit::Not => {
                    visits[to] = Visit::Open;
                    stack.push((to, 0));
                }
                Visit::Open => reversed[edge] = true,
                Visit::Done => {}
            }
        }
    }
    (reversed, finished)
}

/// Returns a number for each state, equal for states that can reach each other (Kosaraju's
/// algorithm).
fn strong_components(
    edges: &[(usize, usize)],
    incoming: &[Vec<usize>],
    finished: &[usize],
) -> Vec<usize> {
    let mut group_of = vec![usize::MAX; incoming.len()];
    for &root in finished.iter().rev() {
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if group_of[node] == usize::MAX {
                group_of[node] = root;
                stack.extend(incoming[node].iter().map(|&edge| edges[edge].0));
            }
        }
    }
    group_of
}

/// Returns the order in which a breadth-first search finds the states.
fn breadth_first(edges: &[(usize, usize)], outgoing: &[Vec<usize>], roots: &[usize]) -> Vec<usize> {
    let mut found = vec![usize::MAX; outgoing.len()];
    let mut clock = 0..;
    let mut queue = VecDeque::new();
    let mut visit = |node: usize, queue: &mut VecDeque<usize>| {
        if found[node] == usize::MAX {
            found[node] = clock.next().unwrap_or(usize::MAX);
            queue.push_back(node);
        }
    };
    for &root in roots {
        visit(root, &mut queue);
        while let Some(node) = queue.pop_front() {
            for &edge in &outgoing[node] {
                visit(edges[edge].1, &mut queue);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if no edge is left after repeatedly removing states that no edge leads to.
    fn is_acyclic(count: usize, edges: &[(usize, usize)], reversed_edges: &ReversedEdges) -> bool {
        let mut edges: Vec<(usize, usize)> = (edges.iter().zip(reversed_edges))
            .map(|(&(from, to), reversed)| if *reversed { (to, from) } else { (from, to) })
            .collect();
        let mut left = vec![true; count];
        loop {
            let source =
                (0..count).find(|&node| left[node] && edges.iter().all(|&(_, to)| to != node));
            let Some(source) = source else {
                return edges.is_empty();
            };
            left[source] = false;
            edges.retain(|&(from, _)| from != source);
        }
    }

    #[test]
    fn no_cycle_is_left() {
        let cycle: Vec<(usize, usize)> = (0..6).map(|node| (node, (node + 1) % 6)).collect();
        let all: Vec<(usize, usize)> = (0..7)
            .flat_map(|from| (0..7).map(move |to| (from, to)))
            .filter(|(from, to)| from != to)
            .collect();
        for (count, edges) in [(6, cycle), (7, all), (3, vec![(1, 2), (2, 1)])] {
            for reversed_edges in break_cycles(count, &edges, &[0]) {
                assert!(is_acyclic(count, &edges, &reversed_edges));
            }
        }
    }

    #[test]
    fn only_cycles_are_broken() {
        // The shorter path to 3 is found first, and still 2 -> 3 leads down.
        let edges = [(0, 3), (0, 1), (1, 2), (2, 3), (3, 4)];
        for reversed_edges in break_cycles(5, &edges, &[0]) {
            assert_eq!(reversed_edges, [false; 5]);
        }
        let [deep, _] = break_cycles(3, &[(0, 1), (1, 2), (2, 0)], &[1]);
        assert_eq!(deep, [true, false, false]);
    }
}
