# Keys, users and their kubeconfigs. Everybody has a token; who may do what is RBAC's.

# name in the lab, name and groups at the API server
USERS=(
    'admin      lab-admin                        system:masters'
    'manager    system:kube-controller-manager   -'
    'scheduler  system:kube-scheduler            -'
    'kwok       lab-kwok                         system:masters'
    'flux       lab-flux                         system:masters'
    'argocd     lab-argocd                       system:masters'
    'nobody     lab-nobody                       lab-nobodies'
)

write_access() {
    if [ ! -s "$PKI/api.crt" ]; then
        write_keys >/dev/null 2>"$LOG/openssl.log"
    fi
    local line name
    mkdir -p "$LAB/access"
    for line in "${USERS[@]}"; do
        read -r name _ <<<"$line"
        [ -s "$LAB/access/$name" ] || kubeconfig "$name" >"$LAB/access/$name"
    done
    [ -s "$VPNCTL_KUBELAB" ] || cp "$LAB/access/admin" "$VPNCTL_KUBELAB"
    write_audit_policy
}

write_keys() (
    local line name user groups token
    cd "$PKI"
    : >tokens.csv
    for line in "${USERS[@]}"; do
        read -r name user groups <<<"$line"
        token=$(openssl rand -hex 16)
        echo "$token,$user,$user,\"${groups#-}\"" >>tokens.csv
        echo "Authorization: Bearer $token" >"$name.header"
    done
    openssl genrsa -out accounts.key 2048
    openssl rsa -in accounts.key -pubout -out accounts.pub
    printf '[req]\ndistinguished_name = name\n[name]\n' >openssl.cnf # no extension by default
    certificate ca -subj /CN=lab -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
    certificate api -CA ca.crt -CAkey ca.key -subj /CN=kube-apiserver -addext extendedKeyUsage=serverAuth \
        -addext subjectAltName=IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc
)

certificate() { # certificate NAME OPENSSL-ARGUMENT...
    local name=$1
    shift
    openssl req -config openssl.cnf -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
        -keyout "$name.key" -out "$name.crt" "$@"
}

kubeconfig() { # kubeconfig NAME
    cat <<YAML
apiVersion: v1
kind: Config
current-context: lab
clusters:
- name: lab
  cluster:
    server: https://127.0.0.1:$API_PORT
    certificate-authority-data: $(base64 -w 0 <"$PKI/ca.crt")
users:
- name: $1
  user: {token: $(cut -d ' ' -f 3 <"$PKI/$1.header")}
contexts:
- name: lab
  context: {cluster: lab, user: $1}
YAML
}

# Every request is in the log, but what the control plane says to itself.
write_audit_policy() {
    cat >"$LAB/audit.yaml" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [system:apiserver, system:kube-scheduler, system:kube-controller-manager, lab-kwok]
- level: None
  userGroups: ["system:serviceaccounts:kube-system"]
- level: Metadata
YAML
}
