#!/usr/bin/env bash
# `make demo`: judge recorded sessions of a refund agent. Ends with 0 when each had the exit code and the finding that
# it should have. Of each report: the finding that matters with what it rests on, the first lines of others, the gate.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

contract=examples/refund/dsh-refund.yaml
recordings=examples/refund/recordings
status=0

# Leave out places in files, the details of other findings, and other findings after the third.
brief() {
    awk -v finding="$1" '
        /^(violated|inconclusive)\[/ {
            is_shown = index($0, finding) == 1
            if (is_shown || others++ < 3) print
        }
        /^   \|  / && is_shown { print }
        /^gate: / { if (others > 3) printf "… and %d more\n", others - 3; print }
    '
}

# judge CODE RECORDING FINDING HEADING: FINDING must be among those reported; where it is empty, there must be none.
judge() {
    local expected=$1 recording=$2 finding=$3 heading=$4 code=0 report
    printf '\n── %s\n' "$heading"
    printf '$ outstep check %s --contract %s\n' "$recordings/$recording" "$contract"
    report=$(outstep check "$recordings/$recording" --contract "$contract" 2>/dev/null) || code=$?
    printf '%s\n' "$report" | brief "${finding:-none}"
    if [ "$code" -ne "$expected" ]; then
        printf 'error: exit code %s was expected, not %s\n' "$expected" "$code" >&2
        status=1
    fi
    if [ -n "$finding" ]; then
        case $report in
            *"$finding"*) ;;
            *) printf 'error: %s was expected\n' "$finding" >&2; status=1 ;;
        esac
    else
        case $report in
            violated* | inconclusive*) printf 'error: no finding was expected\n' >&2; status=1 ;;
        esac
    fi
}

judge 0 good "" \
    "a good refund: the customer was verified, the policy asked, the money sent once, the truth told"
judge 1 refund-before-identity "violated[VERIFY_BEFORE_REFUND]" \
    "the right amount to the right customer, but verified only after the money was gone"
judge 1 claims-success-after-failure "violated[NO_FALSE_SUCCESS_CLAIM]" \
    "the refund failed, and the agent told the customer that it succeeded"
judge 1 duplicate-refund "violated[NO_DUPLICATE_REFUND]" \
    "the same order refunded twice, while the reply shows one refund"
judge 1 policy-in-the-same-turn "violated[POLICY_REQUIRED]" \
    "policy asked and refund sent in one response: the log has the answer before the refund, the agent had not seen it"
judge 3 killed-before-refund "inconclusive[INCOMPLETE_TRACE]" \
    "a run that was killed: nothing wrong is to be seen, and nothing is proved"

exit "$status"
