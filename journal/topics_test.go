package journal

import (
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

func TestATopicIsRenewedOnceForAllWhoAsk(t *testing.T) {
	r := newRig(t, 1)
	c := newTopicCache(r.open())
	client := r.redis.Client()
	defer client.Close()
	reads := func(work func()) int {
		if err := client.ConfigResetStat(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		work()
		stats, err := client.Info(t.Context(), "commandstats").Result()
		if err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`cmdstat_hget:calls=(\d+)`).FindStringSubmatch(stats)
		if found == nil {
			return 0
		}
		n, _ := strconv.Atoi(found[1])
		return n
	}
	get := func() {
		if topic, err := c.get(t.Context(), r.topic.Name); err != nil || topic.ID != r.topic.ID {
			t.Errorf("got %+v, %v", topic, err)
		}
	}
	one := reads(get)
	if again := reads(get); one == 0 || again != 0 {
		t.Fatalf("%d reads of Redis at first, %d once it is known", one, again)
	}
	c.mu.Lock()
	c.topics[r.topic.Name] = cachedTopic{topic: r.topic, until: time.Now()}
	c.mu.Unlock()
	many := reads(func() {
		var all sync.WaitGroup
		for range 200 {
			all.Go(get)
		}
		all.Wait()
	})
	// Who saw the old topic just before the new one came may ask once more: a few on a
	// busy machine, never all.
	if many == 0 || many > 20*one {
		t.Errorf("%d reads of Redis for 200 who ask at once, want about %d", many, one)
	}
}
