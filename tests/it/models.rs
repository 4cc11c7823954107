//! Language models: every fault of a server has its type, ends in time and is not paid for twice.

mod faults;
