package gateway

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/group"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const wantTime = "a time such as 2026-12-01T08:30:00.000Z"

// groupName reads the group that the path names.
func groupName(c echo.Context) (string, error) {
	name := pathParam(c, "group")
	if err := group.ValidateName(name); err != nil {
		const detail = "1 to 120 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"
		return "", newProblem("invalid_name", detail, fault{Pointer: "path:group", Code: "invalid_name", Detail: detail})
	}
	return name, nil
}

// fieldFault points at a field of the body. Parts of its path are separated by /.
func fieldFault(field, detail string) *problem {
	return newProblem("invalid_field", field+": "+detail, fault{Pointer: "/" + field, Code: "invalid_field", Detail: detail})
}

func outOf(low, high int64) string {
	return strconv.FormatInt(low, 10) + " to " + strconv.FormatInt(high, 10)
}

// namedGroup gives an error of package group the meaning that it has in an answer
// about the group of that name.
func namedGroup(err error, name string) error {
	if errors.Is(err, meta.ErrGroupNotFound) {
		return newProblem("group_not_found", "there is no group "+name)
	}
	if e, ok := errors.AsType[*journal.InvalidError](err); ok {
		field := e.Field
		if e.Index >= 0 {
			field = "subscriptions/" + strconv.Itoa(e.Index) + "/" + e.Field
		}
		return fieldFault(field, e.Detail)
	}
	if e, ok := errors.AsType[*journal.BoundsError](err); ok {
		return outside(e, "/offset")
	}
	return err
}

// unsure marks a fault that leaves open whether something was changed: to do it
// again changes nothing more.
func unsure(err error) error {
	if !errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrOutcomeUnknown) {
		return err
	}
	p := newProblem("unavailable", "it may have been done; do it again")
	p.unsure = true
	return fmt.Errorf("%w: %w", p, err)
}

// outside says that an offset of a body is not in its queue.
func outside(e *journal.BoundsError, pointer string) *problem {
	code, detail := "offset_beyond_end", fmt.Sprintf("the queue ends at %d", e.Next)
	if e.Trimmed {
		code, detail = "offset_trimmed", fmt.Sprintf("the queue begins at %d", e.Min)
	}
	p := newProblem(code, detail, fault{Pointer: pointer, Code: code, Detail: detail, MinOffset: at(e.Min), NextOffset: at(e.Next)})
	p.as = 422
	return p
}

// groupProblem translates errors of groups that carry the current state.
func groupProblem(err error) *problem {
	if e, ok := errors.AsType[*meta.GroupExistsError](err); ok {
		p := newProblem("group_exists", "If-None-Match is * and the group exists",
			fault{Pointer: "header:If-None-Match", Code: "group_exists", ETag: groupETag(e.Current)})
		p.etag = groupETag(e.Current)
		return p
	}
	if e, ok := errors.AsType[*meta.GroupConflictError](err); ok {
		return versionConflict(groupETag(e.Current))
	}
	if e, ok := errors.AsType[*meta.SubscriptionMismatchError](err); ok {
		subscriptions := subscriptionsOf(e.Current)
		return newProblem("subscription_mismatch", "the members of the group name other topics or filters",
			fault{Pointer: "/subscriptions", Code: "subscription_mismatch", Subscriptions: subscriptions})
	}
	if e, ok := errors.AsType[*meta.GroupSharedError](err); ok {
		p := newProblem("group_in_shared_mode", fmt.Sprintf("it is received from; without receivers clients may own queues again in %.0f s", math.Ceil(e.RetryAfter.Seconds())))
		p.retryAfter = max(time.Second, e.RetryAfter)
		return p
	}
	if e, ok := errors.AsType[*group.GenerationError](err); ok {
		return newProblem("generation_stale", "the group is in generation "+strconv.FormatInt(e.Current, 10),
			fault{Pointer: "/generation", Code: "generation_stale", Generation: at(e.Current)})
	}
	if e, ok := errors.AsType[*group.QueueError](err); ok {
		return newProblem("queue_not_found", fmt.Sprintf("topic %s has %d queues", e.Topic, e.Queues),
			fault{Pointer: "/queue", Code: "queue_not_found", Queues: at(int64(e.Queues))})
	}
	if e, ok := errors.AsType[*group.OwnerError](err); ok {
		return newProblem("not_owner", fmt.Sprintf("queue %d of topic %s is not the member's", e.Queue, e.Topic),
			fault{Pointer: "/queue", Code: "not_owner"})
	}
	if e, ok := errors.AsType[*group.ReceiptError](err); ok {
		f := receiptFault(e, "")
		return newProblem(f.Code, f.Detail, f)
	}
	return nil
}

// receiptFault says why a receipt counts no more.
func receiptFault(e *group.ReceiptError, pointer string) fault {
	f := fault{Pointer: pointer, Code: "receipt_superseded", Detail: "the message was delivered again or given back, or its queue was reset or taken away", Attempt: at(e.Attempt)}
	if e.Current > 0 {
		f.CurrentAttempt = at(e.Current)
	}
	if errors.Is(e, group.ErrReceiptExpired) {
		f.Code, f.Detail = "receipt_expired", "the message is visible to others since the deadline"
	}
	if e.Deadline > 0 {
		deadline := api.Time(e.Deadline)
		f.Deadline = &deadline
	}
	if e.Now > 0 {
		now := api.Time(e.Now)
		f.Now = &now
	}
	return f
}

// subscriptionsOf shows subscriptions without the ids of their topics.
func subscriptionsOf(all []meta.Subscription) []api.Subscription {
	out := make([]api.Subscription, len(all))
	for i, s := range all {
		out[i].Topic = s.Topic
		if s.Tags != "" {
			out[i].Tags = &all[i].Tags
		}
		if s.SQL != "" {
			out[i].Sql = &all[i].SQL
		}
		if len(s.Queues) > 0 {
			queues := make([]int64, len(s.Queues))
			for j, q := range s.Queues {
				queues[j] = int64(q)
			}
			out[i].Queues = &queues
		}
	}
	return out
}

// itemProblem is why one item of a request was refused, as its fault.
func itemProblem(err error, pointer string) fault {
	p, _ := toProblem(err)
	f := fault{Pointer: pointer, Code: p.code, Detail: p.detail}
	if len(p.faults) == 1 {
		f = p.faults[0]
		f.Pointer, f.Code = pointer, p.code
	}
	if kinds[p.code].retryable {
		f.Retryable = true
	}
	return f
}

// gravest is the code of the highest status; of two with the same, the first.
func gravest(faults []fault) string {
	code := faults[0].Code
	for _, f := range faults {
		if statusIn(f.Code) > statusIn(code) {
			code = f.Code
		}
	}
	return code
}

// statusIn is the status of a code that is about an item of a body.
func statusIn(code string) int {
	if code == "offset_beyond_end" || code == "offset_trimmed" {
		return 422
	}
	return kinds[code].status
}

// refusedAll makes one problem of a request none of whose items was accepted.
func refusedAll(faults []fault) *problem {
	code := gravest(faults)
	detail := ""
	for _, f := range faults {
		if f.Code == code {
			detail = f.Detail
			break
		}
	}
	p := newProblem(code, detail, faults...)
	p.as = statusIn(code)
	return p
}
