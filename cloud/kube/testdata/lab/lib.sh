# Names, ports and processes of the lab, shared by up, down, gitops and argocd.

export VPNCTL_KUBELAB=${VPNCTL_KUBELAB:-${TMPDIR:-/tmp}/vpnctl-kubelab/kubeconfig}
case $VPNCTL_KUBELAB in
/*) ;;
*) echo "VPNCTL_KUBELAB=$VPNCTL_KUBELAB: the path must be absolute" >&2; exit 2 ;;
esac
LAB=$(dirname "$VPNCTL_KUBELAB")
PKI=$LAB/pki RUN=$LAB/run LOG=$LAB/log DATA=$LAB/data
INSTALL=../../../../testdata/install

# In the order in which they start; they end the other way round.
PROCESSES=(etcd kube-apiserver kube-controller-manager kube-scheduler kwok
           git source-controller kustomize-controller
           redis argocd-repo-server argocd-application-controller)

# A process is known by its number and the moment it started, so that a number
# which the kernel has given to somebody else meanwhile is never taken for ours.
born() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

pid_of() { # pid_of NAME: prints the number of a process of ours that still runs
    local pid moment
    [ -s "$RUN/$1.pid" ] || return 1
    read -r pid moment <"$RUN/$1.pid"
    [ -n "$moment" ] && [ "$(born "$pid")" = "$moment" ] && ! grep -q '^State:.Z' "/proc/$pid/status" && echo "$pid"
}

running() { pid_of "$1" >/dev/null; }

start() { # start NAME COMMAND...: in a session of its own, unless it runs already
    local name=$1 pid
    shift
    running "$name" && return
    setsid "$@" </dev/null >>"$LOG/$name.log" 2>&1 8>&- 9>&- &
    pid=$!
    disown "$pid"
    echo "$pid $(born "$pid")" >"$RUN/$name.pid"
}

# stop NAME: asks, waits, then ends what is left of its session. The API server would
# wait a minute for those who watch.
stop() {
    local pid end=$((SECONDS + 4))
    if pid=$(pid_of "$1"); then
        kill -TERM "$pid" 2>/dev/null || true
        while running "$1" && [ $SECONDS -lt $end ]; do sleep 0.1; done
        kill -KILL -- "-$pid" 2>/dev/null || true
    fi
    rm -f "$RUN/$1.pid"
}

await() { # await NAME SECONDS COMMAND...: until the command succeeds
    local name=$1 end=$((SECONDS + $2))
    shift 2
    until "$@" >/dev/null 2>&1; do
        if ! running "$name" || [ $SECONDS -ge $end ]; then
            echo "$name does not answer ($*); the end of its log:" >&2
            tail -n 25 "$LOG/$name.log" >&2
            return 1
        fi
        sleep 0.2
    done
}

listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

phase() { printf '%4d s  %s\n' $SECONDS "$*"; }

# choose_ports: thirty-two ports in a row, the lab's for as long as its folder is
# there. Others that choose meanwhile wait, until the lab listens on the first.
choose_ports() {
    local base=${VPNCTL_KUBELAB_PORT_BASE:-26100} name
    if [ ! -s "$LAB/ports" ]; then
        while [ -z "${VPNCTL_KUBELAB_PORT_BASE:-}" ] && ! vacant "$base"; do
            base=$((base + 32))
            [ $base -lt 32000 ] || { echo 'no ports are left below 32000' >&2; return 1; }
        done
        echo "$base" >"$LAB/ports"
    fi
    read_ports
    for name in "${PROCESSES[@]}"; do ! running "$name" || return 0; done
    vacant "$PORT_BASE" || {
        echo "a port from $PORT_BASE to $((PORT_BASE + 31)) is in use: choose others with VPNCTL_KUBELAB_PORT_BASE, after ./down --purge" >&2
        return 1
    }
}

vacant() { # vacant BASE: does nobody listen on any of them?
    local port
    for ((port = $1; port < $1 + 32; port++)); do ! listens "$port" || return 1; done
}

read_ports() {
    PORT_BASE=$(<"$LAB/ports")
    API_PORT=$PORT_BASE ETCD_PORT=$((PORT_BASE + 1)) PEER_PORT=$((PORT_BASE + 2))
    MANAGER_PORT=$((PORT_BASE + 3)) SCHEDULER_PORT=$((PORT_BASE + 4)) KWOK_PORT=$((PORT_BASE + 5))
    GIT_PORT=$((PORT_BASE + 6))
    FLUX_PORT=$((PORT_BASE + 8))    # and the four after it
    ARGOCD_PORT=$((PORT_BASE + 16)) # and the four after it
}

# api PATH CURL-ARGUMENT...: the answer of the API server, which must not be an error
api() {
    local path=$1
    shift
    curl -sS --fail-with-body -A lab --noproxy '*' --max-time 30 --cacert "$PKI/ca.crt" -H "@$PKI/admin.header" \
        "$@" "https://127.0.0.1:$API_PORT$path"
}

# custom_resources FILE...: server-side applies definitions, one a file
custom_resources() {
    local file name
    for file; do
        name=$(sed -n '/^metadata:/,/^spec:/s/^  name: //p' "$file")
        api "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/$name?fieldManager=lab&force=true" \
            -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary "@$file" >/dev/null
    done
}

# put PATH: server-side applies the object on standard input
put() {
    api "$1?fieldManager=lab&force=true" -X PATCH -H 'Content-Type: application/apply-patch+yaml' --data-binary @- >/dev/null
}

# start_git: serves the repositories below $LAB/git, which may be read by anyone
# on this machine
start_git() {
    mkdir -p "$LAB/git"
    start git "$(./build git)/git" -address "127.0.0.1:$GIT_PORT" -root "$LAB/git"
    await git 30 listens "$GIT_PORT"
}
