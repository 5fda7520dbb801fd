#!/bin/bash
# Compare file systems under Slurm: an array of runs, one at a time, in turns over the directories that you name.
#
#   sbatch --array=0-9%1 slurm-array.sh /scratch/a /scratch/b         five runs on each
#   mawl compare runs/array-JOB/scratch-a runs/array-JOB/scratch-b    JOB: the number that sbatch printed
#
# Without %1 the runs of the array are side by side and disturb each other.
# --cache none: the file systems serve every request, not the memory of the node.
# mawl must be in PATH, and the current directory must be shared by all nodes.
#SBATCH --nodes=1 --exclusive
[ $# -gt 0 ] || { echo "slurm-array.sh: name at least one directory" >&2; exit 2; }
places=("$@")
place=${places[SLURM_ARRAY_TASK_ID % $#]}
side=${place#/}
mawl run "${WORKLOAD:-mixed20}" --runs "runs/array-$SLURM_ARRAY_JOB_ID/${side//\//-}" \
    --cache none --data "$place/data" --work "$place/work" --util "$place/util"
