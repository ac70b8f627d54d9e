package faulty_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/faulty"
	"github.com/bucketmq/bucketmq/objstore/objstoretest"
)

func TestWithoutRulesItKeepsTheContract(t *testing.T) {
	objstoretest.Run(t, func(*testing.T) objstore.Store { return faulty.Wrap(objstore.NewMemory()) })
}

func TestFaultsOfPut(t *testing.T) {
	errLost := errors.New("lost")
	for _, test := range []struct {
		name   string
		fault  faulty.Fault
		want   error
		stored bool
	}{
		{"fail before", faulty.FailBefore(objstore.ErrNotStored), objstore.ErrNotStored, false},
		{"fail before, default error", faulty.FailBefore(nil), faulty.ErrInjected, false},
		{"fail after", faulty.FailAfter(errLost), errLost, true},
		{"delay", faulty.Delay(time.Microsecond), nil, true},
		{"delay longer than the caller waits", faulty.Delay(time.Hour), context.DeadlineExceeded, false},
		{"hold", faulty.Hold(make(chan struct{})), context.DeadlineExceeded, false},
		{"hold after", faulty.HoldAfter(make(chan struct{})), context.DeadlineExceeded, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := faulty.Wrap(objstore.NewMemory())
			rule := s.Add(&faulty.Rule{Op: faulty.Put, Prefix: "log/", Skip: 1, Times: 1, Fault: test.fault})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			for _, key := range []string{"data/not-matched", "log/skipped"} {
				if err := s.Put(ctx, key, nil); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Put(ctx, "log/hit", nil); !errors.Is(err, test.want) {
				t.Errorf("got error %v, want %v", err, test.want)
			}
			if _, err := s.Get(t.Context(), "log/hit", 0, -1); (err == nil) != test.stored {
				t.Errorf("stored: %t, want %t", err == nil, test.stored)
			}
			if err := s.Put(t.Context(), "log/hit", nil); err != nil || rule.Hits() != 1 || s.CallsOf(faulty.Put, "log/hit") != 2 {
				t.Errorf("the next one: error %v, %d hits, %d calls", err, rule.Hits(), s.CallsOf(faulty.Put, "log/hit"))
			}
		})
	}
}

func TestFaultsOfReads(t *testing.T) {
	s := faulty.Wrap(objstore.NewMemory())
	if err := s.Put(t.Context(), "log/1", []byte("abcdef")); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fault faulty.Fault
		want  string
	}{
		{faulty.Flip(2), "absdef"},
		{faulty.Flip(8), "absdef"},
		{faulty.Truncate(2), "ab"},
		{faulty.Truncate(99), "abcdef"},
	} {
		s.Clear()
		s.Add(&faulty.Rule{Op: faulty.Get, Fault: test.fault})
		if got, err := s.Get(t.Context(), "log/1", 0, -1); err != nil || string(got) != test.want {
			t.Errorf("got %q, error %v, want %q", got, err, test.want)
		}
	}
	s.Clear()
	s.Add(&faulty.Rule{Op: faulty.List, Fault: faulty.FailBefore(nil)})
	for info, err := range s.List(t.Context(), "log/", "") {
		if !errors.Is(err, faulty.ErrInjected) {
			t.Errorf("list: got %v, error %v, want ErrInjected", info, err)
		}
	}
}
