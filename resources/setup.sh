# Sourced by app/run.sh and tests/run.sh: what both need before they can build. Debian 12.
#
#   pw_install_packages [PACKAGE...]   installs from apt what is missing of pw_packages and these (as root, or by sudo)
#   pw_build PRESET [TARGET...]        configures once, then builds incrementally

set -euo pipefail

export LC_ALL=C.UTF-8
pw_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Another clone, or the same one moved, then compiles from the cache as well.
export CCACHE_BASEDIR="$pw_root" CCACHE_NOHASHDIR=1

# libopenblas0-pthread: without it LibTorch uses the reference BLAS, 10 to 40 times slower.
# qt6-qpa-plugins is only recommended by Qt's packages, but there is no window without it.
# fonts-dejavu-core: a bare machine has no font at all.
pw_packages=(
    g++ cmake ninja-build pkg-config ccache python3
    qt6-base-dev qt6-svg-dev qt6-qpa-plugins libqcustomplot-dev libgl-dev
    libtorch-dev libopenblas0-pthread
    libgraphviz-dev libsqlite3-dev libmetis-dev libprotobuf-dev protobuf-compiler libonnx-dev
    nlohmann-json3-dev libcli11-dev libfmt-dev libexpected-dev
    fonts-dejavu-core
)
# Fuzzing takes clang, whose libFuzzer gcc does not have.
pw_test_packages=(clang-14 libclang-rt-14-dev)

pw_say() { printf '%s\n' "$*" >&2; }

pw_install_packages() {
    local missing=() package
    for package in "${pw_packages[@]}" "$@"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)" != installed ]; then
            missing+=("$package")
        fi
    done
    [ ${#missing[@]} -eq 0 ] && return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            pw_say "These packages are missing, and there is neither root nor sudo to install them:"
            pw_say "  apt-get install ${missing[*]}"
            return 1
        fi
        as_root=(sudo)
    fi
    pw_say "Installing ${#missing[@]} packages from apt: ${missing[*]}"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
}

# A file that includes LibTorch takes over 1 GB to compile: no more jobs than the memory carries.
pw_jobs() {
    local cores memory_gb
    cores=$(nproc)
    memory_gb=$(awk '/MemAvailable/ { print int($2 / 1000000) }' /proc/meminfo)
    local by_memory=$((memory_gb * 2 / 3))
    [ "$by_memory" -lt 1 ] && by_memory=1
    echo $((cores < by_memory ? cores : by_memory))
}

pw_build() {
    local preset=$1
    shift
    local log="$pw_root/build/$preset-configure.log"
    mkdir -p "$pw_root/build"
    if ! (cd "$pw_root" && cmake --preset "$preset" >"$log" 2>&1); then
        cat "$log" >&2
        return 1
    fi
    (cd "$pw_root" && cmake --build --preset "$preset" -j "$(pw_jobs)" ${1:+--target "$@"}) >&2
}
