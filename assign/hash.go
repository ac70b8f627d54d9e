package assign

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
)

// DefaultVirtualNodes is how many points a member has on the ring of
// ConsistentHash unless the group says otherwise.
const DefaultVirtualNodes = 10

// ConsistentHash puts every member on a ring virtualNodes times and gives a
// queue to the member whose point comes next. A member that comes or goes moves
// only its own queues; in exchange shares are uneven, and with few members one
// may get nothing. Without virtual nodes nobody gets anything. ErrVirtualNodes.
func ConsistentHash(virtualNodes int) Strategy {
	return func(queues []Queue, members []Member) (Shares, error) {
		if virtualNodes < 0 {
			return nil, fmt.Errorf("%w: %d", ErrVirtualNodes, virtualNodes)
		}
		shares := make(Shares, len(members))
		if virtualNodes == 0 {
			return shares, nil
		}
		ring := newRing(members, virtualNodes)
		for _, q := range queues {
			id := ring.owner(q.String())
			shares[id] = append(shares[id], q)
		}
		return shares, nil
	}
}

// ring holds its points in ascending order, each hash once.
type ring []point

type point struct {
	hash   uint32
	member string
}

func newRing(members []Member, virtualNodes int) ring {
	// Of equal points the one added last counts, as in RocketMQ.
	byHash := make(map[uint32]string, len(members)*virtualNodes)
	for _, m := range members {
		for i := range virtualNodes {
			byHash[hash(m.ID+"-"+strconv.Itoa(i))] = m.ID
		}
	}
	r := make(ring, 0, len(byHash))
	for h, member := range byHash {
		r = append(r, point{h, member})
	}
	slices.SortFunc(r, func(a, b point) int { return cmp.Compare(a.hash, b.hash) })
	return r
}

// owner is the member of the first point at or after the key's.
func (r ring) owner(key string) string {
	i, _ := slices.BinarySearchFunc(r, hash(key), func(p point, h uint32) int { return cmp.Compare(p.hash, h) })
	return r[i%len(r)].member
}

// hash is the first four bytes of the MD5, which RocketMQ's ring is made of: it
// only spreads keys.
func hash(key string) uint32 {
	digest := md5.Sum([]byte(key))
	return binary.BigEndian.Uint32(digest[:4])
}
