//! Tools that others need: who asks for an id first needs who lists them.

use super::binding::{Binding, HttpBinding};
use super::set::ToolSet;
use rustc_hash::{FxHashMap, FxHashSet};

impl ToolSet {
    /// The tools by their indices, and those that they need: where the path of a tool has a part that is filled in, as
    /// `/albums/{id}/tracks`, its values come from those whose path ends before it with `GET`, as `/albums`, and from the searches
    /// below that. Each tool comes once, after those that it needs.
    pub fn with_prerequisites(&self, tools: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let mut at_path: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
        for (index, tool) in self.tools().iter().enumerate().filter(|(_, tool)| tool.refusal.is_none()) {
            if let Binding::Http(http) = &tool.binding
                && http.method == "GET"
            {
                at_path.entry(http.path.trim_end_matches('/')).or_default().push(index);
            }
        }
        let (mut all, mut seen) = (Vec::new(), FxHashSet::default());
        for tool in tools {
            // paths only get shorter, so no tool needs itself
            let mut open = vec![(tool, false)];
            while let Some((tool, has_needs)) = open.pop() {
                if has_needs {
                    all.push(tool);
                    continue;
                }
                if !seen.insert(tool) {
                    continue;
                }
                open.push((tool, true));
                let Some(Binding::Http(http)) = self.tools().get(tool).map(|tool| &tool.binding) else {
                    continue;
                };
                let lists = collections(http).flat_map(|path| {
                    let search = ["/search", "/find"].map(|search| format!("{path}{search}"));
                    let found = at_path.get(path).into_iter().flatten();
                    found
                        .copied()
                        .chain(
                            search
                                .into_iter()
                                .flat_map(|search| at_path.get(search.as_str()).cloned().unwrap_or_default()),
                        )
                        .collect::<Vec<_>>()
                });
                open.extend(lists.map(|list| (list, false)));
            }
        }
        all
    }
}

/// The beginnings of a path that end before a part that is filled in.
fn collections(http: &HttpBinding) -> impl Iterator<Item = &str> {
    http.path.match_indices("/{").map(|(at, _)| &http.path[..at])
}
