# Debian packages that tests/run and bench/run need. Sourced by both; sets nothing but the names below.
#
# Only what is missing is installed, so that a machine that has everything is never asked for root, nor for a network.

build_packages=(gcc g++ libc6-dev cmake ninja-build pkgconf
    libck-dev libjemalloc-dev libbenchmark-dev libcmocka-dev libjansson-dev zlib1g-dev)
# What makes the page of bench/run and of schedq-replay --report.
page_packages=(python3 gnuplot-nox)
# bench/run: what schedq-bench compares the queue with, if it is there, and the page.
bench_packages=(libtbb-dev libconcurrentqueue-dev "${page_packages[@]}")
# bench/report/picture
picture_packages=(chromium-headless-shell imagemagick)
# tools/top/picture
top_picture_packages=(tmux aha "${picture_packages[@]}")
# bindings/python: what its package is built with.
python_packages=(python3-dev python3-cffi python3-setuptools python3-wheel)
# tests/run: the other compiler with its ThreadSanitizer, the layout of sources, the model checker, nm, what tests/tidy is
# written in, what counts instructions, the examples with libuv and libmicrohttpd, schedq-top, what makes pages of the headers, what compares ABIs, what
# checks the types of Python, probes and a debugger that stops at them.
check_packages=(clang clang-format libclang-rt-14-dev spin tcc binutils valgrind libuv1-dev libmicrohttpd-dev libncurses-dev systemtap-sdt-dev gdb doxygen abigail-tools mypy "${page_packages[@]}"
    "${python_packages[@]}")
# tests/run --kube: what makes Kubernetes' sources ours, compares, makes the API server's key, and asks it.
kube_packages=(patch python3 openssl)
# The preset packages, and tests/packages/build, which asks lintian.
deb_packages=(doxygen help2man dpkg-dev file lintian systemtap-sdt-dev libncurses-dev "${python_packages[@]}")
# tests/run --packages
fresh_packages=(debootstrap)
# tests/run --long
long_packages=(gcovr)

# missing_packages PACKAGE...: prints those that are not installed.
missing_packages()
{
    local package
    for package in "$@"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            echo "$package"
        fi
    done
}

# need_packages PACKAGE...: installs what is missing. Ends the script with status 3 if that cannot be done.
need_packages()
{
    local missing as_root=()
    mapfile -t missing < <(missing_packages "$@")
    if [ ${#missing[@]} -eq 0 ]; then
        return 0
    fi
    echo "Debian packages to install: ${missing[*]}"
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo -n)
    fi
    if ! command -v apt-get >/dev/null || { [ ${#as_root[@]} -gt 0 ] && ! sudo -n true 2>/dev/null; }; then
        echo "Cannot install packages here: that needs apt-get, and root or sudo without a password." >&2
        echo "Missing: ${missing[*]}" >&2
        echo "As root: apt-get install --no-install-recommends ${missing[*]}" >&2
        exit 3
    fi
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300)
    if ! { "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"; }; then
        echo "apt-get failed. Missing: $(missing_packages "$@" | tr '\n' ' ')" >&2
        exit 3
    fi
}
