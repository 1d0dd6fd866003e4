//! Parts of page maps that FTLs hold in RAM: tables of entries, nodes, whole or compressed translation pages, models.

pub(crate) mod apart;
pub(crate) mod cmt;
pub mod compressed;
pub(crate) mod models;
pub(crate) mod nodes;
pub(crate) mod pages;
pub(crate) mod slab;
pub(crate) mod tp_cache;
pub(crate) mod urm_table;
