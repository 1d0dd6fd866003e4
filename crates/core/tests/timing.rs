//! Is flash time right? A slow simulator written from the specification, queueing theory, bounds.

mod kit;

mod timing {
    pub mod agreement;
    pub mod bounds;
    pub mod commands;
    pub mod controller;
    pub mod copy_back;
    pub mod device;
    pub mod lag;
    pub mod laws;
    pub mod link;
    pub mod map_write_buffer;
    pub mod paths;
    pub mod plain;
    pub mod priorities;
    pub mod registers;
    pub mod requests;
    pub mod rig;
    pub mod scheduled;
    pub mod scheduled_devices;
    pub mod sleep;
    pub mod slow;
    pub mod slow_scheduled;
    pub mod theory;
    pub mod tickets;
    pub mod units;
}
