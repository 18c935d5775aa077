#!/bin/sh
# Builds the addon with a C compiler and Node's headers alone: scripts/build-addon.sh OUT HEADERS. `holdfast build-native` runs it where no
# prebuilt addon fits; HEADERS is the folder that has node_api.h. A clone is built by node-gyp (binding.gyp), which fetches headers.
set -eu

out=${1:?usage: build-addon.sh OUT HEADERS}
headers=${2:?usage: build-addon.sh OUT HEADERS}
cd "$(dirname "$0")/.."
# shellcheck disable=SC2046 # a list of files
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -DNAPI_VERSION=8 -Wall -Wextra -O2 -fPIC -fvisibility=hidden -shared -I"$headers" -o "$out.new" $(cat native/addon.sources)
# In place of an addon that may be loaded just now.
mv -f "$out.new" "$out"
