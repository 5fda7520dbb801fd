
(cd "$dir" && cksum -- *.txt >MANIFEST)
echo "$dir: copy this folder to a machine with mawl, then: mawl tune check --from $dir"
