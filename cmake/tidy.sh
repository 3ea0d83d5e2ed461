#!/usr/bin/env bash
# Runs clang-tidy, with the checks of .clang-tidy, over src and apps.
#
#   cmake/tidy.sh BUILD_DIR
#
# BUILD_DIR is a configured build: its compile_commands.json says how each file is compiled.
# A file is looked at again when it, a header or .clang-tidy changed. Exit 77: skipped, and why.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${1:?usage: cmake/tidy.sh BUILD_DIR}
# Versions differ in what they find; one is enforced, so that the answer is the same everywhere.
version=14

tidy=
for name in clang-tidy-$version clang-tidy; do
  if command -v "$name" >/dev/null 2>&1 && "$name" --version | grep -q "version $version\."; then
    tidy=$name
    break
  fi
done
if [ -z "$tidy" ]; then
  echo "skipped: clang-tidy $version is not installed"
  exit 77
fi
if [ ! -f "$build/compile_commands.json" ]; then
  echo "skipped: $build has no compile_commands.json; configure it first"
  exit 77
fi

cd "$root"
build=$(cd "$build" && pwd)
stamps=$build/tidy
mkdir -p "$stamps"
newest=$(find include src apps .clang-tidy \( -name '*.hpp' -o -name .clang-tidy \) -printf '%T@ %p\n' |
  sort -rn | head -n 1 | cut -d ' ' -f 2-)

todo=()
count=0
for file in $(find src apps -name '*.cpp' | LC_ALL=C sort); do
  count=$((count + 1))
  stamp=$stamps/$(echo "$file" | tr / _).ok
  if [ ! -e "$stamp" ] || [ "$file" -nt "$stamp" ] || [ "$newest" -nt "$stamp" ] ||
     [ cmake/tidy.sh -nt "$stamp" ]; then
    todo+=("$file")
  fi
done

# shellcheck disable=SC2016  # expanded by the inner shell
# The stamp carries the time of the start: a file that is edited meanwhile is looked at again.
check='file=$1; stamp=$stamps/$(echo "$file" | tr / _).ok; begun=$(mktemp "$stamps/begun.XXXXXX")
said=$("$tidy" --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option "$file" 2>&1) || {
  echo "$said" | grep -v "warnings generated\|Suppressed\|Use -header-filter"; rm -f "$begun"; exit 1; }
mv "$begun" "$stamp"'
export tidy build stamps
if [ "${#todo[@]}" -gt 0 ]; then
  printf '%s\0' "${todo[@]}" |
    xargs -0 -n 1 -P "${MFU_JOBS:-$(nproc)}" sh -c "$check" sh || {
    echo "clang-tidy found something above"
    exit 1
  }
fi
echo "clang-tidy: $count files clean (${#todo[@]} looked at now)"
