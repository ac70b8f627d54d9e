package group_test

import (
	"testing"

	"github.com/bucketmq/bucketmq/group"
)

func TestAdmits(t *testing.T) {
	for _, c := range []struct {
		allow, deny []string
		address     string
		want        bool
	}{
		{nil, nil, "10.0.0.1:4711", true},
		{nil, nil, "", true},
		{nil, []string{"10.0.0.1"}, "10.0.0.1:4711", false},
		{nil, []string{"10.0.0.1"}, "10.0.0.10", true}, // compared as addresses, not as texts
		{nil, []string{"10.0.0.0/8"}, "10.255.0.1", false},
		{nil, []string{"10.0.0.0/8"}, "::ffff:10.255.0.1", false},
		{nil, []string{"::ffff:10.0.0.0/104"}, "10.255.0.1", false},
		{nil, []string{"10.0.0.0/8"}, "[2001:db8::1]:80", true},
		{[]string{"10.0.0.0/8", "2001:db8::/32"}, nil, "[2001:db8::1]:80", true},
		{[]string{"10.0.0.0/8", "2001:db8::/32"}, nil, "[2001:db8::1]", true},
		{[]string{"10.0.0.0/8"}, nil, "192.168.0.1", false},
		{[]string{"10.0.0.0/8"}, nil, "", false},
		{[]string{"10.0.0.0/8"}, nil, "a.name", false},
		{[]string{"10.0.0.0/8"}, []string{"10.0.0.7"}, "10.0.0.7", false}, // deny comes first
		{[]string{"fe80::1"}, nil, "[fe80::1%eth0]:80", true},
	} {
		if got := group.Admits(c.allow, c.deny, c.address); got != c.want {
			t.Errorf("allow %v, deny %v, address %q: got %v, want %v", c.allow, c.deny, c.address, got, c.want)
		}
	}
}
