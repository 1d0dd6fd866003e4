//! The fields that a JSON schema promises.

use std::collections::BTreeSet;

use serde_json::Value;

/// The paths of all leaves; what lists hold has the path of the list.
pub fn paths(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk(schema, schema, "", &mut found);
    found
}

fn walk(root: &Value, node: &Value, path: &str, found: &mut BTreeSet<String>) {
    if let Some(reference) = node["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#')).unwrap_or_else(|| panic!("{reference}"));
        return walk(root, target, path, found);
    }
    if let Some(fields) = node["properties"].as_object() {
        for (name, field) in fields {
            walk(root, field, &format!("{path}{}{name}", if path.is_empty() { "" } else { "." }), found);
        }
        return;
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        let choices = node[choice].as_array().into_iter().flatten();
        let inner: Vec<&Value> = choices.filter(|c| c["type"] != "null" && c.get("const").is_none()).collect();
        if let [one] = inner[..] {
            return walk(root, one, path, found);
        }
    }
    if node["type"] == "array" || node["type"].as_array().is_some_and(|types| types.iter().any(|t| t == "array")) {
        return walk(root, &node["items"], path, found);
    }
    found.insert(path.to_owned());
}

/// A path with the numbers of places in lists taken out.
pub fn without_places(path: &str) -> String {
    let mut text = String::new();
    let mut inside = false;
    for c in path.chars() {
        match c {
            '[' => inside = true,
            ']' => inside = false,
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text
}
