for tunables in vmo ioo no schedo raso; do
    ask "$tunables" -a
done
ask ulimit -a
ask lsattr -El sys0
ask lparstat -i
ask smtctl
ask mount
ask lspath
ask lsdev -C -F 'name parent'
for device in $(lsdev -C -F name); do
    case $device in
    hdisk[0-9]* | fcs[0-9]* | fscsi[0-9]* | en[0-9]* | ent[0-9]*) ask lsattr -El "$device" ;;
    esac
done
