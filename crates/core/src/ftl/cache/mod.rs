//! Parts of page maps that FTLs hold in RAM: tables of entries, nodes, whole or compressed translation pages, models.
//!
//! Which of them an FTL has is what makes it that FTL: they are its tools. What a user chooses is the order of a cached mapping
//! table, which is a kind of plug-ins ([`CMT_ORDERS`]).

pub(crate) mod apart;
pub(crate) mod cmt;
pub mod compressed;
pub(crate) mod models;
pub(crate) mod nodes;
pub(crate) mod pages;
pub(crate) mod slab;
pub(crate) mod tp_cache;
pub(crate) mod urm_table;

pub use cmt::{CMT_ORDERS, CmtOrderRule};
