# What tests/run --kube does: the Go binding against an installed copy of the library, the conformance vectors through its
# driver, the real kube-scheduler on this queue, of the release that $kube_release names, 1.37 or 1.34, and Kubernetes' own tests
# on it. go_tests is what tests/run does of it by default. Sourced with $root = top of the source tree, after cmake/parts.sh.

. "$root/tests/go.sh"

kube_release=1.37
kube_build=$root/build/kube
kube_prefix=$kube_build/installed
. "$root/tests/kube/control_plane.sh"

# kube_need_go: the Go that the release needs.
kube_need_go()
{
    need_go "$([ "$kube_release" = 1.34 ] && echo "$go_needed" || echo 1.26)"
}

kube_install()
{
    configure_and_build release kube --target schedq{,_preemption,_evictor}{,_shared} schedq-conform &&
        rm -rf "$kube_prefix" && cmake --install "$kube_build" --component runtime --prefix "$kube_prefix" &&
        cmake --install "$kube_build" --component development --prefix "$kube_prefix"
}

# in_binding COMMAND..., in_example COMMAND...: a command in bindings/go, or in examples/kube-scheduler, that finds the
# installed copy.
in_binding()
{
    in_module bindings/go "$@"
}

in_example()
{
    local flags=()
    if [ "$kube_release" = 1.34 ]; then
        flags=(-tags=kube134 -modfile=kube-1.34.mod)
    fi
    in_module examples/kube-scheduler env "GOFLAGS=-buildvcs=false ${flags[*]}" "$@"
}

in_module()
{
    (cd "$root/$1" && shift && with_library env GOFLAGS=-buildvcs=false "$@")
}

# with_library COMMAND...: a command that finds the installed copy. Go does not see that an installed header changed, and would
# take what it compiled with the one before: so the headers' sum is among the flags.
with_library()
{
    local sum
    sum=$(cat "$kube_prefix"/include/schedq/*.h | cksum)
    env GOTOOLCHAIN=local GODEBUG=cgocheck=1 LD_LIBRARY_PATH="$kube_prefix/lib" \
        CGO_CFLAGS="-O2 -g -DSCHEDQ_HEADERS=${sum%% *}" PKG_CONFIG_PATH="$kube_prefix/lib/pkgconfig" "$@"
}

# go_format MODULE: succeeds if gofmt would change nothing.
go_format()
{
    local changed
    changed=$(in_module "$1" gofmt -l .) && [ -z "$changed" ] && return
    echo "gofmt would change: $changed" >&2
    return 1
}

# conform_by_driver ENGINE SCHEDQ-CONFORM
conform_by_driver()
{
    (cd "$root/tests/conformance" && LD_LIBRARY_PATH=$kube_prefix/lib \
        "$2" --engine "$1" --driver "$kube_build/bin/schedq-driver" kube-*/*.txt) |
        tail -n 3
    [ "${PIPESTATUS[0]}" -eq 0 ]
}

# go_examples: each prints what it should.
go_examples()
{
    local name
    for name in first batch; do
        in_binding go run "./examples/$name" | diff -u "$root/bindings/go/examples/$name/$name.expected" - || return
    done
}

# go_tests PREFIX SCHEDQ-CONFORM: the binding's tests, and the conformance vectors through its driver, against a copy that is
# installed there; nothing where there is no Go.
go_tests()
{
    local kube_prefix=$1 engine
    if ! find_go; then
        echo "left out: the Go binding is not tested"
        return
    fi
    go_format bindings/go && in_binding go vet ./... && in_binding go test -count=1 ./... && go_examples &&
        in_binding go build -o "$kube_build/bin/schedq-driver" ./cmd/schedq-driver || return
    for engine in mutex lockfree; do
        conform_by_driver "$engine" "$2" || return
    done
}

kube_parts()
{
    local engine
    part "Go" kube_need_go
    part "library, installed" kube_install || return
    part "gofmt" go_format bindings/go
    part "go vet" in_binding go vet ./...
    part "go test" in_binding go test -count=1 ./...
    part "go examples" go_examples
    part "go test -race" in_binding go test -count=1 -race ./...
    part "schedq-driver" in_binding go build -o "$kube_build/bin/schedq-driver" ./cmd/schedq-driver || return
    for engine in mutex lockfree; do
        part "conformance by Go, $engine" conform_by_driver "$engine" "$kube_build/bin/schedq-conform"
    done
    kube_scheduler_parts
    control_plane_process_parts && control_plane_test_parts
}

# kube_bench PROGRAM OPTION...: kube-bench with the log of the scheduler kept away.
kube_bench()
{
    GODEBUG=cgocheck=1 LD_LIBRARY_PATH=$kube_prefix/lib "$kube_build/bin/$1" "${@:2}"
}

# kube_scheduler_parts: the first time the module's 600 MB are fetched, and everything is compiled twice.
kube_scheduler_parts()
{
    part "kube: gofmt" go_format examples/kube-scheduler
    part "kube: go vet" in_example go vet ./...
    part "kube: go test" in_example go test -count=1 ./...
    part "kube: go test -race" in_example go test -count=1 -race ./...
    part "kube-scheduler $kube_release" in_example go build -o "$kube_build/bin/kube-scheduler" ./cmd/kube-scheduler
    part "kube-bench" in_example go build -o "$kube_build/bin/kube-bench" ./cmd/kube-bench || return
    part "kube-bench -race" in_example go build -race -o "$kube_build/bin/kube-bench-race" ./cmd/kube-bench || return
    part "mixed" kube_bench kube-bench --scenario mixed
    part "mixed, race detector" kube_bench kube-bench-race --scenario mixed --queues lockfree,mutex
    part "random" kube_bench kube-bench --scenario random
    part "random, with classes" kube_bench kube-bench --scenario random --queues original,classes
    if [ "$kube_release" != 1.34 ]; then
        part "gang" kube_bench kube-bench --scenario gang
        part "gang, race detector" kube_bench kube-bench-race --scenario gang --queues lockfree,mutex
        part "mixed, with groups" kube_bench kube-bench --scenario mixed --feature-gates GenericWorkload=true
        part "random, with groups" kube_bench kube-bench --scenario random --feature-gates GenericWorkload=true
        part "throughput of gangs" kube_bench kube-bench --scenario gangthroughput --pairs 3 --parked 0,1000 --patience 10s
    fi
    part "throughput" kube_bench kube-bench --scenario throughput
    part "storm" kube_bench kube-bench --scenario storm
    part "starvation" kube_bench kube-bench --scenario starvation --pairs 1
}
