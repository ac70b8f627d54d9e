package journal

import (
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

const (
	firstRetry    = 10 * time.Millisecond
	longestRetry  = time.Second
	warnEveryLane = 10 * time.Second
)

// lane is the commits of one topic that are not decided, in seq order: the
// first must be decided before the second is sent.
type lane struct {
	topic   uuid.UUID
	commits []*topicCommit
	wait    time.Duration // before the next retry
	retryAt time.Time
	warned  time.Time
}

func (l *lane) add(d *topicCommit) { l.commits = append(l.commits, d) }

// next goes on to the following segment.
func (l *lane) next() {
	l.commits = l.commits[1:]
	l.wait, l.retryAt = 0, time.Time{}
}

// retry sends the same commit again later. Its requests are told "outcome
// unknown" when their time is over; the commit goes on until it is decided,
// because its bytes are in the store and might be committed by nobody else.
func (l *lane) retry(w *writer, d *topicCommit, err error) {
	now := time.Now()
	l.wait = min(max(2*l.wait, firstRetry), longestRetry)
	l.retryAt = now.Add(l.wait/2 + rand.N(l.wait))
	if now.Sub(l.warned) >= warnEveryLane {
		l.warned = now
		w.log.Warn("commit not decided, trying again", "topic", l.topic, "seq", d.segment.seq, "error", err)
	}
}
