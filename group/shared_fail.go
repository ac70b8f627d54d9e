package group

import (
	"cmp"
	"context"
	"time"

	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

// leavers are messages of one settle of a settlement that are to leave their queue.
type leavers struct {
	settle int
	at     []int // in the settle's Items
	list   []failed
}

// leaving picks what was given back and is to be stored elsewhere.
func (e *sharedEngine) leaving(g meta.Group, batch *settlement, nacks []NackItem, results []ReceiptResult) (all []leavers) {
	for n := range batch.settles {
		settle := &batch.settles[n]
		if settle.Verb != meta.SharedNack {
			continue
		}
		l := leavers{settle: n}
		for j, i := range batch.indexes[n] {
			attempts := batch.before[n][j] + settle.Items[j].Attempt
			wait, dead := nacks[i].sentence(g, attempts)
			if results[i].Err != nil || !dead && !moves(g, wait) {
				continue
			}
			l.at = append(l.at, j)
			l.list = append(l.list, failed{
				queue: settle.Queue.Queue, attempts: attempts, reason: cmp.Or(nacks[i].Reason, ReasonNacked), due: results[i].Deadline, dead: dead,
			})
		}
		if len(l.list) > 0 {
			all = append(all, l)
		}
	}
	return all
}

// moveNacked stores what was given back where it goes and then finishes it in its
// place. What cannot be stored now rests there, and whoever looks later moves it.
func (e *sharedEngine) moveNacked(ctx context.Context, g meta.Group, batch *settlement, moving []leavers, results []ReceiptResult) {
	for _, l := range moving {
		errs := e.moveFrom(ctx, g, &batch.settles[l.settle], l.at, l.list)
		for k, j := range l.at {
			r := &results[batch.indexes[l.settle][j]]
			switch {
			case !l.list[k].dead: // it comes again, wherever it is
			case errs[k] != nil:
				*r = ReceiptResult{Err: errs[k]}
			default:
				r.Dead, r.Deadline = true, 0
			}
		}
	}
}

// moveFrom reads messages of one queue, moves them, and finishes them there.
func (e *sharedEngine) moveFrom(ctx context.Context, g meta.Group, settle *meta.SharedSettle, at []int, list []failed) []error {
	errs := make([]error, len(list))
	fail := func(err error) []error {
		for i := range errs {
			errs[i] = cmp.Or(errs[i], err)
		}
		return errs
	}
	topic, err := e.Meta.TopicByID(ctx, settle.Queue.Topic)
	if err != nil {
		return fail(unavailable(err))
	}
	var found []failed
	var which []int
	for k := range list {
		item := settle.Items[at[k]]
		page, err := e.Journal.Read(ctx, journal.Read{Topic: topic, Queue: settle.Queue.Queue, Offset: item.Offset, MaxMessages: 1, MaxBytes: 1})
		if reason, err := gone(page, item.Offset, err); err != nil || reason != "" {
			errs[k] = cmp.Or(err, error(journal.ErrUnavailable)) // one that is gone is met by the next look
			continue
		}
		list[k].topic, list[k].stored = topic.Name, page.Messages[0]
		found, which = append(found, list[k]), append(which, k)
	}
	done := meta.SharedSettle{Queue: settle.Queue, Verb: meta.SharedMove}
	for i, err := range e.Failures.move(ctx, g, found) {
		if errs[which[i]] = err; err == nil {
			done.Items = append(done.Items, settle.Items[at[which[i]]])
		}
	}
	if len(done.Items) > 0 {
		if settled := e.Meta.SharedSettle(ctx, []meta.SharedSettle{done})[0]; settled.Err != nil {
			e.Log.Warn("messages that moved are not finished in their place yet", "group", g.Name, "topic", topic.Name, "err", settled.Err)
		}
		e.Progressed(g.ID)
	}
	return errs
}

// judgeDue says what becomes of a message whose time in its place is up: it is
// delivered again there, moved elsewhere, or rests. One that somebody else was to
// move may be there already, so it is never delivered here.
func (l *look) judgeDue(v *queueView, due meta.SharedMessage, m *journal.Stored) (deliver bool, move *failed) {
	g := l.r.group
	if v.State == meta.SharedAgain || due.Attempts == 0 {
		return true, nil
	}
	f := failed{
		topic: v.topic.Name, queue: v.Queue, stored: *m, attempts: failuresOf(v.topic.Name, m) + due.Attempts,
		reason: ReasonNacked, due: due.NackedFor,
	}
	wait := waitOf(g, f.attempts)
	switch {
	case exhausted(g, f.attempts):
		f.dead = true
	case due.NackedFor == meta.NackedHere, due.NackedFor == 0 && !moves(g, wait):
		return true, nil
	}
	if due.NackedFor == 0 {
		_, now, err := l.r.e.Journal.RedisNow()
		if err != nil {
			return false, nil
		}
		f.reason, f.due = ReasonExpired, now+wait.Milliseconds()
	}
	return false, &f
}

// moveWithin is how long a look waits for the store when it moves messages: what is
// stored later is found to be when another look moves them again.
const moveWithin = 500 * time.Millisecond

// moveDue moves what a read found to go elsewhere; a grant finishes it in its place.
func (l *look) moveDue(ctx context.Context, p *portion) {
	if len(p.failed) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, moveWithin)
	defer cancel()
	for i, err := range l.r.e.Failures.move(ctx, l.r.group, p.failed) {
		if err != nil { // it rests; another look tries again
			l.dueIn = retryAfter
			continue
		}
		p.gone, p.more = append(p.gone, p.failedAt[i]), true
	}
	p.failed, p.failedAt = nil, nil
}
