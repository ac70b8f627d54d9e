package objstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/minio/minio-go/v7/pkg/lifecycle"
)

const (
	probeContenders = 32
	probeRounds     = 3
	probeDir        = "probe/"
)

// Probe checks what the store relies on and cannot see later: the bucket is
// there and may be listed, no lifecycle rule would eat its objects, and of many
// concurrent conditional PUTs exactly one wins and can be read at once. It waits
// for a service that does not answer yet until ctx ends. It leaves nothing behind.
func (s *S3) Probe(ctx context.Context) error {
	if err := s.await(ctx, s.probeBucket); err != nil {
		return s.wrap("probe", s.options.String(), err)
	}
	if err := s.probeLifecycle(ctx); err != nil {
		return s.wrap("probe", s.options.String(), err)
	}
	if err := s.probeRace(ctx); err != nil {
		return s.wrap("probe", s.options.String(), err)
	}
	return nil
}

func (s *S3) probeBucket(ctx context.Context) error {
	for _, err := range s.List(ctx, probeDir, "") {
		if err == nil {
			break
		}
		switch answer := answerOf(err); answer.code {
		case "NoSuchBucket":
			return fmt.Errorf("%w: %w", ErrNoBucket, err)
		case "AccessDenied":
			return fmt.Errorf("the access key may not list the bucket: %w", err)
		case "InvalidAccessKeyId", "SignatureDoesNotMatch", "XAdminUserNotFound":
			return fmt.Errorf("the access key or the secret key is wrong: %w", err)
		case "RequestTimeTooSkewed":
			return fmt.Errorf("this machine's clock is wrong: %w", err)
		}
		return err
	}
	return nil
}

// probeLifecycle refuses rules that would delete or archive objects of ours.
func (s *S3) probeLifecycle(ctx context.Context) error {
	var config *lifecycle.Configuration
	err := s.retry(ctx, 0, func(ctx context.Context) error {
		return s.call(ctx, func(ctx context.Context) (err error) {
			config, err = s.core.GetBucketLifecycle(ctx, s.options.Bucket)
			return err
		})
	})
	if err != nil {
		return s.judgeNoLifecycle(err)
	}
	for _, rule := range config.Rules {
		if s.endangers(rule) {
			return fmt.Errorf("lifecycle rule %q would expire or archive stored messages: remove it, or limit it to another prefix than %q",
				rule.ID, s.options.Prefix)
		}
	}
	return nil
}

// judgeNoLifecycle tells a service without lifecycle rules from one that fails.
func (s *S3) judgeNoLifecycle(err error) error {
	answer := answerOf(err)
	switch {
	case answer.code == "NoSuchLifecycleConfiguration", answer.status == http.StatusNotFound,
		answer.status == http.StatusNotImplemented, answer.status == http.StatusMethodNotAllowed,
		answer.status == http.StatusBadRequest:
		return nil
	case answer.status == http.StatusForbidden:
		s.options.Log.Warn("the access key may not read the bucket's lifecycle rules: make sure that none expires its objects",
			"bucket", s.options.Bucket)
		return nil
	}
	return fmt.Errorf("read the lifecycle rules: %w", err)
}

func (s *S3) endangers(rule lifecycle.Rule) bool {
	expires := rule.Expiration.Days > 0 || !rule.Expiration.Date.IsZero()
	archives := rule.Transition.StorageClass != ""
	tagged := !rule.RuleFilter.Tag.IsEmpty() || len(rule.RuleFilter.And.Tags) > 0 // our objects have no tags
	if rule.Status != "Enabled" || tagged || (!expires && !archives) {
		return false
	}
	prefix := rule.Prefix + rule.RuleFilter.Prefix + rule.RuleFilter.And.Prefix // at most one is set
	return strings.HasPrefix(prefix, s.options.Prefix) || strings.HasPrefix(s.options.Prefix, prefix)
}

// probeRace repeats a race whose outcome a fault has blurred.
func (s *S3) probeRace(ctx context.Context) error {
	var blurred error
	for range probeRounds {
		key := probeDir + uuid.NewString()
		winners, unclear, err := s.race(ctx, key)
		if err == nil && unclear == nil {
			err = s.checkWinner(ctx, key, winners)
		}
		s.removeProbe(ctx, key)
		if err != nil || unclear == nil {
			return err
		}
		blurred = unclear
	}
	return fmt.Errorf("the service failed during each of %d checks of conditional PUT: %w", probeRounds, blurred)
}

// race lets all contenders put different bytes under one key. unclear is set
// when a contender's outcome is not known, err when the service refuses.
func (s *S3) race(ctx context.Context, key string) (winners []string, unclear, err error) {
	var wg sync.WaitGroup
	results := make([]error, probeContenders)
	for i := range results {
		wg.Go(func() { results[i] = s.contend(ctx, key, contender(i)) })
	}
	wg.Wait()
	for i, result := range results {
		switch {
		case result == nil:
			winners = append(winners, contender(i))
		case isTaken(result): // lost, as all but one must
		case !judge(result).retry && ctx.Err() == nil:
			return nil, nil, fmt.Errorf("put a probe object: %w", result)
		default:
			unclear = result
		}
	}
	return winners, unclear, ctx.Err()
}

func contender(i int) string { return fmt.Sprintf("contender %02d", i) }

// contend puts once; only what was surely refused is repeated.
func (s *S3) contend(ctx context.Context, key, body string) error {
	var outcome error
	err := s.retry(ctx, 0, func(ctx context.Context) error {
		err := s.send(ctx, s.prepare(key, []byte(body)))
		if verdict := judge(err); err != nil && verdict.retry && verdict.refused {
			return err
		}
		outcome = err
		return nil
	})
	return errors.Join(outcome, err)
}

func (s *S3) checkWinner(ctx context.Context, key string, winners []string) error {
	if len(winners) != 1 {
		return fmt.Errorf("%d of %d concurrent PUTs with If-None-Match succeeded, and exactly one must: "+
			"this service does not protect objects from being overwritten and cannot be used", len(winners), probeContenders)
	}
	body, err := s.Get(ctx, key, 0, -1)
	if err != nil {
		return fmt.Errorf("read the probe object right after it was put: %w", err)
	}
	if string(body) != winners[0] {
		return errors.New("the probe object holds the bytes of a PUT that the service refused: it cannot be used")
	}
	part, err := s.Get(ctx, key, 1, 3)
	if err != nil || string(part) != winners[0][1:4] {
		return fmt.Errorf("the service does not answer ranged reads: %w", errors.Join(err, errTransient))
	}
	for info, err := range s.List(ctx, key, "") {
		if err != nil || info.Key != key {
			return fmt.Errorf("list the probe object: %w", errors.Join(err, errTransient))
		}
		return nil
	}
	return errors.New("the service does not list an object right after it was put: recovery could miss messages")
}

// removeProbe cleans up also when the caller has given up.
func (s *S3) removeProbe(ctx context.Context, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := s.Delete(ctx, key); err != nil {
		s.options.Log.Warn("the probe object was not removed", "key", key, "error", err)
	}
}
