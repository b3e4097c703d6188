# Kubernetes' own integration tests, with a real etcd and a real kube-apiserver, on the queue of kube-scheduler and on this one
# (docs/KUBE.md). Sourced with $root = top of the source tree, by tests/kube.sh.
#
# No source of Kubernetes is kept here, except the lines that tests/kube/kubernetes.patch quotes. The sources are those of the Go module
# k8s.io/kubernetes. It has the tests, but not the modules of staging/: these are taken at the versions that were published with it.
# etcd is compiled at the version that Kubernetes' go.mod names.

# The sums of the sources, as go.sum files state them.
declare -A kubernetes_versions=([1.37]=1.37.2 [1.34]=1.34.1)
declare -A kubernetes_sums=(
    [1.37.2]=h1:A2VDEiObzkYqFTKhSsn0ZEb0RlLEXpHWj93gi2HqEwE=
    [1.34.1]=h1:F3p8dtpv+i8zQoebZeK5zBqM1g9x1aIdnA5vthvcuUk=
)

# kubernetes_version: of the release that $kube_release names.
kubernetes_version()
{
    echo "${kubernetes_versions[$kube_release]}"
}

# control_plane: the directory where all of that release is made.
control_plane()
{
    echo "$kube_build/kubernetes-$(kubernetes_version)"
}

# in_kubernetes COMMAND...: in the patched sources, as their go.mod and this module's say.
in_kubernetes()
{
    (cd "$(control_plane)/source" &&
        with_library env GOWORK=off "GOFLAGS=-buildvcs=false -mod=mod -modfile=$(control_plane)/go.mod" "$@")
}

# kubernetes_source: the patched sources, made again if the patch has changed.
kubernetes_source()
{
    local version made said sum patched
    version=$(kubernetes_version) made=$(control_plane) patched=$(cksum <"$root/tests/kube/kubernetes.patch")
    mkdir -p "$made" && said=$(cd "$made" && GOTOOLCHAIN=local GOWORK=off GOFLAGS= go mod download -json "k8s.io/kubernetes@v$version") || {
        echo "$said" >&2
        return 1
    }
    sum=$(sed -nE 's/^\t"Sum": "(.*)",?$/\1/p' <<<"$said")
    echo "k8s.io/kubernetes v$version $sum"
    if [ "$sum" != "${kubernetes_sums[$version]}" ]; then
        echo "the sum of k8s.io/kubernetes v$version is \"$sum\": it must be ${kubernetes_sums[$version]}" >&2
        return 1
    fi
    if [ "$(cat "$made/patched" 2>/dev/null)" != "$patched" ]; then
        rm -rf "$made/source" "$made/patched" &&
            cp -r "$(sed -nE 's/^\t"Dir": "(.*)",?$/\1/p' <<<"$said")" "$made/source" && chmod -R u+w "$made/source" &&
            patch -p1 -F0 -d "$made/source" <"$root/tests/kube/kubernetes.patch" && echo "$patched" >"$made/patched"
    fi
}

# kubernetes_module: makes the go.mod that Kubernetes is built with. The queue's module is copied: go.mod cannot say which of the two
# go.mod files of a module that replaces another one counts.
kubernetes_module()
{
    local made module
    made=$(control_plane) module=$(control_plane)/module
    rm -rf "$module" && mkdir "$module" &&
        cp -r "$root"/examples/kube-scheduler/{internal,kubequeue,kubetest} "$module" || return
    if [ "$kube_release" = 1.34 ]; then
        cp "$root/examples/kube-scheduler/kube-1.34.mod" "$module/go.mod"
    else
        # kubeshard is left out, and what it needs.
        grep -v schedq/cluster "$root/examples/kube-scheduler/go.mod" >"$module/go.mod"
    fi || return
    {
        sed -E "s#=> \./staging/src/k8s.io/([a-z-]+)\$#=> k8s.io/\1 v0.$(kubernetes_version | cut -d. -f2-)#" "$made/source/go.mod"
        printf 'require schedq v0.0.0\nreplace schedq => %s\n' "$root/bindings/go"
        printf 'require schedq/examples/kube-scheduler v0.0.0\nreplace schedq/examples/kube-scheduler => %s\n' "$module"
    } >"$made/go.mod"
    [ -f "$made/go.sum" ] || cp "$made/source/go.sum" "$made/go.sum"
}

control_plane_source()
{
    kubernetes_source && kubernetes_module
}

control_plane_etcd()
{
    in_kubernetes go build -o "$(control_plane)/bin/etcd" go.etcd.io/etcd/server/v3 && "$(control_plane)/bin/etcd" --version | head -n 1
}

control_plane_apiserver()
{
    in_kubernetes go build -ldflags '-s -w' -o "$(control_plane)/bin/kube-apiserver" ./cmd/kube-apiserver
}

# kubernetes_tests PACKAGE: the program of the tests of a package of test/integration. Without vet, which would read all of
# Kubernetes.
kubernetes_tests()
{
    local tags=()
    if [ "$kube_release" = 1.34 ]; then
        tags=(-tags kube134)
    fi
    in_kubernetes go test -c -vet=off -ldflags '-s -w' "${tags[@]}" -o "$(control_plane)/bin/${1//\//-}.test" \
        "./test/integration/$1"
}

# control_plane_packages: those of test/integration that have to do with the queue.
control_plane_packages()
{
    local packages=(bind eventhandler extender filters nominated_node_name plugins preemption preemption/nominatednodename queueing
        scoring serving taint)
    local workloads=(affinity event_handling misc topology_spreading volumes dra dra/consumablecapacity dra/devicetaints
        dra/extendedresource dra/partitionabledevices dra/prioritizedlist)
    if [ "$kube_release" = 1.34 ]; then
        packages+=(queueing/former queueing/queueinghint)
    else
        packages+=(batch podgroup podgroup/queueing podgroup/topology_aware_scheduling preemption/misc preemption/podgroup
            prequeueinghint)
        workloads+=(batching default_preemption nodedeclaredfeatures starvation dra/compatibilitygroups dra/extendedresource/scoring
            dra/listattributes dra/workloadresourceclaims podgroup/basicscheduling podgroup/gangscheduling podgroup/tas
            workload_preemption)
    fi
    printf '%s\n' scheduler "${packages[@]/#/scheduler/}" "${workloads[@]/#/scheduler_perf/}"
}

# control_plane_scratch: a directory in memory where there is room: on a crowded disk etcd makes the API server slow, and it gives up.
control_plane_scratch()
{
    local scratch
    scratch=$(control_plane)/scratch
    if [ -w /dev/shm ] && [ "$(df --output=avail -k /dev/shm | tail -n 1)" -gt 2000000 ]; then
        scratch=$(mktemp -d /dev/shm/schedq-kubernetes.XXXXXX) || return
    fi
    mkdir -p "$scratch" && echo "$scratch"
}

# kubernetes_compared PACKAGE [OPTION...]: its tests with both queues; options of tests/kube/compare.
kubernetes_compared()
{
    local made scratch status
    made=$(control_plane)
    kubernetes_tests "$1" && scratch=$(control_plane_scratch) || return
    TMPDIR=$scratch PATH=$made/bin:$PATH with_library "$root/tests/kube/compare" --release "$kube_release" --package "$1" \
        --program "$made/bin/${1//\//-}.test" --directory "$made/source/test/integration/$1" --logs "$made/logs" \
        --left-out "$root/tests/kube/left-out.txt" "${@:2}"
    status=$?
    rm -rf "$scratch"
    return "$status"
}

# kubernetes_perf [OPTION...]: workloads of scheduler_perf with both queues; options of tests/kube/perf.
kubernetes_perf()
{
    local made scratch status topic
    made=$(control_plane)
    for topic in $("$root/tests/kube/perf" --topics "$@"); do
        kubernetes_tests "scheduler_perf/$topic" || return
    done
    scratch=$(control_plane_scratch) || return
    TMPDIR=$scratch PATH=$made/bin:$PATH with_library "$root/tests/kube/perf" --bin "$made/bin" --source "$made/source" \
        --logs "$made/logs/perf" "$@"
    status=$?
    rm -rf "$scratch"
    return "$status"
}

# kube_scheduler_process: the program against an API server. Its log is kept.
kube_scheduler_process()
{
    with_library "$root/tests/kube/process" --bin "$(control_plane)/bin" --scheduler "$kube_build/bin/kube-scheduler" \
        --logs "$(control_plane)/logs/process"
}

# kube_schedulers_sharded [OPTION...]: two of it, active at once; options of tests/kube/shards.
kube_schedulers_sharded()
{
    with_library "$root/tests/kube/shards" --bin "$(control_plane)/bin" --scheduler "$kube_build/bin/kube-scheduler" \
        --logs "$(control_plane)/logs/shards" "$@"
}

# control_plane_process_parts: after kube-scheduler was built. Release 1.34 cannot share its pods.
control_plane_process_parts()
{
    part "kubernetes: source" control_plane_source || return
    part "etcd" control_plane_etcd || return
    part "kube-apiserver" control_plane_apiserver || return
    part "kube-scheduler, a process" kube_scheduler_process
    [ "$kube_release" = 1.34 ] || part "kube-schedulers, sharded" kube_schedulers_sharded --pods 3000
}

# control_plane_sharded_parts [OPTION...]: all that tests/kube/shards needs, and it.
control_plane_sharded_parts()
{
    part "kube-scheduler $kube_release" in_example go build -o "$kube_build/bin/kube-scheduler" ./cmd/kube-scheduler || return
    part "kubernetes: source" control_plane_source || return
    part "etcd" control_plane_etcd || return
    part "kube-apiserver" control_plane_apiserver || return
    part "kube-schedulers, sharded" kube_schedulers_sharded "$@"
}

# control_plane_perf_parts [OPTION...]: all that tests/kube/perf needs, and it.
control_plane_perf_parts()
{
    part "kubernetes: source" control_plane_source || return
    part "etcd" control_plane_etcd || return
    part "compare, perf, shards: their test" "$root/tests/kube/self_test"
    part "scheduler_perf" kubernetes_perf "$@"
}

# control_plane_test_parts [PACKAGE...]: those, or all.
control_plane_test_parts()
{
    local package packages
    part "compare, perf, shards: their test" "$root/tests/kube/self_test"
    part "kubernetes: source" control_plane_source || return
    part "etcd" control_plane_etcd || return
    mapfile -t packages < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else control_plane_packages; fi)
    for package in "${packages[@]}"; do
        part "$package" kubernetes_compared "$package"
    done
}
