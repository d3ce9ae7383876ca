#!/bin/bash
# Starts Ray on the nodes of a Slurm job and runs a study or an experiment on them:
#
#   sbatch slurm-ray.sh experiment.toml
#   sbatch slurm-ray.sh gricean-maxims --model hf:ORG/MODEL --out runs
#
# Adapt the lines below to your cluster. One Ray process per node takes all that Slurm gives there.
# What is killed by the time limit goes on when the same job is submitted again.
#SBATCH --job-name=felicity
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus-per-node=1
#SBATCH --mem=32G
#SBATCH --time=04:00:00
# Two minutes before the end, as Ctrl-C would: the workers stop, the journal is whole.
#SBATCH --signal=B:INT@120

set -euo pipefail
# With job control, so that what runs in the background heeds an interrupt.
set -m

# The environment with felicity[local,ray]: the same on every node, on a shared disk.
# module load python/3.11
# source "$HOME/felicity/bin/activate"

# Compute nodes often have no network: fetch hub models before, on a login node.
export HF_HUB_OFFLINE="${HF_HUB_OFFLINE:-1}"
export RAY_USAGE_STATS_ENABLED=0
# One port for each job, so that two jobs on a node do not meet.
port=$((20000 + SLURM_JOB_ID % 10000))
gpus="${SLURM_GPUS_ON_NODE:-0}"
share=0
if [ "$gpus" -gt 0 ]; then share=1; fi
store=200000000

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
head="${nodes[0]}"
address="$(srun --nodes=1 --ntasks=1 --nodelist="$head" hostname --ip-address)"
# A node with several addresses names the first.
address="${address%% *}:$port"

start_ray() { # NODE ARGUMENT...: one Ray that stays in the foreground of its own srun
    local node="$1"
    shift
    srun --nodes=1 --ntasks=1 --overlap --nodelist="$node" \
        ray start --block --disable-usage-stats --num-cpus="$SLURM_CPUS_PER_TASK" \
        --num-gpus="$gpus" --object-store-memory="$store" "$@" &
}

start_ray "$head" --head --port="$port" --include-dashboard=false
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT

for _ in $(seq 60); do
    if srun --nodes=1 --ntasks=1 --overlap --nodelist="$head" \
        ray status --address="$address" >/dev/null 2>&1; then break; fi
    sleep 2
done
for node in "${nodes[@]:1}"; do start_ray "$node" --address="$address"; done

# The nodes that are there join at once; those that come later take part from then on.
felicity run "$@" --on "ray:$address" --gpus-per-task "$share" &
run=$!
# Slurm sends the signal to this script, which hands it on.
trap 'kill -INT "$run"' INT
status=0
wait "$run" || status=$?
# The signal ends the first wait, not the run, which then needs a moment.
if kill -0 "$run" 2>/dev/null; then
    status=0
    wait "$run" || status=$?
fi
exit "$status"
