# Go for tests/run. Sourced by tests/kube.sh.

go_needed="1.24"
# What is fetched where there is none: a Go module, that of https://go.dev/ref/mod#toolchain, and the SHA-256 of its zip by machine.
go_fetched=1.26.8
declare -A go_platforms=([x86_64]=linux-amd64 [aarch64]=linux-arm64)
declare -A go_sums=(
    [x86_64]=30c2b1bf7dcc88d3eb0a1364e47ddd9128edb3110a30e8a0ef61cd5856b31de7
    [aarch64]=02b36b6787b3ac767668f630e2998df45a3b1f9ffee08d1bf3ef6487cd658d99
)

# find_go [VERSION]: puts Go into PATH, and says which one it is; or what is missing, and fails.
find_go()
{
    local version go_needed=${1:-$go_needed} folder
    for folder in "$root/build/go/bin" /usr/local/go/bin; do
        if ! command -v go >/dev/null && [ -x "$folder/go" ]; then
            PATH=$folder:$PATH
        fi
    done
    if ! command -v go >/dev/null; then
        echo "Go >= $go_needed is needed, and there is no \"go\" in PATH nor in /usr/local/go/bin. Get it from https://go.dev/dl/" >&2
        return 1
    fi
    version=$(GOTOOLCHAIN=local go env GOVERSION)
    if [ "$(printf '%s\n' "go$go_needed" "$version" | sort -V | head -n 1)" != "go$go_needed" ]; then
        echo "Go >= $go_needed is needed; $(command -v go) is $version. Get one from https://go.dev/dl/" >&2
        return 1
    fi
    echo "$(command -v go): $version"
}

# fetch_go: Go in build/go, 70 MB, from Go's module proxy: Debian 12 has an older one.
fetch_go()
{
    local machine zip=$root/build/go.zip
    machine=$(uname -m)
    if [ -z "${go_sums[$machine]:-}" ]; then
        echo "no Go is fetched for \"$machine\": known are ${!go_sums[*]}" >&2
        return 1
    fi
    need_packages ca-certificates curl unzip
    mkdir -p "$root/build" && rm -rf "$root/build/go" "$root/build/golang.org" &&
        curl -fsSL --retry 3 -o "$zip" \
            "https://proxy.golang.org/golang.org/toolchain/@v/v0.0.1-go$go_fetched.${go_platforms[$machine]}.zip" &&
        sha256sum --quiet -c - <<<"${go_sums[$machine]}  $zip" && unzip -q -d "$root/build" "$zip" &&
        mv "$root"/build/golang.org/toolchain@* "$root/build/go" && rm -r "$root/build/golang.org" "$zip"
}

# need_go [VERSION]: finds Go, and fetches it where there is none; or ends the script with status 3.
need_go()
{
    if ! command -v go >/dev/null && [ ! -x /usr/local/go/bin/go ] && [ ! -x "$root/build/go/bin/go" ]; then
        fetch_go || exit 3
    fi
    find_go "$@" || exit 3
}
