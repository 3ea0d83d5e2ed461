#!/usr/bin/env bash
# From a clean clone to an answer, on a machine where only git is sure to be there.
# A second run does nothing twice: no package call, no configuring, no compiling.
set -eu

usage() {
  cat <<'HELP'
usage: cmake/bootstrap.sh demo | test | check | proof [--short] [NAME...]

  demo   installs what is missing, builds build/release/bin/mfu, and diagnoses each example
  test   installs what is missing, builds with sanitizers in build/dev, and runs all tests
  check  what a change is held to beside the tests: form, include lines, each header alone, clang-tidy
  proof  what is long or heavy (tests/proof/list.txt), all of it or by name, at length or --short

Packages come from the distribution (Debian 12, Ubuntu 22.04 and later), as root or with sudo.
Otherwise the missing packages are printed, and nothing is changed: exit code 2.

environment
  CXX        compiler to use (g++ 12 or later, clang 14 or later)
  MFU_JOBS   compile jobs at once (default: processors, but 1.5 GB of memory each)
HELP
}

say() { printf 'bootstrap: %s\n' "$*" >&2; }
fail() { say "$*"; exit 2; }
have() { command -v "$1" >/dev/null 2>&1; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
packages=$root/cmake/packages

# -- what is there, what is missing ------------------------------------------------------------

# The first compiler that is new enough; nothing when there is none.
find_compiler() {
  local name version
  if [ -n "${CXX:-}" ]; then
    echo "$CXX"
    return
  fi
  for name in c++ g++ g++-15 g++-14 g++-13 g++-12 \
      clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14; do
    have "$name" || continue
    # "12 __clang_major__" from g++ 12, "4 14" from clang 14
    version=$(echo '__GNUC__ __clang_major__' | "$name" -x c++ -E -P - 2>/dev/null) || continue
    case $version in
      *__clang_major__) [ "${version%% *}" -ge 12 ] || continue ;;
      *) [ "${version##* }" -ge 14 ] || continue ;;
    esac
    echo "$name"
    return
  done
}

compiler_package() {
  # Ubuntu 22.04's g++ is 11.
  if grep -qs '^ID=ubuntu' /etc/os-release && grep -qs '^VERSION_ID="22\.04"' /etc/os-release; then
    echo g++-12
  else
    echo g++
  fi
}

listed() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

# Tools count however they came; libraries when the package is installed.
present() {
  case $1 in
    cmake | python3 | clang-format-14 | clang-tidy-14) have "$1" && return ;;
    ninja-build) { have ninja || have ninja-build; } && return ;;
  esac
  dpkg-query -W -f '${Status}\n' "$1" 2>/dev/null | grep -q ' installed$'
}

missing_of() {
  local name
  for name in $(listed "$@"); do
    present "$name" || echo "$name"
  done
}

# On systems without apt: asks the compiler for the headers.
check_other_system() {
  local header compiler headers="CLI/CLI.hpp fmt/format.h spdlog/spdlog.h nlohmann/json.hpp zlib.h sqlite3.h"
  compiler=$(find_compiler)
  local lacks=
  [ -n "$compiler" ] || lacks="$lacks compiler"
  have cmake || lacks="$lacks cmake"
  have ninja || have ninja-build || lacks="$lacks ninja"
  if [ "$1" != demo ]; then
    have python3 || lacks="$lacks python3"
  fi
  if [ -n "$compiler" ]; then
    for header in $headers; do
      echo "#include <$header>" | "$compiler" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null ||
        lacks="$lacks $header"
    done
  fi
  if [ -n "$lacks" ]; then
    say "missing:$lacks"
    cat "$packages/other-systems.txt" >&2
    fail "this system has no apt-get: install these, then run this again"
  fi
}

apt_get() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
}

may_install() {
  [ "$(id -u)" = 0 ] && return
  have sudo || return 1
  # Without a terminal nobody can type a password.
  if [ -t 0 ]; then sudo -v; else sudo -n true 2>/dev/null; fi
}

known() { apt-cache show "$1" >/dev/null 2>&1; }

# install_missing COMMAND [PACKAGE...]: what the command needs, and these packages.
install_missing() {
  local required=() optional=() wanted=() name more=("${@:2}")
  if ! have apt-get; then
    check_other_system "$1"
    return
  fi
  [ -n "$(find_compiler)" ] || required+=("$(compiler_package)")
  mapfile -t -O "${#required[@]}" required < <(missing_of "$packages/build.txt")
  if [ "$1" != demo ]; then
    mapfile -t -O "${#required[@]}" required < <(missing_of "$packages/test.txt")
    for name in "${more[@]}"; do
      present "$name" || required+=("$name")
    done
    [ "$1" != test ] || mapfile -t optional < <(missing_of "$packages/optional.txt")
    [ "$1" != check ] || mapfile -t optional < <(missing_of "$packages/check.txt")
    # Not every release has them; where the lists are there and do not, there is nothing to fetch.
    if [ "${#optional[@]}" -gt 0 ] && known cmake; then
      wanted=()
      for name in "${optional[@]}"; do
        if known "$name"; then wanted+=("$name"); else say "$name is not to be had here"; fi
      done
      optional=("${wanted[@]}")
    fi
  fi
  [ $((${#required[@]} + ${#optional[@]})) -gt 0 ] || return 0

  if ! may_install; then
    if [ "${#required[@]}" -gt 0 ]; then
      say "missing packages, and no right to install them (not root, no sudo). Have somebody run:"
      printf '\n  apt-get install --no-install-recommends %s\n\n' "${required[*]} ${optional[*]}" >&2
      exit 2
    fi
    say "not installed, what needs them is skipped: ${optional[*]}"
    return
  fi

  say "installing: ${required[*]} ${optional[*]}"
  apt_get update >&2 || say "the package lists could not be refreshed; trying with the old ones"
  if [ "${#required[@]}" -gt 0 ]; then
    apt_get install --no-install-recommends "${required[@]}" >&2 ||
      fail "could not install: ${required[*]}"
  fi
  wanted=()
  for name in "${optional[@]}"; do
    if known "$name"; then wanted+=("$name"); else say "$name is not to be had here"; fi
  done
  if [ "${#wanted[@]}" -gt 0 ]; then
    apt_get install --no-install-recommends "${wanted[@]}" >&2 ||
      say "not installed, what needs them is skipped: ${wanted[*]}"
  fi
  [ -n "$(find_compiler)" ] || fail "no C++ compiler that is new enough: g++ 12 or clang 14"
}

# -- building ----------------------------------------------------------------------------------

# Processors, but no more than the memory holds compilers: about 1.5 GB each.
job_count() {
  local count memory limit
  if [ -n "${MFU_JOBS:-}" ]; then
    echo "$MFU_JOBS"
    return
  fi
  count=$(nproc 2>/dev/null || echo 2)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1024)}' /proc/meminfo 2>/dev/null || true)
  limit=$(cat /sys/fs/cgroup/memory.max 2>/dev/null || true)
  case $limit in
    '' | *[!0-9]*) ;;
    *) limit=$((limit / 1048576)); [ "${memory:-$limit}" -le "$limit" ] || memory=$limit ;;
  esac
  if [ -n "$memory" ] && [ $((memory / 1536)) -lt "$count" ]; then
    count=$((memory / 1536))
  fi
  if [ "$count" -ge 1 ]; then echo "$count"; else echo 1; fi
}

configure() {
  local preset=$1 folder=$root/build/$1 compiler was
  if [ -f "$folder/CMakeCache.txt" ]; then
    was=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$folder/CMakeCache.txt")
    if [ "$was" != "$root" ]; then
      say "$folder was configured for $was: starting it anew"
      rm -rf "$folder"
    fi
  fi
  # Later changes of the CMake files are seen by ninja itself.
  if [ ! -f "$folder/build.ninja" ]; then
    compiler=$(find_compiler)
    (cd "$root" && cmake --preset "$preset" -DCMAKE_CXX_COMPILER="$compiler")
  fi
}

# build PRESET [TARGET...]
build() {
  configure "$1"
  cmake --build "$root/build/$1" --parallel "$(job_count)" ${2:+--target "${@:2}"}
}

# -- commands ----------------------------------------------------------------------------------

demo() {
  install_missing demo
  build release mfu
  local example
  cd "$root"
  for example in examples/*.json; do
    [ -f "$example" ] || fail "there are no examples"
    printf '\n==== mfu diagnose %s\n\n' "$example"
    build/release/bin/mfu diagnose "$example"
  done
}

run_tests() {
  install_missing test
  build dev
  ctest --test-dir "$root/build/dev" --output-on-failure --no-tests=error --parallel "$(job_count)"
}

check() {
  local failed=() code
  install_missing check
  configure dev
  cd "$root"
  python3 tests/style.py --format || failed+=("tests/style.py --format")
  python3 tests/layering.py || failed+=(tests/layering.py)
  build dev mfu_headers_alone || failed+=("a header that does not compile alone")
  code=0
  MFU_JOBS=$(job_count) cmake/tidy.sh build/dev || code=$?
  [ "$code" = 0 ] || [ "$code" = 77 ] || failed+=(cmake/tidy.sh)
  if [ "${#failed[@]}" -gt 0 ]; then
    printf 'bootstrap: failed: %s\n' "${failed[@]}" >&2
    exit 1
  fi
  say "all checks hold"
}

# prove short|long [NAME...]
prove() {
  local how=$1 name needs short long size file began rows=() wanted=() missing=() broken=() held=0
  shift
  while read -r name needs short long _; do
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    rows+=("$name $needs $short $long")
    for file in ${needs//,/ }; do
      [ "$file" = - ] || wanted+=("$file")
    done
  done < <(listed "$root/tests/proof/list.txt")
  [ "${#rows[@]}" -gt 0 ] || fail "there is no proof '$*'; tests/proof/list.txt has them"
  for name in "${wanted[@]}"; do
    listed "$packages/proof.txt" | grep -qx "$name" || fail "$name is not in cmake/packages/proof.txt"
  done
  mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | sort -u | sed '/^$/d')
  # In a subshell: what cannot be installed is told by the proofs that need it.
  (install_missing proof "${wanted[@]}") || missing=(something)
  if have dpkg-query; then
    for size in "${rows[@]}"; do
      read -r name needs _ <<< "$size"
      for file in ${needs//,/ }; do
        [ "$file" = - ] || present "$file" || fail "the proof '$name' needs $file, which cannot be installed here"
      done
    done
  fi
  [ "${#missing[@]}" = 0 ] || fail "not all packages could be installed"

  for size in "${rows[@]}"; do
    read -r name needs short long <<< "$size"
    [ "$how" = short ] && size=$short || size=$long
    file=$root/tests/proof/$name.py
    [ -f "$file" ] || file=$root/tests/proof/$name.sh
    say "proof $name $size"
    began=$SECONDS
    if MFU_JOBS=$(job_count) "$file" "$size"; then
      held=$((held + 1))
      say "proof $name holds ($((SECONDS - began)) s)"
    else
      broken+=("$name")
      say "proof $name is broken"
    fi
  done
  [ "${#broken[@]}" = 0 ] || { say "broken: ${broken[*]}"; exit 1; }
  say "$held proofs hold"
}

# A place for temporary files and a home that can be written, whoever runs this.
if [ ! -d "${TMPDIR:-/}" ] || [ ! -w "${TMPDIR:-/}" ]; then
  unset TMPDIR
fi
if [ ! -w "${HOME:-/nonexistent}" ]; then
  export CCACHE_DISABLE=1
fi

command=${1:-}
[ $# -eq 0 ] || shift
if [ "$command" != proof ] && [ $# -gt 0 ]; then
  usage >&2
  exit 2
fi
case $command in
  demo) demo ;;
  test) run_tests ;;
  check) check ;;
  proof)
    if [ "${1:-}" = --short ]; then
      shift
      prove short "$@"
    else
      prove long "$@"
    fi
    ;;
  -h | --help | help) usage ;;
  '') usage >&2; exit 2 ;;
  *) usage >&2; fail "there is no command '$command'" ;;
esac
