package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Problem is an error answer of the server (RFC 9457). Match on Code.
type Problem struct {
	Title        string  `json:"title"`
	Status       int     `json:"status"`
	Code         string  `json:"code"`
	Detail       string  `json:"detail"`
	RequestID    string  `json:"request_id"`
	Retryable    bool    `json:"retryable"`
	Definite     bool    `json:"definite"`
	RetryAfterMS int64   `json:"retry_after_ms"`
	Errors       []Fault `json:"errors"`
}

// Fault is one reason inside a Problem, or of one message that was refused.
type Fault struct {
	Pointer string `json:"pointer"`
	Code    string `json:"code"`
	Detail  string `json:"detail"`

	NextOffset *int64 `json:"next_offset,omitempty"` // with next_offset_conflict: the queue's
}

// Error is one line: `title: detail (code, request id)`, the faults behind it.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Title)
	if p.Detail != "" && p.Detail != p.Title {
		b.WriteString(": ")
		b.WriteString(p.Detail)
	}
	for i, f := range p.Errors {
		if i == 3 {
			fmt.Fprintf(&b, "; and %d more", len(p.Errors)-i)
			break
		}
		if f.Detail != "" && f.Detail != p.Detail {
			fmt.Fprintf(&b, "; %s %s", f.Pointer, f.Detail)
		}
	}
	switch {
	case p.Code != "" && p.RequestID != "":
		fmt.Fprintf(&b, " (%s, request %s)", p.Code, p.RequestID)
	case p.Code != "":
		fmt.Fprintf(&b, " (%s)", p.Code)
	}
	return b.String()
}

// RetryAfter is how long the server asks to wait, zero when it does not say.
func (p *Problem) RetryAfter() time.Duration {
	return time.Duration(p.RetryAfterMS) * time.Millisecond
}

// problemFrom reads an error answer; one that is no problem+json (a proxy's
// page, say) becomes a Problem with the status alone.
func problemFrom(resp *http.Response, data []byte) *Problem {
	p := &Problem{}
	if err := json.Unmarshal(data, p); err != nil || p.Status == 0 {
		*p = Problem{Title: resp.Status, Status: resp.StatusCode}
	}
	if p.Title == "" {
		p.Title = http.StatusText(p.Status)
	}
	if p.RequestID == "" {
		p.RequestID = resp.Header.Get("X-Request-Id")
	}
	if p.RetryAfterMS == 0 {
		if s, err := strconv.ParseInt(resp.Header.Get("Retry-After"), 10, 64); err == nil && s > 0 {
			p.RetryAfterMS = s * 1000
		}
	}
	return p
}
