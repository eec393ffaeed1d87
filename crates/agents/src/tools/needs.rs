//! Prerequisite tools: a tool that takes an id needs a tool that lists ids.

use super::binding::{Binding, HttpBinding, Location, Parameter};
use super::set::ToolSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximum number of tools that are added for one parameter because of the names in their responses.
const MOST_GIVERS: usize = 2;

impl ToolSet {
    /// Adds to the tools, given by index, the tools that they need. Each tool appears once, after those that it needs,
    /// except in a cycle of needs. Values come only from `GET` operations that can be called and require no id in their
    /// query.
    ///
    /// - For a filled-in part of a path, as in `/albums/{id}/tracks`, the values come from operations whose path ends
    ///   before that part, as `/albums`, and from those at `/search` and `/find` directly below it.
    /// - If there are none, or if a required id is not in the path, the values come from operations whose responses
    ///   have a member of that name, as `album_id`; only names that end with `id` count, and operations that have a
    ///   parameter of the name do not. An operation whose responses have a member `id` also qualifies if its path ends
    ///   with the name of the entity, as `/search/albums`, or if it is a search whose response also has `albums`. Among
    ///   several, those with the fewest path parameters are taken, searches first, at most two.
    pub fn with_prerequisites(&self, tools: impl IntoIterator<Item = usize>) -> Vec<usize> {
        let givers = Givers::of(self);
        let (mut all, mut seen) = (Vec::new(), FxHashSet::default());
        for tool in tools {
            let mut open = vec![(tool, false)];
            while let Some((tool, has_needs)) = open.pop() {
                if has_needs {
                    all.push(tool);
                    continue;
                }
                // in a cycle of needs, the first tool precedes a tool that it needs
                if !seen.insert(tool) {
                    continue;
                }
                open.push((tool, true));
                if let Some(http) = self.http(tool) {
                    open.extend(givers.needs(self, tool, http).into_iter().map(|need| (need, false)));
                }
            }
        }
        all
    }

    /// Returns, for each tool, one list of tools per need, as [`with_prerequisites`](ToolSet::with_prerequisites) finds
    /// them. Each tool of a list gives the needed value. In a cycle of needs, a need that only tools after its tool can
    /// fill is omitted, so that all tools can be called in some order.
    pub fn prerequisites(&self) -> Vec<Vec<Vec<usize>>> {
        let givers = Givers::of(self);
        let mut places = vec![0; self.tools().len()];
        for (place, tool) in self.with_prerequisites(0..self.tools().len()).into_iter().enumerate() {
            places[tool] = place;
        }
        let needs = |tool: usize| {
            let mut groups = self.http(tool).map_or_else(Vec::new, |http| givers.groups(self, tool, http));
            groups.iter_mut().for_each(|group| group.retain(|&need| places[need] < places[tool]));
            groups.retain(|group| !group.is_empty());
            groups
        };
        (0..self.tools().len()).map(needs).collect()
    }

    fn http(&self, tool: usize) -> Option<&HttpBinding> {
        match &self.tools().get(tool)?.binding {
            Binding::Http(http) => Some(http),
            Binding::Host => None,
        }
    }
}

/// `GET` operations, indexed by what they return.
#[derive(Default)]
struct Givers<'s> {
    /// By path, without slashes at the end of the path.
    at_path: FxHashMap<&'s str, Vec<usize>>,
    /// By the normalised name of a response member.
    by_output: FxHashMap<String, Vec<usize>>,
    /// Operations whose responses have an `id`, by the normalised singular of the last literal part of the path, and
    /// for a search also of each response member.
    by_entity: FxHashMap<String, Vec<usize>>,
}

impl<'s> Givers<'s> {
    fn of(set: &'s ToolSet) -> Givers<'s> {
        let mut givers = Givers::default();
        for (index, tool) in set.tools().iter().enumerate().filter(|(_, tool)| tool.refusal.is_none()) {
            let Binding::Http(http) = &tool.binding else { continue };
            if http.method != "GET" {
                continue;
            }
            givers.at_path.entry(http.path.trim_end_matches('/')).or_default().push(index);
            for output in &http.outputs {
                givers.by_output.entry(plain(output)).or_default().push(index);
            }
            if http.outputs.iter().any(|output| plain(output) == "id") {
                let last = http.path.rsplit('/').find(|part| !part.is_empty() && !part.contains('{'));
                // the response of a search names the found object
                let found = http.outputs.iter().filter(|_| is_search(http)).map(String::as_str);
                let entities = last.into_iter().chain(found).map(|name| singular(&plain(name)));
                for entity in entities.collect::<FxHashSet<String>>() {
                    givers.by_entity.entry(entity).or_default().push(index);
                }
            }
        }
        givers
    }

    fn needs(&self, set: &ToolSet, tool: usize, http: &HttpBinding) -> Vec<usize> {
        self.groups(set, tool, http).concat()
    }

    /// Returns for each required parameter of a tool the tools that provide its value; may be empty lists.
    fn groups(&self, set: &ToolSet, tool: usize, http: &HttpBinding) -> Vec<Vec<usize>> {
        let mut needs = Vec::new();
        for parameter in required(set, tool, http) {
            let place = format!("{{{}}}", parameter.name);
            let is_in_path = parameter.location == Location::Path;
            let before = http.path.split_once(&place).filter(|_| is_in_path).map(|(before, _)| before);
            let mut lists = before.map(|before| self.lists(before)).unwrap_or_default();
            // an operation that requires ids in its query does not provide ids
            lists.retain(|&list| !set.http(list).is_some_and(|http| asks_for_ids(set, list, http)));
            needs.push(match lists.is_empty() {
                false => lists,
                true => self.givers(set, tool, &parameter.name, before),
            });
        }
        needs
    }

    /// Returns the operations whose path ends before a filled-in part, and those at `/search` and `/find` directly
    /// below that path.
    fn lists(&self, before: &str) -> Vec<usize> {
        let Some(path) = before.strip_suffix('/') else { return Vec::new() };
        let searches = ["/search", "/find"].map(|search| format!("{path}{search}"));
        let paths = std::iter::once(path).chain(searches.iter().map(String::as_str));
        paths.flat_map(|path| self.at_path.get(path).into_iter().flatten().copied()).collect()
    }

    /// Returns at most [`MOST_GIVERS`] operations whose responses contain the value of a parameter, judging by names;
    /// none if the name does not end with `id`.
    fn givers(&self, set: &ToolSet, tool: usize, name: &str, before: Option<&str>) -> Vec<usize> {
        let wanted = plain(name);
        let Some(entity) = wanted.strip_suffix("id") else { return Vec::new() };
        // a parameter named only `id` belongs to the part before it in the path
        let last = before.into_iter().flat_map(|before| before.rsplit('/')).find(|part| !part.is_empty());
        let entity = match entity {
            "" => last.filter(|last| !last.contains('{')).map(plain).unwrap_or_default(),
            entity => entity.to_owned(),
        };
        let by_name = self.by_output.get(&wanted).filter(|_| wanted != "id").into_iter().flatten();
        let by_entity = self.by_entity.get(&singular(&entity)).filter(|_| !entity.is_empty());
        let mut found: Vec<usize> = by_name.chain(by_entity.into_iter().flatten()).copied().collect();
        let asks = |giver: usize| set.http(giver).map_or(usize::MAX, |http| http.path.matches('{').count());
        // an operation that takes the value itself cannot provide it
        let has_it = |giver: usize| {
            set.http(giver).is_some_and(|http| http.parameters.iter().any(|own| plain(&own.name) == wanted))
        };
        let asks_too = |giver: usize| set.http(giver).is_some_and(|http| asks_for_ids(set, giver, http));
        found.retain(|&giver| giver != tool && !has_it(giver) && !asks_too(giver));
        let searches = |giver: usize| set.http(giver).is_some_and(is_search);
        found.sort_by_key(|&giver| (asks(giver), !searches(giver), giver));
        found.dedup();
        found.truncate(MOST_GIVERS);
        found
    }
}

fn is_search(http: &HttpBinding) -> bool {
    http.path.contains("search") || http.path.contains("find")
}

fn required<'s>(
    set: &ToolSet,
    tool: usize,
    http: &'s HttpBinding,
) -> impl Iterator<Item = &'s Parameter> + 's {
    let arguments = set.tools()[tool].arguments.value();
    http.parameters.iter().filter(move |parameter| {
        parameter.location == Location::Path
            || arguments["required"].as_array().into_iter().flatten().any(|name| *name == *parameter.member)
    })
}

fn asks_for_ids(set: &ToolSet, tool: usize, http: &HttpBinding) -> bool {
    required(set, tool, http).any(|parameter| {
        let name = plain(&parameter.name);
        parameter.location == Location::Query && (name.ends_with("id") || name.ends_with("ids"))
    })
}

/// Returns a name in lower case and without punctuation, so that `albumId` and `album_id` are equal.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the singular of an English plural, judging by its ending.
fn singular(name: &str) -> String {
    match name {
        _ if name.ends_with("ies") && name.len() > 4 => format!("{}y", &name[..name.len() - 3]),
        _ if name.ends_with('s') && !name.ends_with("ss") && name.len() > 2 => {
            name[..name.len() - 1].to_owned()
        }
        _ => name.to_owned(),
    }
}
