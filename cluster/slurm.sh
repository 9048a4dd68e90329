#!/usr/bin/env bash
#SBATCH --job-name=dosdt
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#
# A Ray cluster on the nodes of one Slurm job, with a token of its own, for as long as a command runs:
#
#     sbatch cluster/slurm.sh dosdt fit data.csv --regularization 0.005 --workers 16 --ray-address auto \
#         --model tree.json --checkpoint checkpoint
#
# dosdt must be on the PATH of all nodes (. .venv/bin/activate first), and the home folder be shared by them.
set -euo pipefail
umask 077

if [ $# -eq 0 ]; then
    echo "slurm.sh: pass the command to run" >&2
    exit 2
fi
mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head=${nodes[0]}
address=$(srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address | tr ' ' '\n' | grep -v : | head -n 1)
port=$((20000 + SLURM_JOB_ID % 20000)) # two jobs on one node must not meet
cpus=${SLURM_CPUS_PER_TASK:-1}

# On a shared file system and readable by you alone; never on a command line, which others on the node can see.
folder=$(mktemp -d "$HOME/.dosdt-$SLURM_JOB_ID.XXXX")
trap 'rm -rf "$folder"' EXIT
python -c 'import secrets; print(secrets.token_hex(32), end="")' >"$folder/token"
unset RAY_AUTH_TOKEN
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH="$folder/token" RAY_USAGE_STATS_ENABLED=0

# Slurm ends these with the job, and nothing else on the nodes: there is no "ray stop", which would end all.
# The dashboard listens on the head node's loopback interface; ssh -L 8265:127.0.0.1:8265 HEAD leads to it.
srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" \
    ray start --head --block --node-ip-address="$address" --port="$port" --num-cpus="$cpus" \
    --dashboard-host=127.0.0.1 --temp-dir="/tmp/ray-$SLURM_JOB_ID" --disable-usage-stats >"$folder/head.log" 2>&1 &
if [ "${#nodes[@]}" -gt 1 ]; then
    others=$(IFS=,; echo "${nodes[*]:1}")
    srun --overlap --nodes=$((${#nodes[@]} - 1)) --ntasks=$((${#nodes[@]} - 1)) --nodelist="$others" \
        bash -c "for _ in \$(seq 30); do sleep 2; ray start --block --address=$address:$port --num-cpus=$cpus \
            --disable-usage-stats && break; done" >"$folder/others.log" 2>&1 &
fi

export RAY_ADDRESS="$address:$port"
wait_for_nodes='
import sys, time, ray
for _ in range(60):
    try:
        ray.init(address="auto", log_to_driver=False, logging_level="ERROR")
        while sum(node["Alive"] for node in ray.nodes()) < int(sys.argv[1]):
            time.sleep(1)
        break
    except ConnectionError:
        time.sleep(2)
else:
    sys.exit("slurm.sh: the Ray cluster did not start")
'
on_head=(srun --overlap --nodes=1 --ntasks=1 --nodelist="$head" --cpus-per-task="$cpus")
"${on_head[@]}" timeout 300 python -c "$wait_for_nodes" "${#nodes[@]}" || { tail -n 20 "$folder"/*.log >&2; exit 1; }
code=0
"${on_head[@]}" "$@" || code=$?
exit "$code"
