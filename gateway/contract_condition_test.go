package gateway_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// only makes a send one for queue 0 that asks for its next offset.
func only(s step, next int) step {
	condition := strconv.Itoa(next)
	if s.operation == "sendMessages" {
		s.body = `{"messages":[{"body":"x","queue":0}],"if_next_offset":` + condition + `}`
		return s
	}
	s.path += "?queue=0&if_next_offset=" + condition
	return s
}

// conditions drives sends that are stored at one offset or not at all.
func (k *contract) conditions(t *testing.T) {
	n := start(t, nodeOptions{})
	n.call("PUT", orders, `{"queues":2,"type":"mixed"}`).want(t, 201)
	next := 0
	for _, s := range sends {
		expect := func(s step, status int, code string, headers ...string) answer {
			s.status, s.code, s.headers = status, code, append(slices.Clone(s.headers), headers...)
			s.breaks = status == 400
			return k.run(t, n, s)
		}
		key := []string{"Idempotency-Key", "if-" + s.operation}
		first := expect(only(s, next), 200, "", key...)
		if r := as[sent](t, first, 200).Results[0]; r.Offset == nil || *r.Offset != int64(next) {
			t.Errorf("%s: stored at %+v, want %d", s.operation, r, next)
		}
		if again := expect(only(s, next), 200, "", key...); again.header.Get("Idempotent-Replayed") != "true" || string(again.body) != string(first.body) {
			t.Errorf("%s: sent again it is answered %s, first %s", s.operation, again.body, first.body)
		}
		next++
		for _, wrong := range []int{next - 1, next + 1} {
			if p := expect(only(s, wrong), 412, "next_offset_conflict").problem(t); p.Errors[0]["next_offset"] != float64(next) {
				t.Errorf("%s: for %d told %v, want %d", s.operation, wrong, p.Errors, next)
			}
		}
		refused, pointer := []step{}, "query:if_next_offset"
		if s.operation == "sendMessages" {
			pointer = "/if_next_offset"
			for _, change := range []string{
				`"queue":0}],"ack":"none"`, `"queue":0,"delay_ms":1000}]`, `"queue":0},{"body":"y","queue":1}]`, `"ordering_key":"k"}]`, `"tag":"a"}]`,
				`"queue":0}],"producer":{"id":"p","epoch":1,"seq":1}`,
			} {
				s.body = `{"messages":[{"body":"x",` + change + `,"if_next_offset":` + strconv.Itoa(next) + `}`
				refused = append(refused, s)
			}
		} else {
			for _, query := range []string{"&ack=none", "&producer_id=p&producer_epoch=1&producer_seq=1"} {
				with := only(s, next)
				with.path += query
				refused = append(refused, with)
			}
			without := only(s, next)
			without.path = strings.Replace(without.path, "queue=0&", "", 1)
			negative := only(s, -1)
			refused = append(refused, without, negative)
		}
		for _, s := range refused {
			code := map[bool]string{true: "invalid_field", false: "invalid_parameter"}[s.operation == "sendMessages"]
			if p := expect(s, 400, code).problem(t); len(p.Errors) != 1 || p.Errors[0]["pointer"] != pointer {
				t.Errorf("%s %s: errors %v, want one at %s", s.path, s.body, p.Errors, pointer)
			}
		}
	}
	if got := len(n.read("orders", 0, "limit=100").Messages); got != next {
		t.Errorf("%d messages are stored, want %d", got, next)
	}
}
