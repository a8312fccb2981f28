#!/usr/bin/env bash
# Installs what is missing, builds, and starts Placewright. Without a display: the headless demo instead.
# Arguments go to the program: bash app/run.sh model.onnx
source "$(dirname "${BASH_SOURCE[0]}")/../resources/setup.sh"

pw_install_packages
pw_build release placewright placewright-cli placewright_learn
bin="$pw_root/build/release/bin"

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    exec "$bin/placewright" "$@"
fi
pw_say "No display here, so the headless demo runs instead of the window. The window: $bin/placewright"
exec "$bin/placewright-cli" demo --out "$pw_root/build/demo" "$@"
