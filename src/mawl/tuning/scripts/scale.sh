ask mmlsconfig
ask mmdiag --config
ask mmlsfs all
ask mmlsnsd -m
for device in $(mmlsfs all -T 2>/dev/null | sed -n 's,^File system attributes for /dev/\(.*\):$,\1,p'); do
    ask mmlsdisk "$device"
done
