# The steps of tests/run and bench/run: each is announced, timed and remembered. A table of them ends the run, and what the
# failed ones said: so the last lines of a log tell what failed.
#
# A failed part does not end the run: the parts after it tell more about the failure. Parts that keep one processor busy run
# beside each other (beside, parts_join). The caller asks parts_summary for the exit status. An interruption ends the run,
# also if the part that it met ends in order, with the table so far and status 130. Sourced with $root = top of the source
# tree.

part_names=()
part_results=()
part_seconds=()
part_cpu=()   # of processors
part_lines=40 # of what a failed test said, or a failed part, are said again
part_tests=4  # failed ones of a part that say it again; all are named
part_pipe=    # what the part says goes there
part_reader=  # and from there to the log, and on
part_beside=()       # names of the parts that run beside this shell, by their process
declare -A part_began part_log # when, and what they say, by their process
part_logs=$(mktemp -d) || exit 1
trap 'rm -rf "$part_logs"' EXIT
exec {parts_out}>&1 {parts_errors}>&2

# part_heard: all that the part said is written.
part_heard()
{
    if [ -n "$part_pipe" ]; then
        exec {part_pipe}>&-
        part_pipe=
        wait "$part_reader"
    fi
}

# part_processor FILE: prints the seconds of processor time that bash's `times` wrote there, "1m2.345s" four times, in all.
part_processor()
{
    sed 's/[ms]/ /g' "$1" 2>/dev/null | awk '{ sum += 60 * $1 + $2 + 60 * $3 + $4 } END { printf "%.0f", sum }'
}

# part NAME COMMAND...: the command runs in this shell: it may set variables, and end the run.
part()
{
    local name=$1 start=$SECONDS result=passed
    shift
    times >"$part_logs/times.before"
    printf '\n==== %s\n' "$name"
    exec {part_pipe}> >(trap '' INT TERM && exec tee "$part_logs/${#part_names[@]}")
    part_reader=$!
    "$@" >&"$part_pipe" 2>&1 || result=FAILED
    part_heard
    times >"$part_logs/times.after"
    part_names+=("$name")
    part_results+=("$result")
    part_seconds+=($((SECONDS - start)))
    part_cpu+=($(($(part_processor "$part_logs/times.after") - $(part_processor "$part_logs/times.before"))))
    printf -- '---- %s: %s, %d s\n' "$name" "$result" "${part_seconds[-1]}"
    [ "$result" = passed ]
}

# beside NAME COMMAND...: as part, in a shell of its own, and returns at once; as many run at a time as there are processors.
# What it says comes in one piece when it ends.
beside()
{
    local process log
    while [ ${#part_beside[@]} -ge "$(nproc)" ]; do
        part_ended
    done
    log=$(mktemp -p "$part_logs") || exit 1
    set -m # a process group of its own, which parts_interrupted ends
    (
        "${@:2}"
        result=$?
        times >"$part_logs/times.$BASHPID"
        exit $result
    ) >"$log" 2>&1 </dev/null &
    set +m
    process=$!
    part_beside[process]=$1
    part_log[$process]=$log
    part_began[$process]=$SECONDS
}

# part_ended: waits until one of the parts that run beside this shell ends, and prints what that said.
part_ended()
{
    local process result=passed
    wait -n -p process "${!part_beside[@]}" || result=FAILED
    printf '\n==== %s\n' "${part_beside[process]}"
    mv "${part_log[$process]}" "$part_logs/${#part_names[@]}"
    cat "$part_logs/${#part_names[@]}"
    part_names+=("${part_beside[process]}")
    part_results+=("$result")
    part_seconds+=($((SECONDS - part_began[$process])))
    part_cpu+=("$(part_processor "$part_logs/times.$process")")
    printf -- '---- %s: %s, %d s\n' "${part_names[-1]}" "$result" "${part_seconds[-1]}"
    unset "part_beside[process]"
}

# parts_join: waits for all parts that run beside this shell.
parts_join()
{
    while [ ${#part_beside[@]} -gt 0 ]; do
        part_ended
    done
}

# skip_part NAME: a part that had to be left out counts as failed.
skip_part()
{
    part_names+=("$1")
    part_results+=("FAILED (not run)")
    part_seconds+=(0)
    part_cpu+=(0)
}

# part_failed_tests LOG: their names, one a line, as ctest says them, "12/439 Test #393: NAME ....***Failed", or Go, or Python.
part_failed_tests()
{
    sed -nE -e 's/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: (\S+) .*\*\*\*.*/\1/p' -e 's/^ *--- FAIL: (\S+) .*/\1/p' \
        -e 's/^(FAIL|ERROR): (\S+ \(.*\))$/\2/p' "$1"
}

# part_said LOG TEST: what ctest showed of a failed test, from its verdict to the next test.
part_said()
{
    awk -v test="$2" '
        /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { said = index($0, ": " test " ") && /\*\*\*/ }
        /^ +Start +[0-9]+: / || /^[0-9]+% tests passed/ { said = 0 }
        said' "$1" | tail -n "$part_lines"
}

# part_says_again NUMBER: of a failed part, what its failed tests said; of one without, its last lines.
part_says_again()
{
    local log=$part_logs/$1 test tests
    mapfile -t tests < <(part_failed_tests "$log")
    printf '\n==== %s: %s\n' "${part_names[$1]}" "${part_results[$1]}"
    if [ ${#tests[@]} -eq 0 ] || [ -z "$(part_said "$log" "${tests[0]}")" ]; then
        tail -n "$part_lines" "$log"
        return
    fi
    for test in "${tests[@]:0:part_tests}"; do
        printf -- '---- %s: %s\n' "${part_names[$1]}" "$test"
        part_said "$log" "$test"
    done
}

# parts_summary: the table, and what failed parts said; status 0 only if every part passed.
parts_summary()
{
    local i failed=0
    printf '\n%-32s %-18s %7s %7s\n' part result seconds CPU
    for i in "${!part_names[@]}"; do
        printf '%-32s %-18s %7d %7d\n' "${part_names[i]}" "${part_results[i]}" "${part_seconds[i]}" "${part_cpu[i]}"
        [ "${part_results[i]}" = passed ] || failed=$((failed + 1))
    done
    printf 'parts: %d passed, %d failed\n' $((${#part_names[@]} - failed)) "$failed"
    for i in "${!part_names[@]}"; do
        [ "${part_results[i]}" != FAILED ] || part_says_again "$i"
    done
    [ "$failed" -eq 0 ] || echo
    for i in "${!part_names[@]}"; do
        [ "${part_results[i]}" = passed ] ||
            echo "${part_names[i]}: ${part_results[i]}" $(part_failed_tests "$part_logs/$i" 2>/dev/null)
    done
    [ "$failed" -eq 0 ]
}

# Also when a function was the command, which still has the part's output.
parts_interrupted()
{
    local process look
    for process in "${!part_beside[@]}"; do
        kill -TERM -- "-$process"
        wait "$process"
        # And for what it had started, which ends by itself or takes too long.
        for ((look = 0; look < 500; look++)); do
            kill -0 -- "-$process" 2>/dev/null || break
            sleep 0.02
        done
    done
    exec >&"$parts_out" 2>&"$parts_errors"
    part_heard
    parts_summary
    echo "${0#"$root"/}: interrupted, the parts above are all that ended" >&2
    exit "$1"
}
trap 'parts_interrupted 130' INT
trap 'parts_interrupted 143' TERM

# configure_and_build PRESET DIRECTORY [OPTION...]: the preset in build/DIRECTORY, with options of cmake --build, and with
# what configure_options has for cmake itself. It is incremental, unless that directory was made in another place and
# copied here.
configure_options=()
configure_and_build()
{
    local preset=$1 build=$root/build/$2
    if [ -f "$build/CMakeCache.txt" ] &&
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build"
    fi
    (cd "$root" && cmake --preset "$preset" -B "$build" "${configure_options[@]}" && cmake --build "$build" "${@:3}")
}
