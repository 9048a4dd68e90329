#!/usr/bin/env bash
# Two Ray nodes on this machine, with a token and on 127.0.0.1 only, for as long as a command runs:
#
#     cluster/two_nodes.sh [COMMAND ...]
#
# The command finds the cluster by RAY_ADDRESS, so --ray-address auto will do. At its end, or at Ctrl-C, exactly
# these two nodes are stopped; other clusters on the machine are left alone. PYTHON names the interpreter.
set -euo pipefail
umask 077

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${PYTHON:-python}
folder=$(mktemp -d /tmp/dosdt.XXXX) # short: Ray's sockets lie below it, and their paths must not exceed 107 bytes
nodes=()

stop() {
    local node
    for node in "${nodes[@]}"; do
        kill "$node" 2>/dev/null || true # --block: the node's processes end with it
    done
    for node in "${nodes[@]}"; do
        wait "$node" 2>/dev/null || true
    done
    rm -rf "$folder" || true
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail() {
    echo "two_nodes.sh: $1; it said:" >&2
    tail -n 20 "$2" >&2
    exit 1
}

# start NAME ARGUMENTS ...: starts a node and waits until it runs.
start() {
    local log="$folder/$1.log" node
    shift
    # A session of its own: Ctrl-C is for the command, and the nodes end afterwards.
    setsid "$python" "$here/loopback.py" start --block --disable-usage-stats --node-ip-address 127.0.0.1 \
        --num-cpus 1 --object-store-memory 100000000 "$@" >"$log" 2>&1 &
    node=$!
    nodes=("$node" "${nodes[@]}") # the last one first: the head ends last
    for _ in $(seq 300); do
        if grep -q "Ray runtime started" "$log"; then return; fi
        if ! kill -0 "$node" 2>/dev/null; then fail "a node did not start" "$log"; fi
        sleep 0.2
    done
    fail "a node took more than a minute to start" "$log"
}

read -r port client dashboard agent other < <("$python" - <<'END'
import socket

sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(5)]
print(*(taken.getsockname()[1] for taken in sockets))
END
)

"$python" -c 'import secrets; print(secrets.token_hex(32), end="")' >"$folder/token"
unset RAY_AUTH_TOKEN RAY_API_SERVER_ADDRESS RAY_ADDRESS
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$folder/token" RAY_USAGE_STATS_ENABLED=0
export RAY_worker_niceness=0 # else workers give way to all other processes
export RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 # 127.0.0.1 is meant; see loopback.py

start head --head --port "$port" --ray-client-server-port "$client" --temp-dir "$folder/ray" \
    --include-dashboard "${DASHBOARD:-false}" --dashboard-host 127.0.0.1 --dashboard-port "$dashboard" \
    --dashboard-agent-listen-port "$agent"
RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=1 start second --address "127.0.0.1:$port" --dashboard-agent-listen-port "$other"

export RAY_ADDRESS="127.0.0.1:$port"
echo "two_nodes.sh: two nodes run at $RAY_ADDRESS" >&2
if [ "${DASHBOARD:-false}" = true ]; then
    export DOSDT_DASHBOARD="http://127.0.0.1:$dashboard"
fi
if [ $# -eq 0 ]; then
    set -- "$python" -m dosdt fit tic-tac-toe --regularization 0.002 --workers 2 --ray-address "$RAY_ADDRESS"
fi
code=0
"$@" || code=$?
exit "$code"
