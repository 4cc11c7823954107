//! The store of paid replies.

use crate::error::Result;

/// Keeps replies by the keys of their requests. Its functions may wait for a disk: asynchronous callers put them on
/// threads that may block.
pub trait ReplyStore: Send + Sync {
    /// Returns the reply that is kept under a key.
    ///
    /// # Errors
    ///
    /// If the store cannot be read.
    fn get(&self, key: &[u8; 32]) -> Result<Option<String>>;

    /// Keeps a reply; one that is kept already stays.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    fn put(&self, key: &[u8; 32], reply: &str) -> Result<()>;

    /// Keeps a reply, replacing an earlier one.
    ///
    /// # Errors
    ///
    /// If the store cannot be written.
    fn replace(&self, key: &[u8; 32], reply: &str) -> Result<()>;
}
