# The processes of the control plane, each started once its needs are there.

start_etcd() {
    local url=http://127.0.0.1:$ETCD_PORT peer=http://127.0.0.1:$PEER_PORT
    start etcd "$BIN/etcd" --name=lab --data-dir="$DATA/etcd" --unsafe-no-fsync --log-level=warn \
        --listen-client-urls="$url" --advertise-client-urls="$url" \
        --listen-peer-urls="$peer" --initial-advertise-peer-urls="$peer" --initial-cluster="lab=$peer"
    await etcd 60 curl -sS --fail --noproxy '*' --max-time 2 "$url/health"
}

# No endpoint for the Service kubernetes: an address of the loopback is refused there.
start_api() {
    start kube-apiserver "$BIN/kube-apiserver" \
        --bind-address=127.0.0.1 --secure-port="$API_PORT" --advertise-address=127.0.0.1 --endpoint-reconciler-type=none \
        --etcd-servers="http://127.0.0.1:$ETCD_PORT" --service-cluster-ip-range=10.96.0.0/16 \
        --tls-cert-file="$PKI/api.crt" --tls-private-key-file="$PKI/api.key" --client-ca-file="$PKI/ca.crt" \
        --token-auth-file="$PKI/tokens.csv" --authorization-mode=Node,RBAC --allow-privileged=true --profiling=false \
        --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$PKI/accounts.pub" \
        --service-account-signing-key-file="$PKI/accounts.key" \
        --audit-policy-file="$LAB/audit.yaml" --audit-log-path="$LOG/audit.log" --audit-log-maxsize=4096
    await kube-apiserver 180 api /readyz
}

start_controllers() {
    local of=$LAB/access
    # Tests make more objects a second than the rate that is usual allows for.
    start kube-controller-manager "$BIN/kube-controller-manager" \
        --kubeconfig="$of/manager" --authentication-kubeconfig="$of/manager" --authorization-kubeconfig="$of/manager" \
        --bind-address=127.0.0.1 --secure-port="$MANAGER_PORT" --cert-dir="$PKI" --leader-elect=false --profiling=false \
        --use-service-account-credentials=true --service-account-private-key-file="$PKI/accounts.key" \
        --root-ca-file="$PKI/ca.crt" --allocate-node-cidrs=false --kube-api-qps=200 --kube-api-burst=400
    start kube-scheduler "$BIN/kube-scheduler" \
        --kubeconfig="$of/scheduler" --authentication-kubeconfig="$of/scheduler" --authorization-kubeconfig="$of/scheduler" \
        --bind-address=127.0.0.1 --secure-port="$SCHEDULER_PORT" --cert-dir="$PKI" --leader-elect=false --profiling=false \
        --kube-api-qps=200 --kube-api-burst=400
    # Another kwok waits until the leases of the one before have run out.
    running kwok || api /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases -X DELETE >/dev/null
    # A node without the label has lost its kubelet: see Lab.NotReady.
    start kwok env HOME="$DATA" "$BIN/kwok" --config="$PWD/stages.yaml" --kubeconfig="$of/kwok" --server-address="127.0.0.1:$KWOK_PORT" \
        --manage-all-nodes=false --manage-nodes-with-label-selector=lab.vpnctl/kubelet=running \
        --cidr=10.244.0.0/16 --node-ip=127.0.0.1 --node-lease-duration-seconds=40
    await kube-controller-manager 120 listens "$MANAGER_PORT"
    await kube-scheduler 120 listens "$SCHEDULER_PORT"
    await kwok 120 listens "$KWOK_PORT"
}

create_nodes() {
    local nodes=${VPNCTL_KUBELAB_NODES:-3} node i
    if [[ $nodes =~ ^[0-9]+$ ]]; then
        nodes=$(for ((i = 1; i <= nodes; i++)); do printf 'node-%d=openstack:///00000000-0000-4000-8000-%012d\n' "$i" "$i"; done)
    fi
    i=0
    for node in $nodes; do
        i=$((i + 1))
        sed "s|NAME|${node%%=*}|; s|PROVIDER-ID|${node#*=}|; s|ZONE|az$i|" node.yaml |
            put "/api/v1/nodes/${node%%=*}"
    done
}

nodes_ready() { # those with a kubelet
    api '/api/v1/nodes?labelSelector=lab.vpnctl/kubelet' |
        jq -e '.items | all(any(.status.conditions[]?; .type == "Ready" and .status == "True"))'
}
