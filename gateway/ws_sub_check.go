package gateway

import (
	"fmt"

	"github.com/bucketmq/bucketmq/group"
)

// checkSubscribe tests what needs no topic.
func (s *socket) checkSubscribe(op *subscribeOp) error {
	s.mu.Lock()
	count, taken := len(s.subs), s.subs[op.Sub] != nil
	s.mu.Unlock()
	switch {
	case op.Sub == "" || len(op.Sub) > maxOpID:
		return wrong("sub", fmt.Sprintf("a name of 1 to %d bytes", maxOpID))
	case len(op.Topics) == 0 || len(op.Topics) > maxSubTopics:
		return wrong("topics", fmt.Sprintf("1 to %d topics", maxSubTopics))
	case op.From != nil && op.From.Offset != nil:
		return wrong("from/offset", "seek to an offset after subscribing")
	case op.Credit == nil:
		return missing("credit")
	case op.Encoding != nil && *op.Encoding != "text" && *op.Encoding != "base64":
		return wrong("encoding", "text or base64")
	case taken:
		return newProblem("subscription_exists", "there is a subscription of this name", fault{Pointer: "/sub", Code: "subscription_exists"})
	case count >= maxSubscriptions:
		return newProblem("too_many_subscriptions", fmt.Sprintf("a socket has at most %d", maxSubscriptions), fault{Pointer: "/sub", Code: "too_many_subscriptions"})
	}
	if err := op.checkMode(); err != nil {
		return err
	}
	return op.Credit.check(0, 0, "credit/")
}

// checkMode tests what belongs to some modes only.
func (op *subscribeOp) checkMode() error {
	switch op.Mode {
	case modeTail:
		for _, f := range []struct {
			name  string
			given bool
		}{
			{"group", op.Group != nil}, {"client_id", op.ClientID != nil}, {"session_key", op.SessionKey != nil}, {"ordered", op.Ordered},
			{"session_timeout_ms", op.SessionTimeoutMS != nil}, {"room", op.Room != nil}, {"invisible_ms", op.InvisibleMS != nil},
		} {
			if f.given {
				return wrong(f.name, "it is not of mode tail")
			}
		}
		return nil
	case modeGroup, modeBroadcast, modeShared:
	default:
		return wrong("mode", "tail, group, broadcast or shared")
	}
	switch {
	case op.Group == nil:
		return missing("group")
	case group.ValidateName(*op.Group) != nil:
		return wrong("group", "1 to 120 of A-Z a-z 0-9 . _ -, beginning with a letter or digit")
	case op.From != nil:
		return wrong("from", "a group goes on where it is")
	case op.Mode != modeShared && op.InvisibleMS != nil:
		return wrong("invisible_ms", "it is of mode shared")
	case op.Mode == modeShared && (op.ClientID != nil || op.SessionKey != nil || op.SessionTimeoutMS != nil || op.Room != nil || op.Ordered):
		return wrong("mode", "in shared mode there are no members")
	}
	return nil
}
