//! Records as an attacker would forge them: changed values have matching digests.

use rusqlite::Connection;

/// The parts of a digest, each with its length, as in the program.
#[derive(Default)]
pub(crate) struct Parts(blake3::Hasher);

impl Parts {
    pub(crate) fn of(kind: &str) -> Self {
        Self::default().text(kind)
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    pub(crate) fn number(mut self, number: i64) -> Self {
        self.0.update(&number.to_le_bytes());
        self
    }

    pub(crate) fn maybe(self, text: Option<&str>) -> Self {
        self.number(i64::from(text.is_some())).text(text.unwrap_or_default())
    }

    pub(crate) fn digest(&self) -> Vec<u8> {
        self.0.finalize().as_bytes()[..16].to_vec()
    }
}

/// Gives the manifest the digest of its current contents.
pub(crate) fn seal_manifest(records: &Connection) {
    let sql = "SELECT format, collection, embedder, dimension, place, chunking, changed, current FROM manifest";
    let digest = records.query_row(sql, [], |row| {
        let current: Option<i64> = row.get(7)?;
        let parts = Parts::of("manifest").number(row.get(0)?).bytes(&row.get::<_, Vec<u8>>(1)?);
        let parts = parts.text(&row.get::<_, String>(2)?).number(row.get(3)?);
        let parts = parts.maybe(row.get::<_, Option<String>>(4)?.as_deref());
        let parts = parts.maybe(row.get::<_, Option<String>>(5)?.as_deref()).number(row.get(6)?);
        Ok(parts.number(i64::from(current.is_some())).number(current.unwrap_or(0)).digest())
    });
    assert_eq!(records.execute("UPDATE manifest SET digest = ?1", [digest.unwrap()]), Ok(1));
}

/// Marks a document as done that does not exist.
pub(crate) fn mark_lost(records: &Connection, id: &[u8; 16]) {
    let digest = Parts::of("unit").text("passages").bytes(id).text("f").number(1).maybe(None).bytes(&[]).digest();
    let sql = "INSERT INTO units (stage, key, fingerprint, state, digest) VALUES ('passages', ?1, 'f', 1, ?2)";
    assert_eq!(records.execute(sql, (id, digest)), Ok(1));
}
