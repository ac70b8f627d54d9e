package gateway_test

import (
	"fmt"
	"testing"
)

// What is sent after a subscription was answered is the group's, also before there
// is any credit.
func TestAGroupBeginsWithItsSubscription(t *testing.T) {
	for _, mode := range []string{"group", "shared", "broadcast"} {
		t.Run(mode, func(t *testing.T) {
			group := `{"consume_from":"last"}`
			if mode == "broadcast" {
				group = `{"consume_from":"last","mode":"broadcasting"}`
			}
			n := groupNode(t, 1, group)
			n.put(0, "before")
			e := &eater{sock: n.socket("bmq.v1.json")}
			sub := e.call(fmt.Sprintf(`{"op":"subscribe","id":"s","sub":"g","mode":%q,"group":"billing","topics":[{"topic":"orders"}],"credit":{"messages":0,"bytes":0}}`, mode), "subscribed")
			n.put(0, "after")
			if mode == "group" {
				n.give(map[uint32]string{0: sub.MemberID})
			}
			e.do(`{"op":"credit","sub":"g","messages":10,"bytes":1000}`)
			if all := e.take(1); all[0].body != "after" {
				t.Errorf("got %+v", all)
			}
		})
	}
}
