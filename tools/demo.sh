#!/usr/bin/env bash
# `make demo`: judge three recorded refund sessions. Ends with 0 when each had the exit code it should have.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

contract=examples/refund/dsh-refund.yaml
recordings=examples/refund/recordings
status=0

# judge EXPECTED RECORDING RULE HEADING: RULE must be named among the violated ones, unless it is empty.
judge() {
    local expected=$1 recording=$2 rule=$3 heading=$4 code=0 report
    printf '\n── %s\n' "$heading"
    printf '$ outstep check %s --contract %s\n' "$recordings/$recording" "$contract"
    report=$(outstep check "$recordings/$recording" --contract "$contract") || code=$?
    printf '%s\nexit code %s\n' "$report" "$code"
    if [ "$code" -ne "$expected" ]; then
        printf 'error: exit code %s was expected\n' "$expected" >&2
        status=1
    fi
    case $report in
        *"violated[$rule]"*) ;;
        *) [ -z "$rule" ] || { printf 'error: a violation of %s was expected\n' "$rule" >&2; status=1; } ;;
    esac
}

judge 0 good "" "a good refund: verified, within its bounds, done once, told truthfully"
judge 1 refund-before-identity VERIFY_BEFORE_REFUND "the right amount, but the customer was verified only after the refund"
judge 1 claims-success-after-failure NO_FALSE_SUCCESS_CLAIM "the refund failed, and the agent told the customer that it was done"

exit "$status"
