#!/usr/bin/env bash
# Installs what is missing, builds four times (release; core under ASan and UBSan; jobs and queues under TSan; the readers
# of files with libFuzzer), and runs every test through one ctest. Arguments go to ctest: bash tests/run.sh -R simulator
source "$(dirname "${BASH_SOURCE[0]}")/../resources/setup.sh"

stage() {
    local start=$SECONDS name=$1
    shift
    "$@"
    pw_say "== $name: $((SECONDS - start)) s"
    stages+="$name $((SECONDS - start)) s, "
}
stages=""

stage "packages" pw_install_packages "${pw_test_packages[@]}"
stage "build release" pw_build release
stage "build asan" pw_build asan
stage "build tsan" pw_build tsan
stage "build fuzz" pw_build fuzz

# One ctest over the four trees. The sanitizers' tests carry .asan and .tsan in their names, the fuzz targets' are
# fuzz.<reader>.
all="$pw_root/build/all"
mkdir -p "$all"
printf 'subdirs("%s" "%s" "%s" "%s")\n' "$pw_root"/build/{release,asan,tsan,fuzz} >"$all/CTestTestfile.cmake"
pw_say "Stages: ${stages%, }"
cd "$all"
exec ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
