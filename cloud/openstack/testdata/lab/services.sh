# The message queue and the services, each started once its needs are there.

wsgi() { # wsgi NAME PORT FILE THREADS VARIABLE=VALUE
    # uwsgi closes connections without saying so; the header says so.
    start "$1" env "$5" uwsgi_python3 --http-socket "127.0.0.1:$2" --wsgi-file "$3" \
        --processes 1 --threads "$4" --enable-threads --master --die-on-term --lazy-apps --need-app \
        --thunder-lock --disable-logging --buffer-size 65535 --post-buffering 65536 \
        --add-header 'Connection: close'
}

python_service() { # python_service NAME MODULE CONFIG
    start "$1" env PYTHONPATH="$LAB/plugin" /usr/bin/python3 "$LAB/plugin/run.py" "$2" --config-file "$ETC/$3"
}

start_queue() {
    start epmd env ERL_EPMD_ADDRESS=127.0.0.1 epmd -port "$EPMD_PORT"
    await epmd 20 listens "$EPMD_PORT"
    mkdir -p "$DATA/rabbit"
    start rabbitmq env HOME="$DATA/rabbit" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$EPMD_PORT" \
        RABBITMQ_NODENAME=vpnctl-lab@localhost RABBITMQ_DIST_PORT="$MQ_DIST_PORT" \
        RABBITMQ_CONF_ENV_FILE=/dev/null RABBITMQ_CONFIG_FILE="$ETC/rabbitmq" \
        RABBITMQ_ENABLED_PLUGINS_FILE="$ETC/rabbitmq.plugins" \
        RABBITMQ_MNESIA_BASE="$DATA/rabbit" RABBITMQ_LOG_BASE="$LOG" RABBITMQ_LOGS=- \
        RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS='-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none' \
        /usr/lib/rabbitmq/bin/rabbitmq-server
}

start_identity() {
    start_queue
    wsgi keystone "$KEYSTONE_PORT" /usr/bin/keystone-wsgi-public 4 "OS_KEYSTONE_CONFIG_FILES=$ETC/keystone.conf"
    python_service neutron neutron.cmd.eventlet.server neutron.conf
    await keystone 300 answers "$KEYSTONE_PORT"
}

start_services() {
    mkdir -p "$ETC/placement"
    cp "$ETC/placement.conf" "$ETC/placement/" # it wants a folder
    wsgi placement "$PLACEMENT_PORT" /usr/bin/placement-api 2 "OS_PLACEMENT_CONFIG_DIR=$ETC/placement"
    python_service glance glance.cmd.api glance.conf
    await rabbitmq 300 listens "$MQ_PORT"
    python_service nova-conductor nova.cmd.conductor nova.conf
    python_service nova-scheduler nova.cmd.scheduler nova.conf
    python_service nova-api nova.cmd.api_os_compute nova.conf
    await placement 300 answers "$PLACEMENT_PORT"
    python_service nova-compute nova.cmd.compute nova.conf
    await neutron 300 answers "$NEUTRON_PORT"
    await glance 300 answers "$GLANCE_PORT"
    await nova-api 300 answers "$NOVA_PORT"
    await nova-compute 300 counts nova.compute_nodes
    counts nova_api.host_mappings || step nova nova_manage cell_v2 discover_hosts
}

counts() { [ "$(sql -N -e "select count(*) from $1")" -gt 0 ]; } # counts TABLE: has it a row?

# fill asks the services for what there is to be. One of them may have started and yet
# answer no more: then all that keep nothing in memory are started once more.
fill() {
    python_for 300 seed.py cloud && return
    echo "a service does not answer; all are started again; the ends of their logs:" >&2
    local name again=(neutron placement glance nova-conductor nova-scheduler nova-api nova-compute)
    for ((n = ${#again[@]} - 1; n >= 0; n--)); do
        tail -n 15 "$LOG/${again[n]}.log" >&2
        stop "${again[n]}"
    done
    start_identity
    start_services
    python_for 300 seed.py cloud
}
