package main

import (
	"fmt"
	"io"
	"time"
)

// progress tells on a terminal how far long work has come. Where nobody
// watches it is silent. It is for one goroutine.
type progress struct {
	out   io.Writer
	on    bool
	verb  string
	count int64

	began, told time.Time
}

func (p *progress) add(n int64) {
	now := time.Now()
	if p.began.IsZero() {
		p.began, p.told = now, now
	}
	p.count += n
	if p.on && now.Sub(p.told) >= 200*time.Millisecond {
		p.told = now
		rate := float64(p.count) / now.Sub(p.began).Seconds()
		fmt.Fprintf(p.out, "\r%d messages %s, %.0f/s\x1b[K", p.count, p.verb, rate)
	}
}

// end replaces the progress with its sum.
func (p *progress) end() {
	if p.on {
		fmt.Fprintf(p.out, "\r%s %s\x1b[K\n", plural(p.count, "message"), p.verb)
	}
}
