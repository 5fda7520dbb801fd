# Completion of mawl for bash, printed from its command line by tools/shell; do not edit.

# What the option $2 of the verb $1 takes, or without $2 what its arguments are; fails for neither.
_mawl_values() {
    words='' place='' several='' verbs_follow=''
    case "$1:$2" in
    :)
        words='demo qualify run plan generate measure probe compressibility lab report steps compare history serve published pack validate publish size rank simulate placement tune import derive attach help doctor collect clean completion schema' verbs_follow='1'
        ;;
    demo:--data | demo:--work | demo:--util | qualify:--data | qualify:--work | qualify:--util | run:--data | run:--work | run:--util | plan:--data | plan:--work | plan:--util | generate:--data | generate:--work | generate:--util | measure:--data | measure:--work | measure:--util | probe:--data | probe:--work | probe:--util | compressibility:--data | compressibility:--work | compressibility:--util | compare:--reference | compare:--candidate | compare:--settings | 'tune check:--data' | 'tune check:--work' | 'tune check:--util' | 'tune search:--data' | 'tune search:--work' | 'tune search:--util' | doctor:--data | doctor:--work | doctor:--util | clean:--data | clean:--work | clean:--util)
        place='directory' several='1'
        ;;
    demo:--runs | qualify:--runs | qualify:--output | qualify:--node-runs | qualify:--continue | run:--runs | run:--output | run:--node-runs | run:--continue | plan:--runs | plan:--node-runs | probe:--run | probe:--runs | probe: | 'lab up:--images' | 'lab run:--images' | 'lab run:--runs' | 'lab report:--runs' | 'lab report:' | report:--runs | report: | steps:--runs | steps: | compare:--runs | compare: | history:--runs | history: | serve:--runs | published:--run | published:--runs | pack:--runs | pack: | validate:--runs | publish:--output | size:--runs | rank: | simulate:--against | simulate:--output | simulate:--runs | simulate: | placement:--runs | 'tune check:--runs' | 'tune check:' | 'tune compare:--runs' | 'tune compare:' | 'tune search:--continue' | 'tune search:--runs' | import:--output | import:--runs | derive:--output | derive:--runs | attach:--runs | doctor:--runs | doctor:--node-runs | collect:--runs | collect: | clean:--runs | clean:--node-runs | clean:)
        place='directory'
        ;;
    qualify:--volume-order | run:--volume-order | plan:--volume-order | generate:--volume-order | 'tune search:--volume-order' | doctor:--volume-order)
        words='rotation free-space'
        ;;
    qualify:--minutes | qualify:--sessions | qualify:--repeat | qualify:--cluster | qualify:--ssh | qualify:--nodes | qualify:--storage-node | qualify:--link | qualify:--node-timeout | qualify:--pod | qualify:--within | run:--sessions | run:--seed | run:--saving | run:--option | run:--cores | run:--memory-limit | run:--timeout | run:--solo | run:--cluster | run:--ssh | run:--on | run:--nodes | run:--storage-node | run:--link | run:--node-timeout | run:--within | run:--repeat | run:--most-sessions | run:--scaling | plan:--sessions | plan:--seed | plan:--saving | plan:--option | plan:--cores | plan:--memory-limit | plan:--timeout | plan:--solo | plan:--cluster | plan:--ssh | plan:--on | plan:--nodes | plan:--storage-node | plan:--link | plan:--node-timeout | generate:--sessions | generate:--seed | generate:--saving | generate:--option | generate:--processes | probe:--patterns | probe:--sizes | probe:--streams | probe:--depth | probe:--seconds | probe:--file-size | probe:--fill | compressibility:--confidence | compressibility:--half-width | compressibility:--seed | report:--job | report:--within | steps:--most | compare:--margin | serve:--host | serve:--port | pack:--redact | publish:--address | publish:--price | size:--sessions | size:--within | size:--probability | size:--catalogue | rank:--price | rank:--sessions | simulate:--set | simulate:--nodes | simulate:--sessions | simulate:--grow | simulate:--seed | 'tune check:--storage' | 'tune compare:--storage' | 'tune search:--dimension' | 'tune search:--budget' | 'tune search:--confidence' | 'tune search:--smallest-gain' | 'tune search:--seed' | 'tune search:--sessions' | 'tune search:--cores' | 'tune search:--memory-limit' | 'tune search:--option' | import:--timezone | import:--shift | import:--start | import:--interval | import:--node | import:--host | import:--cores | import:--role | derive:--night | derive:--nights | derive:--growth | derive:--only | derive:--without | derive:--library | derive:--timezone | derive:--shift | derive:--core-speed | help: | doctor:--sessions | doctor:--memory-limit | doctor:--option | doctor:--cluster | doctor:--ssh | doctor:--on | doctor:--nodes | doctor:--storage-node | doctor:--link | doctor:--node-timeout | collect:--from | schema:)
        :
        ;;
    qualify:--scale | run:--scale | plan:--scale | generate:--scale | 'lab run:--scale' | simulate:--scale | 'tune search:--scale' | derive:--scale | doctor:--scale)
        words='smoke quick standard full'
        ;;
    qualify:--hosts | qualify:--remote-python | qualify:--ssh-config | qualify:--tls-ca | qualify:--tls-cert | qualify:--tls-key | qualify:--junit | run:--profile | run:--reference | run:--probe | run:--hosts | run:--remote-python | run:--ssh-config | run:--tls-ca | run:--tls-cert | run:--tls-key | run:--junit | plan:--reference | plan:--probe | plan:--hosts | plan:--remote-python | plan:--ssh-config | plan:--tls-ca | plan:--tls-cert | plan:--tls-key | plan:--output | generate:--output | measure:--output | measure: | probe:--output | probe:--from | probe:--system | probe:--junit | compressibility:--output | compressibility: | report:--output | report:--junit | steps:--output | compare:--output | compare:--junit | history:--output | history:--junit | pack:--output | pack:--statement | pack:--sign | validate:--signers | validate:--junit | validate: | publish:--prices | publish: | size:--measured-on | size:--output | size: | rank:--prices | rank:--output | simulate:--system | simulate:--measured-on | placement: | 'tune search:--space' | 'tune search:--write-profile' | import:--array-map | import:--prometheus | import: | derive: | attach:--array-map | attach: | doctor:--hosts | doctor:--remote-python | doctor:--ssh-config | doctor:--tls-ca | doctor:--tls-cert | doctor:--tls-key)
        place='file'
        ;;
    qualify:--shared | run:--shared | plan:--shared | doctor:--shared)
        words='data work util' several='1'
        ;;
    qualify:--places | compressibility:--block | 'lab up:--arm' | 'lab run:--arm')
        several='1'
        ;;
    qualify:--fail-on)
        words='not-carried below-guideline'
        ;;
    run:--arrivals | derive:--arrivals)
        words='clock closed'
        ;;
    run:--start | plan:--start | doctor:--start)
        words='zygote spawn'
        ;;
    run:--on-failure | plan:--on-failure)
        words='continue abort'
        ;;
    run:--html | run:--compressibility | run:--warm-up | plan:--compressibility)
        words='yes no'
        ;;
    run:--cache | plan:--cache | 'tune search:--cache')
        words='cold warm none'
        ;;
    run:--on-lost-node | plan:--on-lost-node | doctor:--on-lost-node)
        words='continue stop'
        ;;
    run:--fail-on | report:--fail-on | compare:--fail-on)
        words='not-carried below-guideline slower'
        ;;
    run:--ab | 'tune check:--from')
        place='file' several='1'
        ;;
    run: | plan: | generate: | 'lab run:--workload' | 'tune search:' | doctor:)
        words='bed mixed20 mixed30 mixed30-19 nano starter' place='file'
        ;;
    measure:--cache)
        words='none'
        ;;
    probe:--engine)
        words='psync libaio io_uring'
        ;;
    probe:--direct)
        words='yes no both'
        ;;
    probe:--content)
        words='incompressible dialled'
        ;;
    probe:--fail-on)
        words='below-guideline'
        ;;
    compressibility:--codec)
        words='lz4 lzo zstd-1 zstd-3' several='1'
        ;;
    compressibility:--storage)
        words='plain btrfs zram' several='1'
        ;;
    lab:)
        words='up run report down' verbs_follow='1'
        ;;
    'lab up:' | 'lab run:' | 'lab down:')
        words='blocksize compression fabric hybrid spinning-vs-flash tuned volumes'
        ;;
    report:--format)
        words='text json html markdown disclosure logparse throughput night openmetrics csv saslog'
        ;;
    report:--color)
        words='auto always never'
        ;;
    report:--table)
        words='summary jobs steps events samples array_volumes arrays devices energy nodes programs queue roles storage_servers threads volumes windows all'
        ;;
    steps:--by)
        words='real cpu waiting bytes memory switches'
        ;;
    steps:--format)
        words='text json markdown html csv'
        ;;
    compare:--format | history:--format)
        words='text json markdown html'
        ;;
    history:--fail-on)
        words='regression'
        ;;
    published:--format)
        words='text json markdown'
        ;;
    published:)
        words='dl980-spinning-30 dl980-flash-30 dl980-flash-untuned-30 s822-xiv-20 s822-xiv-30 s822-hybrid-20 e880-xiv-plain-30 e880-xiv-compressed-30 e880-ess-40gbe-4x30 e880-ess-56gbe-4x30 e980-fs9150-4'
        ;;
    pack:--division)
        words='closed open'
        ;;
    size:--format | rank:--format)
        words='text markdown json html'
        ;;
    tune:)
        words='show check compare collector search' verbs_follow='1'
        ;;
    'tune show:' | 'tune check:--profile' | 'tune compare:--profile')
        words='aix-fibre-channel aix-power8 arrays flash-cards linux-file-systems linux-multipath linux-network-file-systems linux-sequential sas-options sas-viya-2026 spectrum-scale tuned-sas-performance tuned-throughput-performance volumes' place='file'
        ;;
    'tune collector:')
        words='aix linux scale vios'
        ;;
    'tune search:--objective')
        words='response-time elapsed sustained cpu-real'
        ;;
    import:--as)
        words='saslog nmon sadf mpstat iostat sar vmstat fio atop azure azure-csv cloudwatch collectl dstat perfmon pmrep prometheus lsf slurm orchestrator sasgsub'
        ;;
    import:--dates | derive:--dates)
        words='month-first day-first'
        ;;
    derive:--names)
        words='hash keep'
        ;;
    completion:)
        words='bash zsh fish'
        ;;
    *) return 1 ;;
    esac
}

# The options of the verb $1.
_mawl_options() {
    case "$1" in
    '') words='-h --help --version --debug' ;;
    demo) words='-h --help --data --work --util --runs' ;;
    qualify) words='-h --help --help-all --data --work --util --volume-order --runs --output --minutes --sessions --repeat --scale --cluster --ssh --hosts --start-with-those-that-come --nodes --shared --storage-node --link --node-timeout --node-runs --remote-python --ssh-config --insecure --tls-ca --tls-cert --tls-key --places --pod --anyway --yes --plan --continue --json --fail-on --within --junit' ;;
    run) words='-h --help --help-all --sessions --scale --seed --saving --option --profile --runs --data --work --util --arrivals --start --on-failure --html --compressibility --keep-outputs --cores --memory-limit --volume-order --timeout --cache --drop-caches --solo --reference --probe --output --cluster --ssh --hosts --start-with-those-that-come --on --nodes --shared --storage-node --link --on-lost-node --node-timeout --node-runs --remote-python --ssh-config --insecure --tls-ca --tls-cert --tls-key --dry-run --json --fail-on --within --junit --repeat --ab --find-sessions --most-sessions --scaling --smt --warm-up --continue --yes' ;;
    plan) words='-h --help --help-all --sessions --scale --seed --saving --option --data --work --util --start --on-failure --compressibility --keep-outputs --cores --memory-limit --volume-order --timeout --cache --drop-caches --solo --reference --probe --runs --cluster --ssh --hosts --start-with-those-that-come --on --nodes --shared --storage-node --link --on-lost-node --node-timeout --node-runs --remote-python --ssh-config --insecure --tls-ca --tls-cert --tls-key --output --json' ;;
    generate) words='-h --help --sessions --scale --seed --saving --option --data --work --util --volume-order --processes --output --json' ;;
    measure) words='-h --help --data --work --util --sync --cache --json --output' ;;
    probe) words='-h --help --help-all --data --work --util --full --patterns --sizes --streams --depth --engine --curve --seconds --file-size --direct --content --precondition --fill --steady --output --run --runs --from --system --json --fail-on --junit' ;;
    compressibility) words='-h --help --data --work --util --codec --block --storage --confidence --half-width --seed --other-file-systems --json --output' ;;
    lab) words='-h --help' ;;
    'lab up') words='-h --help --arm --images --check' ;;
    'lab run') words='-h --help --arm --workload --scale --images --keep --runs --json' ;;
    'lab report') words='-h --help --runs --json' ;;
    'lab down') words='-h --help' ;;
    report) words='-h --help --format --all --color --job --table --output --runs --fail-on --within --junit' ;;
    steps) words='-h --help --by --most --format --output --runs' ;;
    compare) words='-h --help --reference --candidate --format --output --runs --all --margin --settings --fail-on --junit --anyway' ;;
    history) words='-h --help --format --output --runs --each --fail-on --junit' ;;
    serve) words='-h --help --runs --host --port' ;;
    published) words='-h --help --tables --run --runs --format --json' ;;
    pack) words='-h --help --output --redact --yes --division --statement --sign --runs' ;;
    validate) words='-h --help --signers --json --junit --trusted --runs' ;;
    publish) words='-h --help --output --address --price --prices --trusted' ;;
    size) words='-h --help --sessions --within --probability --measured-on --anyway --catalogue --runs --format --output' ;;
    rank) words='-h --help --price --prices --sessions --format --output' ;;
    simulate) words='-h --help --set --system --measured-on --nodes --sessions --scale --grow --against --seed --output --runs --published --anyway --json' ;;
    placement) words='-h --help --runs --json' ;;
    tune) words='-h --help' ;;
    'tune show') words='-h --help --all --json' ;;
    'tune check') words='-h --help --live --from --data --work --util --storage --runs --profile --json --all' ;;
    'tune compare') words='-h --help --storage --runs --profile --json --all' ;;
    'tune collector') words='-h --help' ;;
    'tune search') words='-h --help --space --dimension --objective --budget --confidence --smallest-gain --seed --continue --write-profile --sessions --scale --cache --cores --memory-limit --data --work --util --volume-order --runs --json --option' ;;
    import) words='-h --help --as --output --runs --timezone --shift --dates --start --interval --node --host --cores --role --array-map --prometheus --prometheus-query --json' ;;
    derive) words='-h --help --output --night --nights --arrivals --scale --growth --only --without --names --library --timezone --shift --dates --core-speed --runs' ;;
    attach) words='-h --help --array-map --runs --json' ;;
    help) words='-h --help' ;;
    doctor) words='-h --help --help-all --sessions --scale --memory-limit --option --start --data --work --util --volume-order --runs --cluster --ssh --hosts --start-with-those-that-come --on --nodes --shared --storage-node --link --on-lost-node --node-timeout --node-runs --remote-python --ssh-config --insecure --tls-ca --tls-cert --tls-key --json' ;;
    collect) words='-h --help --from --runs' ;;
    clean) words='-h --help --data --work --util --runs --node-runs --dry-run --yes' ;;
    completion) words='-h --help' ;;
    schema) words='-h --help' ;;
    esac
}

# Complete the word at the cursor: COMPREPLY holds what it may be.
_mawl() {
    local current=${COMP_WORDS[COMP_CWORD]} word verb='' option='' given=0 only_values='' index
    local words='' place='' several=''
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        if [[ $word == = ]]; then
            continue # --option=value arrives as three words
        elif [[ $word == -- ]]; then
            option='' only_values=1
        elif [[ $word == -* && -z $only_values ]]; then
            option=$word given=0
        elif [[ -n $option ]] && _mawl_values "$verb" "$option" && [[ $given -eq 0 || -n $several ]]; then
            given=1
        else
            option=''
            _mawl_values "$verb" ''
            if [[ -n $verbs_follow && " $words " == *" $word "* ]]; then
                verb="${verb:+$verb }$word"
            fi
        fi
    done
    [[ $current == = ]] && current=''
    if [[ $current == -* && -z $only_values ]]; then
        words='' place=''
        _mawl_options "$verb"
    elif [[ -z $option ]] || ! _mawl_values "$verb" "$option" || [[ $given -eq 1 && -z $several ]]; then
        _mawl_values "$verb" ''
    fi
    local -a found=()
    [[ -n $words ]] && mapfile -t found < <(compgen -W "$words" -- "$current")
    COMPREPLY+=("${found[@]}")
    if [[ -n $place ]]; then
        compopt -o filenames 2>/dev/null
        if [[ $place == directory ]]; then
            mapfile -t found < <(compgen -d -- "$current")
        else
            mapfile -t found < <(compgen -f -- "$current")
        fi
        COMPREPLY+=("${found[@]}")
    fi
}
complete -F _mawl mawl
