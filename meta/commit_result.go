package meta

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// result turns the script's reply into what each chunk and request was given.
// Everything but the first offset of each queue and the refusals follows from
// the commit itself.
func (p *commitPlan) result(cmd *redis.Cmd) CommitResult {
	r, err := parseReply(cmd)
	if err != nil {
		return CommitResult{Err: err}
	}
	res := CommitResult{Epoch: p.commit.Epoch, Repeated: len(r) > 2 && r[2] == int64(1)}
	if err := p.readReceipt(r.text(1), &res); err != nil {
		return CommitResult{Err: err}
	}
	return res
}

func (p *commitPlan) readReceipt(line string, res *CommitResult) error {
	fields := strings.Split(line, " ")
	if len(fields) < 4 {
		return fmt.Errorf("%w: receipt %q", ErrCorrupt, line)
	}
	stored, ok := parseNumber(fields[2])
	firsts := strings.Split(fields[3], ",")
	if !ok || len(p.queues) > 0 && len(firsts) != len(p.queues) {
		return fmt.Errorf("%w: receipt of another commit", ErrApplied)
	}
	res.StoredAt = stored
	withheld, err := p.readExceptions(fields[4:], res)
	if err != nil {
		return err
	}
	res.Firsts = make([][]int64, len(p.queues))
	for i, q := range p.queues {
		first, ok := parseNumber(firsts[i])
		if !ok {
			return fmt.Errorf("%w: receipt %q", ErrCorrupt, line)
		}
		p.placeQueue(q, first, withheld, res)
	}
	p.placeTimers(withheld, res)
	return nil
}

// readExceptions fills in what became of each request and returns, by the
// script's numbers, which were not stored.
func (p *commitPlan) readExceptions(fields []string, res *CommitResult) (map[int]bool, error) {
	withheld := map[int]bool{}
	res.Requests = make([]RequestOutcome, len(p.commit.Requests))
	for i := range res.Requests {
		r := &p.commit.Requests[i]
		res.Requests[i] = RequestOutcome{Status: RequestStored, IDBase: r.base(),
			Queues: r.Identity.Queues, AutoQueue: r.Identity.AutoQueue}
	}
	for _, field := range fields {
		number, verdict, _ := strings.Cut(field, "=")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(p.requests) || verdict == "" {
			return nil, fmt.Errorf("%w: receipt of another commit", ErrApplied)
		}
		withheld[n] = true
		out, err := parseVerdict(verdict, p.commit.Epoch)
		if err != nil {
			return nil, err
		}
		res.Requests[p.requests[n-1]] = out
	}
	return withheld, nil
}

func parseVerdict(verdict string, epoch int64) (RequestOutcome, error) {
	number, isNumber := parseNumber(verdict[1:])
	switch {
	case verdict[0] == 'D':
		return parseAnswer(verdict[1:], epoch)
	case verdict == "K":
		return RequestOutcome{Status: RequestKeyReused}, nil
	case verdict[0] == 'C' && isNumber:
		return RequestOutcome{Status: RequestMissed, Current: number}, nil
	case verdict[0] == 'F' && isNumber:
		return RequestOutcome{Status: RequestFenced, Current: number}, nil
	case verdict[0] == 'G' && isNumber:
		return RequestOutcome{Status: RequestGap, Expected: number}, nil
	}
	return RequestOutcome{}, fmt.Errorf("%w: verdict %q", ErrCorrupt, verdict)
}

// parseAnswer reads a first answer. Offsets of another epoch name other
// messages, so they are left out.
func parseAnswer(answer string, epoch int64) (RequestOutcome, error) {
	out := RequestOutcome{Status: RequestDuplicate}
	if answer == "" {
		return out, nil
	}
	corrupt := fmt.Errorf("%w: answer %q", ErrCorrupt, answer)
	fields := strings.Split(answer, ":")
	if len(fields) != 5 {
		return out, corrupt
	}
	base, err := uuid.Parse(fields[1])
	given, ok := parseNumber(fields[0])
	queues, err1 := strconv.ParseUint(fields[2], 10, 32)
	auto, err2 := strconv.ParseUint(fields[3], 10, 32)
	if err != nil || !ok || err1 != nil || err2 != nil {
		return out, corrupt
	}
	out.IDBase, out.Queues, out.AutoQueue = base, uint32(queues), uint32(auto)
	if given != epoch || fields[4] == "" {
		return out, nil
	}
	for _, text := range strings.Split(fields[4], ",") {
		numbers := strings.Split(text, ".")
		if len(numbers) != 3 {
			return out, corrupt
		}
		queue, err1 := strconv.ParseUint(numbers[0], 10, 32)
		first, ok := parseNumber(numbers[1])
		count, err2 := strconv.ParseUint(numbers[2], 10, 32)
		if err1 != nil || !ok || err2 != nil {
			return out, corrupt
		}
		out.Parts = append(out.Parts, Part{Queue: uint32(queue), First: first, Count: uint32(count)})
	}
	return out, nil
}

// placeQueue repeats what lua/plan.lua did from the queue's first offset on.
func (p *commitPlan) placeQueue(q queuePlan, next int64, withheld map[int]bool, res *CommitResult) {
	queue := &p.commit.Queues[q.index]
	firsts := make([]int64, len(queue.Chunks))
	res.Firsts[q.index] = firsts
	for _, r := range q.runs {
		whole := true
		for _, one := range r.pieces {
			if withheld[one.request] {
				whole = false
				for i := one.from; i < one.to; i++ {
					firsts[i] = -1
				}
				continue
			}
			if one.request > 0 {
				out := &res.Requests[p.requests[one.request-1]]
				out.Parts = append(out.Parts, Part{Queue: queue.Queue, First: next, Count: one.entry.Count})
			}
			for i := one.from; i < one.to; i++ {
				firsts[i] = next
				next += int64(queue.Chunks[i].Count)
			}
		}
		if whole {
			res.add(r.entry, queue.Queue, next)
			continue
		}
		for _, one := range r.pieces {
			if !withheld[one.request] {
				res.add(one.entry, queue.Queue, firsts[one.to-1]+int64(queue.Chunks[one.to-1].Count))
			}
		}
	}
}

func (res *CommitResult) add(e Entry, queue uint32, next int64) {
	e.Queue, e.Next, e.StoredAt = queue, next, res.StoredAt
	res.Entries = append(res.Entries, e)
}
