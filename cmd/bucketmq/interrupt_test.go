package main

import (
	"syscall"
	"testing"
	"time"
)

// timeout(1) sends its signal twice: what is under way ends in order all the same.
func TestASignalSentTwiceEndsInOrder(t *testing.T) {
	ctx, stop := interruptible(t.Context())
	defer stop()
	for range 2 {
		if err := syscall.Kill(syscall.Getpid(), syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		<-ctx.Done()
	}
	time.Sleep(sameSignal / 2) // the second one would have ended the process
}
