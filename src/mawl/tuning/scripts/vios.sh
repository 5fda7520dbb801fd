# The shell of padmin cannot run this: enter oem_setup_env first.
ask ioscli lsmap -all
ask ioscli lsmap -all -npiv
ask lsdev -C -F 'name parent'
for device in $(lsdev -C -F name); do
    case $device in
    hdisk[0-9]* | fcs[0-9]* | fscsi[0-9]* | ent[0-9]*) ask lsattr -El "$device" ;;
    esac
done
