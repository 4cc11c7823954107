//! The contents of a database are listed and removed: everything that is ours, and nothing else.

use serde_json::Value;

use crate::support::assert_valid;
use crate::support::neo4j::database_to_reshape;

use super::{assert_whole, held, indexed_mill, published};

#[test]
#[ignore = "slow: `.ci/run` runs it"]
fn an_index_is_taken_out_of_a_database_and_what_users_have_beside_it_stays() {
    let Some(database) = database_to_reshape() else { return };
    let cli = indexed_mill();
    published(&cli, &database);
    let uri = &database.uri;
    let status: Value = cli.json(&["status", "--neo4j", uri]);
    assert_valid("graph-status", &status);
    assert_eq!(status["version"], 1);
    assert!(status["published"].as_str().unwrap().starts_with("20") && status["is_whole"] == true, "{status}");
    let said = cli.run(["status", "--neo4j", uri]).succeeded().stdout;
    assert!(said.contains("of the graph (format 3), published 20"), "{said}");

    database.rows("MATCH (p:Passage) WITH p LIMIT 1 CREATE (:Note {own: true, name: 'mine'})-[:ABOUT]->(p)");
    database.rows("CREATE (:Passage {own: true}), (:Document {own: true}), (:Unit {own: true})");
    database.rows("CREATE INDEX mine FOR (n:Passage) ON (n.mine)");
    // Nobody is there to confirm.
    let said = cli.run(["unpublish", "--neo4j", uri]);
    assert!(said.status == Some(3) && said.stderr.contains("nothing was deleted; type `yes`"), "{said:#?}");
    assert!(held(&database).join("\n") + "\n" == cli.canonical(".cairn"));
    let said = cli.run(["unpublish", "--neo4j", uri, "--yes"]).succeeded().stderr;
    let stay = "4 nodes that Cairn did not create would stay";
    assert!(said.contains("1 relationship attached to them") && said.contains(stay), "{said}");
    assert_eq!(database.count("MATCH (n) RETURN count(n) AS n"), 4);
    assert_eq!(database.count("SHOW INDEXES YIELD name WHERE name STARTS WITH 'cairn_' RETURN count(*) AS n"), 0);
    assert_eq!(database.count("SHOW INDEXES YIELD name WHERE name = 'mine' RETURN count(*) AS n"), 1);
    for command in ["unpublish", "status", "check"] {
        let said = cli.run([command, "--neo4j", uri]);
        assert!(said.status == Some(4) && said.stderr.contains("holds no index of Cairn"), "{command}: {said:#?}");
    }
    // A database without nodes accepts an index again.
    database.rows("MATCH (n) DETACH DELETE n");
    published(&cli, &database);
    assert_whole(&cli, &database);
}
