# MariaDB, the services' schemas, and a filled copy of them kept for next time.
#
# Migrations take minutes, and make the same tables each time. So a lab that
# has been filled is kept outside the tree, under a name made of everything
# that went into it: package versions, this folder, ports.

DATABASES=(keystone neutron nova nova_cell0 nova_api placement glance)

sql() { mariadb --no-defaults -u root -S "$RUN/mariadb.sock" "$@"; }

start_database() {
    local options=(--no-defaults --user="$(id -un)" --datadir="$DATA/mysql")
    if [ ! -e "$DATA/mysql/mysql" ]; then
        rm -rf "$DATA/mysql"
        mariadb-install-db "${options[@]}" --auth-root-authentication-method=normal \
            --skip-test-db >>"$LOG/mariadb.log" 2>&1
    fi
    # Nothing here need survive a power cut.
    start mariadb mariadbd "${options[@]}" --socket="$RUN/mariadb.sock" \
        --pid-file="$RUN/mariadbd" --bind-address=127.0.0.1 --port="$DB_PORT" \
        --max-connections=400 --skip-name-resolve --skip-log-bin --performance-schema=0 \
        --character-set-server=utf8mb3 --collation-server=utf8mb3_general_ci \
        --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-buffer-pool-size=128M
    await mariadb 300 sql -e 'select 1'
    sql -e "create user if not exists lab@'127.0.0.1' identified by '$PASSWORD'"
    sql -e "grant all on *.* to lab@'127.0.0.1'"
}

step() { # step NAME COMMAND...: its output is shown only if it fails
    "${@:2}" >>"$LOG/setup-$1.log" 2>&1 || { tail -n 25 "$LOG/setup-$1.log" >&2; return 1; }
}

migrate() {
    local name lane lanes=()
    for name in "${DATABASES[@]}"; do
        sql -e "drop database if exists $name; create database $name"
    done
    step neutron service neutron.db.migration.cli --config-file "$ETC/neutron.conf" upgrade heads &
    lanes+=($!)
    step nova migrate_nova &
    lanes+=($!)
    step keystone migrate_keystone && step placement placement-manage --config-file "$ETC/placement.conf" db sync &&
        step glance service glance.cmd.manage --config-file "$ETC/glance.conf" db_sync &
    lanes+=($!)
    for lane in "${lanes[@]}"; do wait "$lane"; done
}

migrate_keystone() {
    local manage=(keystone-manage --config-file "$ETC/keystone.conf") own=(--keystone-user "$(id -un)" --keystone-group "$(id -gn)")
    mkdir -p -m 700 "$DATA"/keystone/{fernet,credential}
    "${manage[@]}" fernet_setup "${own[@]}" && "${manage[@]}" credential_setup "${own[@]}" &&
        "${manage[@]}" db_sync && "${manage[@]}" bootstrap --bootstrap-password "$PASSWORD" \
        --bootstrap-public-url "$AUTH_URL" --bootstrap-internal-url "$AUTH_URL" --bootstrap-region-id RegionOne
}

nova_manage() { service nova.cmd.manage --config-file "$ETC/nova.conf" "$@"; }

migrate_nova() {
    nova_manage api_db sync &&
        nova_manage cell_v2 map_cell0 --database_connection "$DB/nova_cell0?charset=utf8" &&
        nova_manage cell_v2 create_cell --name cell1 &&
        nova_manage db sync
}

kept() { # the file in which a lab made of just these parts is kept
    local key
    key=$({ versions; cat up seed.py api.py *.sh etc/* plugin/*.py; echo "$PORT_BASE"; } | sha256sum | cut -c 1-16)
    echo "${XDG_CACHE_HOME:-${HOME:-$LAB}/.cache}/vpnctl/lab-$key.tar.gz"
}

keep() {
    local file
    file=$(kept)
    mkdir -p -m 700 "${file%/*}"
    find "${file%/*}" -name 'lab-*.tar.gz*' -mtime +7 -delete
    mariadb-dump --no-defaults -u root -S "$RUN/mariadb.sock" --single-transaction \
        --databases "${DATABASES[@]}" >"$DATA/dump.sql"
    (umask 077 && tar -C "$DATA" -czf "$file.$$" dump.sql keystone glance/images)
    mv "$file.$$" "$file"
    rm "$DATA/dump.sql"
}

restore() {
    local file
    file=$(kept)
    [ -s "$file" ] && tar -C "$DATA" -xzf "$file" && sql <"$DATA/dump.sql" && rm "$DATA/dump.sql" &&
        touch "$DATA/filled"
}
