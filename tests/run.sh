#!/usr/bin/env bash
# Installs what is missing, builds three times (release; core under ASan and UBSan; jobs and queues under TSan), and runs
# every test through one ctest. Arguments go to ctest: bash tests/run.sh -R simulator
source "$(dirname "${BASH_SOURCE[0]}")/../resources/setup.sh"

stage() {
    local start=$SECONDS name=$1
    shift
    "$@"
    pw_say "== $name: $((SECONDS - start)) s"
    stages+="$name $((SECONDS - start)) s, "
}
stages=""

stage "packages" pw_install_packages
stage "build release" pw_build release
stage "build asan" pw_build asan
stage "build tsan" pw_build tsan

# One ctest over the three trees. The sanitizers' tests carry .asan and .tsan in their names.
all="$pw_root/build/all"
mkdir -p "$all"
printf 'subdirs("%s" "%s" "%s")\n' "$pw_root/build/release" "$pw_root/build/asan" "$pw_root/build/tsan" \
    >"$all/CTestTestfile.cmake"
pw_say "Stages: ${stages%, }"
cd "$all"
exec ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
