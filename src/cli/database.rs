//! Which database is meant, and who asks: flags, then the environment, then the file with settings.

use std::fs;
use std::path::Path;

use super::Surroundings;
use super::args::DatabaseArgs;
use crate::error::{Error, Result};
use crate::neo4j::{Secret, Target};

/// Returns the database that is meant.
pub(super) fn target(args: &DatabaseArgs, surroundings: &Surroundings) -> Result<Target> {
    let settings = &surroundings.settings.neo4j;
    let Some(uri) = args.neo4j.as_ref().or(settings.uri.as_ref()) else {
        return Err(Error::Option {
            option: "database",
            value: String::new(),
            reason: "name one with `--neo4j URI`, `CAIRN_NEO4J_URI` or `neo4j.uri` in cairn.toml".to_owned(),
        });
    };
    let mut target = Target::parse(uri)?;
    let login = &args.login;
    target.database = login.database.clone().or_else(|| settings.name.clone());
    if let Some(user) = login.user.as_ref().or(settings.user.as_ref()) {
        target.user.clone_from(user);
    }
    target.password = match login.password_file.as_ref().or(settings.password_file.as_ref()) {
        Some(path) => password(path)?,
        None => Secret::new(settings.password.clone().unwrap_or_default()),
    };
    Ok(target)
}

/// Returns the first line of a file.
fn password(path: &Path) -> Result<Secret> {
    let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
    Ok(Secret::new(text.lines().next().unwrap_or_default()))
}
