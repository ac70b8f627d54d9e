package coordinator

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

func TestChangesThatComeTogetherAreOneErrand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, group := newAgenda(), uuid.New()
		for i := range 10 {
			a.add(group, fmt.Sprint("cause ", i%2))
			time.Sleep(settleQuiet / 2)
		}
		if due, left, wait := a.take(time.Now(), 10); len(due) > 0 || left != 1 || wait != settleQuiet/2 {
			t.Fatalf("before it is quiet: %v, %d left, then in %v", due, left, wait)
		}
		time.Sleep(settleQuiet / 2)
		due, left, _ := a.take(time.Now(), 10)
		if got, want := fmt.Sprint(due[group]), "[cause 0 cause 1]"; got != want || left > 0 {
			t.Errorf("when quiet: got %s and %d left, want %s", got, left, want)
		}
		if due, _, _ := a.take(time.Now(), 10); len(due) > 0 {
			t.Errorf("taken twice: %v", due)
		}
	})
}

func TestAGroupThatNeverGetsQuietIsLookedAtAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, group, taken := newAgenda(), uuid.New(), 0
		for began := time.Now(); time.Since(began) < 5*settleLongest; time.Sleep(settleQuiet / 2) {
			a.add(group, "members")
			due, _, _ := a.take(time.Now(), 10)
			taken += len(due)
		}
		if taken != 4 && taken != 5 {
			t.Errorf("in %v it was looked at %d times", 5*settleLongest, taken)
		}
	})
}

func TestAGroupRestsAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, group, other := newAgenda(), uuid.New(), uuid.New()
		changes := 0
		for began := time.Now(); time.Since(began) < 5*settleLongest; time.Sleep(2 * settleQuiet) {
			due, _, _ := a.take(time.Now(), 10)
			if _, ok := due[group]; ok { // it was quiet for long enough every time
				changes++
				a.rest(group)
			}
			a.add(group, "members")
		}
		if changes != 5 {
			t.Errorf("in %v it was changed %d times", 5*settleLongest, changes)
		}
		a.add(other, "members")
		time.Sleep(settleQuiet)
		if due, _, _ := a.take(time.Now(), 10); due[other] == nil {
			t.Errorf("another group rests as well: %v", due)
		}
	})
}

func TestNotAllIsTakenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgenda()
		for range 5 {
			a.add(uuid.New(), "members")
		}
		time.Sleep(settleQuiet)
		for _, want := range []int{2, 2, 1, 0} {
			due, left, wait := a.take(time.Now(), 2)
			if len(due) != want || left > 0 && wait != 0 || left == 0 && wait != expireEvery {
				t.Errorf("got %d, %d left, then in %v; want %d", len(due), left, wait, want)
			}
		}
	})
}
