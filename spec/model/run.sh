#!/usr/bin/env bash
# Checks fairdeal.pml exhaustively: what must hold, holds; what must be reachable, is; and with a
# guard left out, the property that rests on it fails. One line for each; exit 1 if one is otherwise.
#
#   run.sh [NAME...]     all of it, or only the lines of these names
#
# Needs spin and gcc, and installs nothing. JOBS (default 2) searches run at a time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

# name        outcome   flags for the model
lines() { cat <<'LINES'
clear-1       holds     -DPROPERTY=3 -DHONEST=1
bound-1       holds     -DPROPERTY=1 -DHONEST=1
bound-2       holds     -DPROPERTY=1 -DHONEST=2 -DGONE_MAX=0 -DHOUSES=2
one-deck-1    holds     -DPROPERTY=2 -DHONEST=1
one-deck-2    holds     -DPROPERTY=2 -DHONEST=2 -DGONE_MAX=0 -DHOUSES=2
clear-2       holds     -DPROPERTY=3 -DHONEST=2 -DGONE_MAX=0 -DHOUSES=2
head-alone    holds     -DPROPERTY=3 -DNO_ONCE=1 -DGONE_MAX=0
once-alone    holds     -DPROPERTY=3 -DNO_HEAD=1 -DGONE_MAX=0
all-reveal    reached   -DPROPERTY=1 -DWITNESS=1 -DHONEST=2 -DGONE_MAX=0 -DHOUSES=2
two-decks     reached   -DPROPERTY=2 -DWITNESS=2
cleared       reached   -DPROPERTY=3 -DWITNESS=3
early         fails     -DPROPERTY=1 -DEARLY=1
prefix        fails     -DPROPERTY=1 -DPREFIX=1
no-seen-1     fails     -DPROPERTY=1 -DNO_SEEN=1
no-seen-2     fails     -DPROPERTY=2 -DNO_SEEN=1
two-reveals   fails     -DPROPERTY=2 -DNO_HEAD=1 -DNO_ONCE=1 -DGONE_MAX=0 -DHOUSES=2
forgets       fails     -DPROPERTY=3 -DFORGETS=1
sends-first   fails     -DPROPERTY=3 -DSENDS_FIRST=1 -DGONE_MAX=0
two-messages  fails     -DPROPERTY=3 -DNO_HEAD=1 -DNO_ONCE=1
no-house      fails     -DPROPERTY=3 -DNO_HOUSE=1 -DGONE_MAX=0
over-prefix   fails     -DPROPERTY=3 -DPREFIX=1
unsigned      fails     -DPROPERTY=3 -DUNSIGNED=1
seen-unknown  fails     -DPROPERTY=3 -DUNKNOWN_BLAMED=1
by-place      fails     -DPROPERTY=3 -DBY_PLACE=1
repeated      fails     -DPROPERTY=3 -DREPEAT_BLAMED=1
authentic     fails     -DPROPERTY=3 -DNO_AUTHENTIC=1
rooted        fails     -DPROPERTY=3 -DNO_ROOTED=1
astray        fails     -DPROPERTY=3 -DNO_ASTRAY=1
LINES
}

check() { # one line: its own directory, as spin and pan write where they stand
    local name=$1 outcome=$2 work said states ok
    shift 2
    work=$(mktemp -d)
    cd "$work"
    # what is to hold is searched to the end; the others stop at their first error
    local speed=-O1
    [ "$outcome" != holds ] || speed=-O2
    {
        spin "$@" -a "$here/fairdeal.pml" &&
            gcc -w "$speed" -DSAFETY -DCOLLAPSE -DMEMLIM=1900 -o pan pan.c &&
            ./pan -m100000 -w22
    } >out 2>&1 || echo "status $?" >>out
    states=$(awk '/states, stored/ {print $1}' out)
    said="no result"
    if grep -q "^Warning: Search not completed" out || grep -q "search depth too small" out; then said="incomplete"; fi
    if grep -q "^status" out; then said="no result"; fi
    if grep -q "assertion violated" out && grep -q "errors: 1$" out; then said="fails"; fi
    if [ "$said" = "no result" ] && ! grep -q "^status" out && grep -q "errors: 0$" out; then said="holds"; fi
    case $outcome/$said in
    holds/holds | fails/fails | reached/fails) ok=ok ;;
    *) ok=NOT ;;
    esac
    printf '%-3s  %-12s  %-7s  %9s states  %6s s  %5s MB   %s\n' "$ok" "$name" \
        "$([ "$outcome/$said" = reached/fails ] && echo reached || echo "$said")" "${states:--}" \
        "$(awk '/elapsed time/ {print $4}' out)" "$(awk '/total actual memory/ {print int($1)}' out)" "$*"
    [ "$ok" = ok ] || { tail -20 out >&2; cd /; rm -rf "$work"; exit 1; }
    cd /
    rm -rf "$work"
}

if [ "${1:-}" = --check ]; then # one line, for xargs below
    shift
    check "$@"
    exit
fi
for tool in spin gcc; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 1; }
done
for name in "$@"; do
    lines | grep -q "^$name " || { echo "no line is called $name" >&2; exit 1; }
done
chosen=$(lines | awk -v names=" $* " 'names == "  " || index(names, " " $1 " ")')
echo "$chosen" | tr -s ' ' | xargs -P "${JOBS:-2}" -d '\n' -I{} bash -c 'bash "$0" --check $1' "$here/run.sh" {} ||
    { echo "the model does not do what it must" >&2; exit 1; }
