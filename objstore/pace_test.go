package objstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPaceDoesNotDelayAHealthyService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, start := newPace(), time.Now()
		for range 1000 {
			if err := p.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.faster()
		}
		if spent := time.Since(start); spent != 0 {
			t.Errorf("1000 requests waited %s", spent)
		}
	})
}

func TestPaceGrowsOncePerRoundAndShrinksToNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		time.Sleep(time.Second) // virtual: away from the zero time
		for range 100 {
			p.slower() // one burst
		}
		if p.gap != 4*minGap {
			t.Errorf("after one burst the gap is %s, want %s", p.gap, 4*minGap)
		}
		for range 20 {
			time.Sleep(2 * time.Second)
			p.slower()
		}
		if p.gap != maxGap {
			t.Errorf("the gap is %s, want at most %s", p.gap, maxGap)
		}
		start, requests := time.Now(), 0
		for ; p.gap > 0; requests++ {
			if err := p.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.faster()
		}
		if spent := time.Since(start); spent > 6*time.Second || requests < 10 {
			t.Errorf("%d requests in %s until full speed, want some and at most 6 s", requests, spent)
		}
	})
}

// TestPaceForgetsCallersThatGaveUp: they must not use up turns of others.
func TestPaceForgetsCallersThatGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		p.gap, p.last = maxGap, time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		done := make(chan error, 100)
		for range cap(done) {
			go func() { done <- p.wait(ctx) }()
		}
		for range cap(done) {
			if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got error %v, want DeadlineExceeded", err)
			}
		}
		start := time.Now()
		if err := p.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if spent := time.Since(start); spent > maxGap {
			t.Errorf("waited %s for one turn", spent)
		}
	})
}
