# The steps of tests/run and bench/run: each is announced, timed and remembered; a table of them ends the run.
#
# A failed part does not end the run: the parts after it tell more about the failure. The caller asks parts_summary for
# the exit status. An interruption ends the run, also if the part that it met ends in order, with the table so far and
# status 130. Sourced with $root = top of the source tree.

part_names=()
part_results=()
part_seconds=()

# part NAME COMMAND...
part()
{
    local name=$1 start=$SECONDS result=passed
    shift
    printf '\n==== %s\n' "$name"
    "$@" || result=FAILED
    part_names+=("$name")
    part_results+=("$result")
    part_seconds+=($((SECONDS - start)))
    printf -- '---- %s: %s, %d s\n' "$name" "$result" "${part_seconds[-1]}"
    [ "$result" = passed ]
}

# skip_part NAME: a part that had to be left out counts as failed.
skip_part()
{
    part_names+=("$1")
    part_results+=("FAILED (not run)")
    part_seconds+=(0)
}

# parts_summary: the table; status 0 only if every part passed.
parts_summary()
{
    local i failed=0
    printf '\n%-32s %-18s %s\n' part result seconds
    for i in "${!part_names[@]}"; do
        printf '%-32s %-18s %7d\n' "${part_names[i]}" "${part_results[i]}" "${part_seconds[i]}"
        [ "${part_results[i]}" = passed ] || failed=$((failed + 1))
    done
    printf 'parts: %d passed, %d failed\n' $((${#part_names[@]} - failed)) "$failed"
    [ "$failed" -eq 0 ]
}

parts_interrupted()
{
    parts_summary
    echo "${0#"$root"/}: interrupted, the parts above are all that ended" >&2
    exit "$1"
}
trap 'parts_interrupted 130' INT
trap 'parts_interrupted 143' TERM

# configure_and_build PRESET DIRECTORY [OPTION...]: the preset in build/DIRECTORY, with options of cmake --build. It is
# incremental, unless that directory was made in another place and copied here.
configure_and_build()
{
    local preset=$1 build=$root/build/$2
    if [ -f "$build/CMakeCache.txt" ] &&
        ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build"
    fi
    (cd "$root" && cmake --preset "$preset" -B "$build" && cmake --build "$build" "${@:3}")
}
