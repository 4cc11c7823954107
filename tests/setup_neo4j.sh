#!/usr/bin/env bash
# Neo4j Community and its Browser without Docker: fetched from Maven Central, run on Java 17 or later.
#
#   tests/setup_neo4j.sh fetch LIB                    the jars into LIB, once (about 140 MB; needs Maven)
#   tests/setup_neo4j.sh run LIB HOME [BOLT] [HTTP]   the server in the foreground, its data in HOME
#   tests/setup_neo4j.sh admin LIB HOME ARGUMENT…     neo4j-admin on that data; the server must be stopped
#   tests/setup_neo4j.sh shell LIB ARGUMENT…          cypher-shell
#
# The server only listens on this machine: for programs on port BOLT (7687), for its Browser on port HTTP (7474).
#
#   NEO4J_PASSWORD_FILE   file with the password of the user neo4j, set at the first start [default: no password]
#   NEO4J_HEAP            its heap [default: 1g]
#   NEO4J_PAGECACHE       its page cache [default: 512m]
#   NEO4J_GC              its garbage collector: G1, Parallel or Serial [default: G1]
#   NEO4J_SETTINGS        further lines of neo4j.conf
#   NEO4J_JAVA            the Java to run it [default: java]
#
# The jars are Neo4j's own, under the GPL; they are fetched for whoever runs this, and are not part of Cairn.
set -euo pipefail

readonly NEO4J_VERSION=5.26.29 BROWSER_VERSION=5.24.0
readonly JAVA=${NEO4J_JAVA:-java}

pom() {
    cat <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>cairn</groupId><artifactId>neo4j-server</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>$NEO4J_VERSION</version></dependency>
    <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>$NEO4J_VERSION</version></dependency>
    <dependency><groupId>org.neo4j</groupId><artifactId>cypher-shell</artifactId><version>$NEO4J_VERSION</version></dependency>
    <dependency><groupId>org.neo4j.client</groupId><artifactId>neo4j-browser</artifactId><version>$BROWSER_VERSION</version></dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-dependency-plugin</artifactId><version>3.6.1</version>
    <executions><execution>
      <id>lib</id><phase>package</phase><goals><goal>copy-dependencies</goal></goals>
      <configuration><outputDirectory>\${project.basedir}/lib</outputDirectory><includeScope>runtime</includeScope></configuration>
    </execution></executions>
  </plugin></plugins></build>
</project>
POM
}

# Made beside its place and renamed, so that an interrupted fetch is not mistaken for a complete one.
fetch() {
    local lib=$1
    if [ -f "$lib/whole-$NEO4J_VERSION" ]; then return; fi
    local unfinished="$lib.tmp-$$"
    mkdir -p "$unfinished"
    pom >"$unfinished/pom.xml"
    mvn -q -B -f "$unfinished/pom.xml" package
    touch "$unfinished/whole-$NEO4J_VERSION"
    rm -rf "$lib"
    mv "$unfinished" "$lib"
}

java_version() {
    local version
    version=$("$JAVA" -XshowSettings:properties -version 2>&1 | sed -n 's/.*java.specification.version = //p')
    printf '%s' "${version%%.*}"
}

settings() {
    local bolt=$1 http=$2
    cat <<CONF
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:$bolt
server.bolt.advertised_address=127.0.0.1:$bolt
server.http.listen_address=127.0.0.1:$http
server.http.advertised_address=127.0.0.1:$http
server.https.enabled=false
dbms.security.auth_enabled=$([ -n "${NEO4J_PASSWORD_FILE:-}" ] && echo true || echo false)
dbms.usage_report.enabled=false
client.allow_telemetry=false
server.memory.pagecache.size=${NEO4J_PAGECACHE:-512m}
db.transaction.timeout=10m
db.lock.acquisition.timeout=30s
db.tx_log.rotation.retention_policy=2 files
${NEO4J_SETTINGS:-}
CONF
}

run() {
    local lib home bolt=${3:-7687} http=${4:-7474}
    lib=$(realpath "$1") home=$(realpath -m "$2")
    mkdir -p "$home"/{conf,data,logs,plugins,import,run,licenses}
    settings "$bolt" "$http" >"$home/conf/neo4j.conf"
    if [ -n "${NEO4J_PASSWORD_FILE:-}" ] && [ ! -d "$home/data/dbms" ]; then
        admin "$lib" "$home" dbms set-initial-password "$(<"$NEO4J_PASSWORD_FILE")"
    fi
    local flags=() version
    version=$(java_version)
    if [ "$version" -ge 21 ]; then
        flags+=(--add-opens=java.base/java.util.concurrent=ALL-UNNAMED --add-modules=jdk.incubator.vector)
    fi
    if [ "$version" -ge 24 ]; then flags+=(--sun-misc-unsafe-memory-access=allow); fi
    exec "$JAVA" -Xms"${NEO4J_HEAP:-1g}" -Xmx"${NEO4J_HEAP:-1g}" "-XX:+Use${NEO4J_GC:-G1}GC" \
        -XX:-OmitStackTraceInFastThrow -XX:+UnlockExperimentalVMOptions -XX:+TrustFinalNonStaticFields \
        -XX:+DisableExplicitGC -Djdk.nio.maxCachedBufferSize=1024 -Dio.netty.tryReflectionSetAccessible=true \
        -Dlog4j2.disable.jmx=true -Dlog4j.layout.jsonTemplate.maxStringLength=32768 \
        --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
        --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --enable-native-access=ALL-UNNAMED "${flags[@]}" \
        -Dfile.encoding=UTF-8 -cp "$home/plugins/*:$home/conf/*:$lib/lib/*" org.neo4j.server.CommunityEntryPoint \
        --home-dir="$home" --config-dir="$home/conf" --console-mode
}

admin() {
    local lib=$1 home=$2
    shift 2
    NEO4J_HOME=$(realpath "$home") NEO4J_CONF=$(realpath "$home")/conf \
        "$JAVA" -cp "$lib/lib/*" org.neo4j.cli.AdminTool "$@"
}

shell() {
    local lib=$1
    shift
    exec "$JAVA" -cp "$lib/lib/*" org.neo4j.shell.Main "$@"
}

# The text above, without the comment signs.
help() {
    sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "${BASH_SOURCE[0]}"
}

case "${1:-}" in
    fetch | run | admin | shell) "$@" ;;
    --help | -h | help) help ;;
    *)
        help >&2
        exit 2
        ;;
esac
