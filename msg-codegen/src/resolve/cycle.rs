//! Strongly connected components: what contains itself, and in which order the rest can be computed.

/// The components of a graph given as the targets of each node, every component after those it points to.
///
/// Tarjan's algorithm with its stack on the heap: a schema may nest as deep as it is long.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut search = Search {
        edges,
        order: vec![UNSEEN; edges.len()],
        lowest: vec![0; edges.len()],
        is_open: vec![false; edges.len()],
        open: Vec::new(),
        seen: 0,
        found: Vec::new(),
    };
    for node in 0..edges.len() {
        if search.order[node] == UNSEEN {
            search.visit(node);
        }
    }
    search.found
}

/// Whether a component is more than a node that does not point to itself.
pub(super) fn is_cycle(component: &[usize], edges: &[Vec<usize>]) -> bool {
    component.len() > 1 || component.iter().any(|node| edges[*node].contains(node))
}

const UNSEEN: usize = usize::MAX;

struct Search<'a> {
    edges: &'a [Vec<usize>],
    /// When a node was first seen.
    order: Vec<usize>,
    /// The earliest node of the open ones that can be reached.
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    /// Nodes whose component is not complete.
    open: Vec<usize>,
    seen: usize,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn visit(&mut self, root: usize) {
        self.enter(root);
        // A node and how many of its edges have been followed.
        let mut path = vec![(root, 0)];
        while let Some((node, followed)) = path.last_mut() {
            let (node, next) = (*node, self.edges[*node].get(*followed).copied());
            *followed += 1;
            match next {
                Some(target) if self.order[target] == UNSEEN => {
                    self.enter(target);
                    path.push((target, 0));
                }
                Some(target) if self.is_open[target] => {
                    self.lowest[node] = self.lowest[node].min(self.order[target]);
                }
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        self.lowest[*parent] = self.lowest[*parent].min(self.lowest[node]);
                    }
                    self.leave(node);
                }
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.seen;
        self.lowest[node] = self.seen;
        self.seen += 1;
        self.open.push(node);
        self.is_open[node] = true;
    }

    /// Closes the component that starts at a node, if one does.
    fn leave(&mut self, node: usize) {
        if self.lowest[node] != self.order[node] {
            return;
        }
        let start = self.open.iter().rposition(|open| *open == node).unwrap_or(0);
        let component = self.open.split_off(start);
        for member in &component {
            self.is_open[*member] = false;
        }
        self.found.push(component);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_after_what_they_point_to() {
        let check = |edges: &[&[usize]], expected: &[&[usize]]| {
            let edges: Vec<Vec<usize>> = edges.iter().map(|targets| targets.to_vec()).collect();
            let mut found = components(&edges);
            found.iter_mut().for_each(|component| component.sort_unstable());
            assert_eq!(found, expected);
        };
        check(&[], &[]);
        check(&[&[1], &[2], &[]], &[&[2], &[1], &[0]]);
        check(&[&[1], &[0], &[0]], &[&[0, 1], &[2]]);
        check(&[&[1, 2], &[3], &[3], &[1]], &[&[1, 3], &[2], &[0]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<Vec<usize>> = (0..200_000).map(|node| vec![node + 1]).chain([vec![]]).collect();
        assert_eq!(components(&edges).len(), 200_001);
    }
}
