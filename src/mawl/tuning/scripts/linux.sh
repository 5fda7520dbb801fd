# sysfiles: small files of the kernel, each as PATH:VALUE
sysfiles() {
    for path in /sys/block/*/queue/* /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor \
        /sys/devices/system/cpu/cpu0/cpuidle/state*/latency /sys/devices/system/cpu/cpu0/cpuidle/state*/disable \
        /sys/kernel/mm/transparent_hugepage/* /sys/kernel/mm/ksm/run \
        /sys/class/nvme-subsystem/*/iopolicy /sys/module/iomemory_vsl*/parameters/*; do
        if [ -f "$path" ] && [ -r "$path" ]; then
            value=$(cat "$path" 2>/dev/null) && printf '%s:%s\n' "$path" "$value"
        fi
    done
    return 0
}

ask sysctl -a
ask sysfiles
ask lsblk -b -P -o KNAME,TYPE,SIZE,ROTA,MODEL,TRAN
ask multipath -ll
ask tuned-adm active
ask numactl --hardware
ask mount
ask df -P
ask ulimit -n
ask ulimit -Hn
ask ppc64_cpu --smt
for path in /sys/class/net/*; do
    device=${path##*/}
    case $device in
    lo | '*') ;;
    *)
        ask ethtool "$device"
        ask ethtool -g "$device"
        ask ethtool -k "$device"
        ;;
    esac
done
for path in /sys/block/*; do
    device=${path##*/}
    case $device in
    loop* | ram* | zram* | sr* | '*') ;;
    *) ask udevadm info --query=property --name="/dev/$device" ;;
    esac
done
