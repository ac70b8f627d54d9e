package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

const (
	searchSegments = 200 // that a search looks through
	searchBatch    = 50  // messages of a segment, a key each
	searchBody     = 1000
)

const (
	figureSearchCold = "search by key over 200 segments, nothing in memory, ms"
	figureSearchWarm = "search by key over 200 segments, footers in memory, ms"
	figureSearchGets = "search by key over 200 segments, GETs"
	figureSearchMiB  = "search by key over 200 segments, MiB fetched of 10"
)

// roundSearch measures what it costs a gateway that has nothing in memory to find one
// message by its key, and then another one.
func (s *suite) roundSearch(ctx context.Context) error {
	writer, err := s.startGateway(ctx, "--linger", "0s")
	if err != nil {
		return err
	}
	defer writer.Kill()
	cl, topic, remove, err := s.options(writer.Server, ModeJSON, 1).topic(ctx)
	if err != nil {
		return err
	}
	defer remove()
	for n := range searchSegments {
		messages := make([]client.Message, searchBatch)
		for i := range messages {
			messages[i].Keys = []string{searchKey(n, i)}
			messages[i].SetBody([]byte(strings.Repeat("x", searchBody)))
		}
		if _, err := cl.Send(ctx, topic, messages, ""); err != nil {
			return err
		}
	}
	reader, err := s.startGateway(ctx)
	if err != nil {
		return err
	}
	defer reader.Kill()
	m, err := newMeter(ctx, reader.Server)
	if err != nil {
		return err
	}
	defer m.close()
	cold, err := searched(ctx, reader.Server, topic, searchKey(searchSegments/2, 7))
	if err != nil {
		return err
	}
	after, err := m.read(ctx)
	if err != nil {
		return err
	}
	warm, err := searched(ctx, reader.Server, topic, searchKey(searchSegments/3, 9))
	if err != nil {
		return err
	}
	s.note(figureSearchCold, milliseconds(cold))
	s.note(figureSearchWarm, milliseconds(warm))
	s.note(figureSearchGets, float64(after.gets-m.before.gets))
	s.note(figureSearchMiB, (after.received-m.before.received)/(1<<20))
	return nil
}

func searchKey(segment, i int) string { return fmt.Sprintf("order-%d-%d", segment, i) }

// searched finds the one message with a key and returns how long that took.
func searched(ctx context.Context, server Server, topic, key string) (time.Duration, error) {
	cl, err := client.New(client.Options{URL: server.URL, Token: server.Token, UserAgent: "bucketmq-bench"})
	if err != nil {
		return 0, err
	}
	began := time.Now()
	found := 0
	for search := (client.Search{Topic: topic, Key: key}); ; {
		page, err := cl.Search(ctx, search)
		if err != nil {
			return 0, err
		}
		found += len(page.Messages)
		if search.Token = page.NextToken; search.Token == "" {
			break
		}
	}
	if found != 1 {
		return 0, fmt.Errorf("a search for %s found %d messages, want 1", key, found)
	}
	return time.Since(began), nil
}
