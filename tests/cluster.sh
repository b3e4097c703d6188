# What tests/run --cluster does: the module cluster/ against an installed copy of the library; the simulation; real processes on real etcd
# members, of the Go module and of Debian; figures. Sourced with $root = top of the source tree, after tests/kube.sh.

cluster_build=$root/build/cluster

in_cluster()
{
    in_module cluster "$@"
}

# debian_etcd: Debian's etcd in build/cluster, without installing it: the package would start a server.
debian_etcd()
{
    local package
    mkdir -p "$cluster_build/debian" || return
    if [ ! -x "$cluster_build/debian/usr/bin/etcd" ]; then
        (cd "$cluster_build/debian" && apt-get -q download etcd-server) || return
        for package in "$cluster_build"/debian/etcd-server_*.deb; do
            dpkg-deb -x "$package" "$cluster_build/debian" || return
        done
    fi
    "$cluster_build/debian/usr/bin/etcd" --version | head -n 1
}

# with_debian_etcd COMMAND...
with_debian_etcd()
{
    SCHEDQ_ETCD=$cluster_build/debian/usr/bin/etcd in_cluster "$@"
}

# What a user types first: the program answers, refuses what is wrong, and runs on an etcd of its own.
cluster_program()
{
    local program=$cluster_build/bin/schedq-shard
    (
        export LD_LIBRARY_PATH=$kube_prefix/lib
        "$program" --version && "$program" --help >/dev/null || exit 1
        "$program" nothing 2>/dev/null
        [ $? -eq 2 ]
    ) && in_cluster go test -count=1 -run 'TestOneCommand' -v ./e2e
}

# The package stands before a flag of the test's own: what follows such a flag is the test's, so go would look for a package here.
cluster_parts()
{
    part "Go" need_go
    part "library, installed" kube_install || return
    part "gofmt" go_format cluster
    part "go vet" in_cluster go vet ./...
    part "schedq-shard" in_cluster go build -o "$cluster_build/bin/schedq-shard" ./cmd/schedq-shard || return
    part "one command" cluster_program
    part "unit tests" in_cluster go test -count=1 -p 1 ./shard ./record ./queue ./store/... ./owner ./member ./serve
    part "simulation, planted defects" in_cluster go test -count=1 -timeout 20m -run Planted -v ./sim
    part "simulation, 5,000 rounds" in_cluster go test ./sim -count=1 -timeout 20m -run Nothing -rounds 5000 -v
    part "simulation, race detector" in_cluster go test ./sim -count=1 -race -timeout 20m -run Nothing -rounds 100
    part "real processes" in_cluster go test ./e2e -count=1 -timeout 20m -run TestReal -seconds 60 -v
    part "real processes, race detector" in_cluster go test ./e2e -count=1 -race -timeout 20m -run TestReal -seconds 30 -v
    if part "etcd of Debian" debian_etcd; then
        part "real processes, Debian's etcd" with_debian_etcd go test ./e2e -count=1 -timeout 20m -run TestReal -seconds 30 -v
        part "store, Debian's etcd" with_debian_etcd go test -count=1 ./store/etcd
    else
        skip_part "real processes, Debian's etcd"
    fi
    part "figures" in_cluster go test ./e2e -count=1 -timeout 20m -run Figures -figures all -v
}
