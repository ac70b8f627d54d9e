package assign

// ByConfig gives every member the queues that are listed for its client id,
// whatever the others have and whether or not the queues exist; Deal sees to it
// that a queue gets one owner.
func ByConfig(lists map[string][]Queue) Strategy {
	return func(_ []Queue, members []Member) (Shares, error) {
		shares := make(Shares, len(members))
		for _, m := range members {
			shares[m.ID] = lists[m.ID]
		}
		return shares, nil
	}
}
