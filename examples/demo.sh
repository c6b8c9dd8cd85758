#!/usr/bin/env bash
# vpnctl's main job on the simulated cloud, one command after the other. Needs
# the binary and coreutils, works in a temporary copy of examples/acme, and ends
# with 1 as soon as a step answers otherwise than it should.
#
#   examples/demo.sh bin/vpnctl
set -euo pipefail

[ $# = 1 ] || { echo "usage: $0 PATH-OF-VPNCTL" >&2; exit 1; }
vpnctl=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
examples=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$examples/acme" "$work"
cd "$work/acme"
export NO_COLOR=1

say() { printf '\n# %s\n' "$*"; }

wrong() {
    printf '\nThe demo went wrong: %s\n' "$*" >&2
    exit 1
}

# quoted ARGUMENT...: as one would type them.
quoted() {
    local word
    for word; do
        [[ $word =~ ^[A-Za-z0-9=/._-]+$ ]] || word="'$word'"
        printf ' %s' "$word"
    done
}

# run CODE TEXT ARGUMENT...: shows and carries out vpnctl ARGUMENT..., which must
# end with CODE and have TEXT in its output.
run() {
    local want=$1 text=$2 code=0
    shift 2
    printf '\n$ vpnctl%s\n' "$(quoted "$@")"
    "$vpnctl" "$@" >"$work/output" 2>&1 </dev/null || code=$?
    cat "$work/output"
    [ $code = "$want" ] || wrong "exit code $code, expected $want"
    [[ $(<"$work/output") == *"$text"* ]] || wrong "the output does not say \"$text\""
}

say "One gateway, one peer. Are the manifests right? Nothing but files is read."
run 0 "0 errors" validate

say "What would change? Exit code 2: something would."
run 2 "3 grants open" plan --sim --detailed-exitcode

say "Make it so. The cloud is simulated; its state is in .vpnctl/sim."
run 0 "Applied" apply --sim --auto-approve

say "And again: nothing is left to do. Exit code 0."
run 0 "Plan: no changes." plan --sim --detailed-exitcode

say "Another client looks for the rule that lets the peer's NAT-T packets in, and deletes it."
run 0 '"id"' simulator request GET 'network/v2.0/security-group-rules?remote_ip_prefix=198.51.100.7/32&port_range_min=4500&fields=id'
[[ $(<"$work/output") =~ \"id\":\ \"([0-9a-f-]+)\" ]] || wrong "no rule was found"
run 0 "" simulator request DELETE "network/v2.0/security-group-rules/${BASH_REMATCH[1]}"

say "The plan tells this drift from a change of the manifests. Exit code 2."
run 2 "drift: " plan --sim --detailed-exitcode

say "Repair it. Exit code 0 afterwards."
run 0 "Applied 1 change" apply --sim --auto-approve
run 0 "Plan: no changes." plan --sim --detailed-exitcode

say "What Argo CD or Flux would sync. A second run writes nothing: same input, same bytes."
run 0 "0 removed" render --sim --out tree
run 0 "tree: 0 written, 0 removed" render --sim --out tree
printf '\n$ ls -R tree\n'
ls -R tree
[ -s tree/acme/dc1/configmap-dc1-swanctl.yaml ] || wrong "no swanctl.conf was rendered"

printf '\nThe demo went as it should. It worked in a temporary folder, which is gone now.\n'
