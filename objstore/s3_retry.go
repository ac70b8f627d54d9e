package objstore

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/minio/minio-go/v7"
)

// errTransient marks an answer that must not be believed, such as a short read.
var errTransient = errors.New("objstore: unusable answer")

// fault is what an error of one attempt says.
type fault struct {
	retry   bool // the next attempt may succeed
	refused bool // the service surely did not carry the request out
	slow    bool // the service asks for fewer requests
}

// judge sorts the errors of one attempt. What it does not know is retried and
// counts as possibly carried out.
func judge(err error) fault {
	if answer := answerOf(err); answer.status != 0 {
		return judgeAnswer(answer)
	}
	var dial *net.OpError
	var certificate *tls.CertificateVerificationError
	var client minio.ErrorResponse
	switch {
	case errors.As(err, &certificate):
		return fault{refused: true}
	case errors.As(err, &dial) && dial.Op == "dial":
		return fault{retry: true, refused: true}
	case errors.As(err, &client): // the client itself found the request wrong
		return fault{refused: true}
	case isFinal(err):
		return fault{}
	}
	return fault{retry: true}
}

// isFinal says whether the error is an answer to the caller, no fault.
func isFinal(err error) bool {
	return errors.Is(err, ErrNotFound) || errors.Is(err, ErrRange) || errors.Is(err, ErrExists)
}

func judgeAnswer(answer answerError) fault {
	switch answer.code {
	case "SlowDown", "SlowDownRead", "SlowDownWrite", "Throttling", "ThrottlingException", "RequestLimitExceeded":
		return fault{retry: true, refused: true, slow: true}
	case "RequestTimeout", "ExpiredToken", "BadDigest", "IncompleteBody", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch":
		return fault{retry: true, refused: true} // spoilt on the way, or new credentials are on theirs
	}
	switch status := answer.status; {
	case status == http.StatusTooManyRequests:
		return fault{retry: true, refused: true, slow: true}
	case status == http.StatusConflict:
		return fault{retry: true, refused: true} // S3: a conditional write met another one
	case status == http.StatusRequestTimeout:
		return fault{retry: true}
	case status == http.StatusNotImplemented:
		return fault{refused: true}
	case status == http.StatusServiceUnavailable:
		return fault{retry: true, slow: true}
	case status >= 500:
		return fault{retry: true}
	}
	return fault{refused: true}
}

// retry calls attempt until it succeeds, fails for good or ctx ends, with
// growing, jittered pauses. size is how many bytes an attempt moves.
func (s *S3) retry(ctx context.Context, size int64, attempt func(ctx context.Context) error) error {
	pause := &backoff.ExponentialBackOff{
		InitialInterval:     50 * time.Millisecond,
		RandomizationFactor: 0.5,
		Multiplier:          2,
		MaxInterval:         2 * time.Second,
	}
	var last error
	final := false
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		if err := s.pace.wait(ctx); err != nil {
			return struct{}{}, backoff.Permanent(err)
		}
		limited, cancel := context.WithTimeout(ctx, s.attemptTimeout(size))
		defer cancel()
		err := attempt(limited)
		if err == nil {
			s.pace.faster()
			return struct{}{}, nil
		}
		if last == nil || ctx.Err() == nil {
			last = err // an attempt that ctx cut short tells nothing new
		}
		verdict := judge(err)
		if verdict.slow {
			s.pace.slower()
		}
		if !verdict.retry {
			final = true
			return struct{}{}, backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(pause), backoff.WithMaxElapsedTime(0))
	if err != nil && last != nil && !final {
		return fmt.Errorf("%w (before that: %w)", err, last)
	}
	return err
}

// answerOf returns what the service answered, or the zero value.
func answerOf(err error) answerError {
	var answer *answerError
	if errors.As(err, &answer) {
		return *answer
	}
	return answerError{}
}

func (s *S3) attemptTimeout(size int64) time.Duration {
	if size < 0 {
		size = 64 << 20 // unknown: as large as an object of ours may be
	}
	return s.options.AttemptTimeout + time.Duration(size)*time.Second/(4<<20)
}
