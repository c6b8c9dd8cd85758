# Names, ports and processes of the lab, shared by up and down.

LAB=${VPNCTL_LAB:-${TMPDIR:-/tmp}/vpnctl-lab}
ETC=$LAB/etc RUN=$LAB/run LOG=$LAB/log DATA=$LAB/data

# Eleven processes in the order in which they start; they end the other way round.
SERVICES=(mariadb epmd rabbitmq keystone neutron placement glance
          nova-conductor nova-scheduler nova-api nova-compute)

PORT_BASE=${VPNCTL_LAB_PORT_BASE:-26000}
KEYSTONE_PORT=$((PORT_BASE)) NEUTRON_PORT=$((PORT_BASE + 1)) NOVA_PORT=$((PORT_BASE + 2))
PLACEMENT_PORT=$((PORT_BASE + 3)) GLANCE_PORT=$((PORT_BASE + 4)) DB_PORT=$((PORT_BASE + 5))
MQ_PORT=$((PORT_BASE + 6)) EPMD_PORT=$((PORT_BASE + 7)) MQ_DIST_PORT=$((PORT_BASE + 8))
AUTH_URL=http://127.0.0.1:$KEYSTONE_PORT/v3

# A process is known by its number and the moment it started, so that a number
# which the kernel has given to somebody else meanwhile is never taken for ours.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

pid_of() { # pid_of NAME: prints the number of a process of ours that still runs
    local pid moment
    [ -s "$RUN/$1.pid" ] || return 1
    read -r pid moment <"$RUN/$1.pid"
    [ -n "$moment" ] && [ "$(born "$pid")" = "$moment" ] && echo "$pid"
}

running() { pid_of "$1" >/dev/null; }

start() { # start NAME COMMAND...: in a session of its own, unless it runs already
    local name=$1 pid
    shift
    running "$name" && return
    setsid "$@" </dev/null >>"$LOG/$name.log" 2>&1 9>&- &
    pid=$!
    disown "$pid"
    echo "$pid $(born "$pid")" >"$RUN/$name.pid"
}

stop() { # stop NAME: asks, waits ten seconds, then ends what is left of its session
    local pid i
    if pid=$(pid_of "$1"); then
        kill -TERM "$pid" 2>/dev/null || true
        for ((i = 0; i < 100; i++)); do running "$1" || break; sleep 0.1; done
        kill -KILL -- "-$pid" 2>/dev/null || true
    fi
    rm -f "$RUN/$1.pid"
}

await() { # await NAME SECONDS COMMAND...: until the command succeeds
    local name=$1 end=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ! running "$name" || [ $SECONDS -ge $end ]; then
            echo "$name does not answer; the end of its log:" >&2
            tail -n 25 "$LOG/$name.log" >&2
            return 1
        fi
        sleep 0.2
    done
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# vacant NAME PORT...: the ports are this service's already, or nobody's. What
# another program answers there would be taken for the service.
vacant() {
    local name=$1 port
    shift
    running "$name" && return
    for port; do
        if listens "$port"; then
            echo "port $port is in use, which $name wants: choose other ports with VPNCTL_LAB_PORT_BASE" >&2
            return 1
        fi
    done
}

answers() { curl -s -o /dev/null --noproxy '*' --max-time 30 "http://127.0.0.1:$1/"; }
