package gateway

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/bucketmq/bucketmq/journal"
)

var codeRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (\\d+) \\| (yes|no) \\| (yes|no) \\|")

func TestErrorsPageListsEveryCode(t *testing.T) {
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	word := map[bool]string{true: "yes", false: "no"}
	for _, row := range codeRow.FindAllStringSubmatch(string(page), -1) {
		code := row[1]
		k, known := kinds[code]
		if !known {
			t.Errorf("docs/errors.md lists %s, which errors.go does not know", code)
			continue
		}
		if listed[code] {
			t.Errorf("docs/errors.md lists %s twice", code)
		}
		listed[code] = true
		got := strings.Join(row[2:], " ")
		want := strings.Join([]string{strconv.Itoa(k.status), word[k.retryable], word[k.definite]}, " ")
		if got != want {
			t.Errorf("docs/errors.md says of %s: %s, errors.go: %s", code, got, want)
		}
	}
	for code := range kinds {
		if !listed[code] {
			t.Errorf("docs/errors.md does not list %s", code)
		}
	}
}

func TestEveryMappedErrorHasAKnownCode(t *testing.T) {
	for _, row := range problems {
		if _, known := kinds[row.code]; !known {
			t.Errorf("%v maps to %s, which is no code", row.err, row.code)
		}
		p, expected := toProblem(fmt.Errorf("outer: %w", row.err))
		if !expected || p.code != row.code {
			t.Errorf("%v became %s (expected %v), want %s", row.err, p.code, expected, row.code)
		}
	}
}

func TestUnlistedErrorIsInternalAndKeepsItsText(t *testing.T) {
	p, expected := toProblem(errors.New("dial redis://user:secret@10.0.0.1"))
	if expected || p.code != codeInternal {
		t.Fatalf("got %s (expected %v), want an internal error", p.code, expected)
	}
	if body := string(p.encode("/v1/info", "id")); strings.Contains(body, "secret") {
		t.Errorf("the answer tells the cause: %s", body)
	}
}

func TestUnknownOutcomeWinsOverItsReason(t *testing.T) {
	p, _ := toProblem(unsettled(fmt.Errorf("put: %w", journal.ErrUnavailable)))
	if p.code != "outcome_unknown" {
		t.Errorf("got %s, want outcome_unknown", p.code)
	}
}
