package gateway

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
	"github.com/bucketmq/bucketmq/journal"
	"github.com/bucketmq/bucketmq/meta"
)

const (
	// deadAfter is how old a writer's heartbeat may be.
	deadAfter = 30 * time.Second
	// askTimeout bounds each question of the cluster page.
	askTimeout = time.Second
)

// getCluster answers the cluster as this gateway sees it. It fails for no
// part: what cannot be asked is shown as such.
func (s *Server) getCluster(c echo.Context) error {
	ctx := c.Request().Context()
	cluster := api.Cluster{
		Gateway:  s.journal.Writer().String(),
		Gateways: []api.ClusterWriter{},
		Writers:  []api.ClusterWriter{},
		Redis:    health(ctx, s.meta.Ping),
		Store:    api.Health{Status: "unknown"},
		Segments: &api.SegmentCounts{Written: s.journal.Segments()},
	}
	if s.options.Probe != nil {
		cluster.Store = health(ctx, s.options.Probe)
	}
	if cluster.Redis.Status == "ok" {
		if err := s.askRedis(ctx, &cluster); err != nil {
			s.log.WarnContext(ctx, "cluster page is incomplete", "err", err, "request_id", requestID(c))
			detail := "it answers, but not every question"
			cluster.Redis = api.Health{Status: "failing", Detail: &detail}
		}
	}
	return writeJSON(c, http.StatusOK, cluster)
}

// askRedis fills in what Redis knows of the cluster.
func (s *Server) askRedis(ctx context.Context, cluster *api.Cluster) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	state, err := s.meta.State(ctx)
	switch {
	case errors.Is(err, meta.ErrNoState):
		phase := meta.PhaseRecovering
		cluster.Phase = &phase
	case err != nil:
		return fmt.Errorf("state: %w", err)
	default:
		id := state.StoreID.String()
		cluster.StoreId, cluster.Phase = &id, &state.Phase
	}
	holder, term, led, err := s.meta.LeaseHolder(ctx, meta.LeaseCoordinator)
	if err != nil {
		return fmt.Errorf("coordinator: %w", err)
	}
	if led {
		cluster.Coordinator = &api.ClusterLeader{Holder: holder.String(), Term: term}
	}
	writers, now, err := s.meta.Writers(ctx)
	if err != nil {
		return fmt.Errorf("writers: %w", err)
	}
	slices.SortFunc(writers, func(a, b meta.WriterState) int { return strings.Compare(a.Writer.String(), b.Writer.String()) })
	for _, w := range writers {
		shown := api.ClusterWriter{Writer: w.Writer.String(), State: "live", BeatAt: api.Time(w.BeatAt)}
		switch {
		case w.Retired:
			shown.State = "retired"
		case now-w.BeatAt > deadAfter.Milliseconds():
			shown.State = "dead"
		default:
			cluster.Gateways = append(cluster.Gateways, shown)
		}
		cluster.Writers = append(cluster.Writers, shown)
	}
	return nil
}

// health asks one part whether it works.
func health(ctx context.Context, ask func(context.Context) error) api.Health {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	start := time.Now()
	if err := ask(ctx); err != nil {
		detail := "it does not answer" // the error may name addresses
		return api.Health{Status: "failing", Detail: &detail}
	}
	took := time.Since(start).Milliseconds()
	return api.Health{Status: "ok", LatencyMs: &took}
}

// indexReady says whether the state in Redis may be used. Without this an
// empty Redis would look like a cluster without topics.
func (s *Server) indexReady(ctx context.Context) error {
	state, err := s.meta.State(ctx)
	if err != nil {
		return viaRedis(fmt.Errorf("ask the state: %w", err))
	}
	if state.Phase != meta.PhaseReady {
		return meta.ErrRecovering
	}
	return nil
}

// viaRedis marks the error of a question to Redis that got no proper answer:
// it cannot be reached, is loading, or is no master now. What meta says on
// purpose stays as it is.
func viaRedis(err error) error {
	if err == nil || errors.Is(err, meta.ErrCorrupt) {
		return err
	}
	if _, expected := toProblem(err); expected {
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrUnavailable, err)
}
