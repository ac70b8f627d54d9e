package assign

// Averagely gives every member one block of neighbouring queues; the first
// members get one more when the queues do not divide evenly.
func Averagely(queues []Queue, members []Member) (Shares, error) {
	shares := make(Shares, len(members))
	least, more := len(queues)/len(members), len(queues)%len(members)
	start := 0
	for i, m := range members {
		size := least
		if i < more {
			size++
		}
		shares[m.ID] = queues[start : start+size : start+size]
		start += size
	}
	return shares, nil
}

// AveragelyByCircle gives queue after queue to member after member, round and
// round. Over the queues of all topics at once it is what PMQ does.
func AveragelyByCircle(queues []Queue, members []Member) (Shares, error) {
	shares := make(Shares, len(members))
	for i, q := range queues {
		id := members[i%len(members)].ID
		shares[id] = append(shares[id], q)
	}
	return shares, nil
}
