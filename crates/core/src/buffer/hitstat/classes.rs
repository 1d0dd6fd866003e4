//! HitStat's groups by weight: one list for every class of sizes, in the order of the last write.
//!
//! The weight of a group is its sectors in RAM. Of groups of nearly one weight the oldest has the lowest rank, so that a
//! victim is sought among the ends of the lists only.

use serde_json::{Value, json};

use super::Params;
use crate::buffer::BufferShape;
use crate::buffer::tools::groups::{Group, Groups};
use crate::error::ConfigError;
use crate::list::{Links, List};

/// What is known of a group.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// Number of the write request that wrote it last.
    last: u32,
    /// Sectors; 0 until it is in a class.
    weight: u32,
    class: u32,
}

/// The groups by weight (sectors in RAM): one list for each class, in the order of the last write.
#[derive(Debug)]
pub(super) struct Classes {
    /// By group.
    facts: Vec<Facts>,
    /// By class: upper bound in sectors; the last class is open.
    bounds: Vec<u32>,
    /// By class, most recently written first.
    lists: Vec<List>,
    links: Links,
}

/// The thesis' bounds, 2, 4, 6, 8, 12, 16, 24, ..., up to a whole block.
fn default_bounds(block_sectors: u32) -> Vec<u32> {
    let powers = std::iter::successors(Some(4u32), |p| p.checked_mul(2));
    let mut bounds = vec![2];
    bounds.extend(powers.take_while(|p| *p < block_sectors).flat_map(|p| [p, p + p / 2]));
    bounds.retain(|bound| *bound < block_sectors);
    bounds.push(block_sectors);
    bounds
}

impl Classes {
    /// No groups.
    ///
    /// # Errors
    /// If the bounds do not ascend.
    pub fn new(params: &Params, shape: &BufferShape) -> Result<Self, ConfigError> {
        let bounds = match &params.list_bounds {
            Some(bounds) => bounds.clone(),
            None => default_bounds(shape.pages_per_block * shape.page_sectors),
        };
        if bounds.is_empty() || !bounds.is_sorted_by(|a, b| a < b) {
            let help = "give ascending sector counts";
            return Err(ConfigError::new("buffer.list_bounds", format!("{bounds:?} do not ascend"), help));
        }
        Ok(Self { facts: Vec::new(), lists: vec![List::default(); bounds.len()], bounds, links: Links::default() })
    }
    /// Number of the write request that wrote the group last.
    #[inline]
    pub fn last(&self, group: Group) -> u32 {
        self.facts[group.index()].last
    }
    /// Sectors of the group in RAM.
    #[inline]
    pub fn weight(&self, group: Group) -> u32 {
        self.facts[group.index()].weight
    }
    /// A group comes; it joins a class with its first sectors.
    pub fn create(&mut self, group: Group) {
        self.facts.resize(self.facts.len().max(group.index() + 1), Facts::default());
        self.facts[group.index()] = Facts::default();
    }
    /// A request wrote the group: it goes to the front of its class.
    #[inline]
    pub fn write(&mut self, group: Group, request: u32) {
        let facts = &mut self.facts[group.index()];
        facts.last = request;
        self.links.move_front(&mut self.lists[facts.class as usize], group.0);
    }
    /// Moves the group to the front of another class if its new weight is there.
    pub fn set_weight(&mut self, group: Group, weight: u32) {
        let class = self.bounds.partition_point(|bound| *bound < weight).min(self.bounds.len() - 1);
        let facts = &mut self.facts[group.index()];
        let listed = facts.weight > 0;
        facts.weight = weight;
        if listed && facts.class as usize == class {
            return;
        }
        if listed {
            self.links.remove(&mut self.lists[facts.class as usize], group.0);
        }
        facts.class = class as u32;
        self.links.push_front(&mut self.lists[class], group.0);
    }
    /// The group is no more.
    pub fn remove(&mut self, group: Group) {
        self.links.remove(&mut self.lists[self.facts[group.index()].class as usize], group.0);
    }
    /// The group of every class that was written least recently.
    pub fn ends(&self) -> impl Iterator<Item = Group> + '_ {
        self.lists.iter().filter_map(List::back).map(Group)
    }
    /// The groups by class in the form of the golden files.
    pub fn golden(&self, groups: &Groups) -> Value {
        let group = |id| {
            let mut group = groups.golden(Group(id));
            group["last"] = json!(self.last(Group(id)));
            group
        };
        let lists = self.bounds.iter().zip(&self.lists);
        lists.map(|(bound, list)| (bound.to_string(), self.links.iter(list).map(group).collect::<Value>())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_bounds_are_those_of_the_thesis() {
        let thesis = [2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024];
        assert_eq!(default_bounds(1024), thesis, "blocks of 512 KiB");
        assert_eq!((default_bounds(1), default_bounds(10)), (vec![1], vec![2, 4, 6, 8, 10]));
    }
}
