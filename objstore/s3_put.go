package objstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"sync"

	"github.com/minio/minio-go/v7"
)

// checksumHeader lets the service refuse a body that changed on the way.
const checksumHeader = "x-amz-checksum-crc32c"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Put sends the object as one conditional request. See Store.
//
// The service's "already there" is no verdict yet: it is also what our own
// repeated request meets when only the first answer was lost. So the object is
// read and compared.
func (s *S3) Put(ctx context.Context, key string, body []byte) error {
	if err := checkKey(key); err != nil {
		return fmt.Errorf("put: %w: %w", ErrNotStored, err)
	}
	upload := s.prepare(key, body)
	unsure := false // an attempt may have been carried out, or may still be
	err := s.retry(ctx, int64(len(body)), func(ctx context.Context) error {
		err := s.send(ctx, upload)
		switch {
		case err == nil:
			return nil
		case isTaken(err):
			return s.compare(ctx, upload)
		case !judge(err).refused:
			unsure = true
		}
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrExists):
		return fmt.Errorf("put %s: %w", key, ErrExists)
	case !unsure && !errors.Is(err, errTransient):
		return s.wrap("put", key, fmt.Errorf("%w: %w", ErrNotStored, err))
	}
	return s.wrap("put", key, err)
}

// upload is one object on its way.
type upload struct {
	key      string
	body     []byte
	sha256   string // hex, when bodies are signed
	options  minio.PutObjectOptions
	checksum bool
}

func (s *S3) prepare(key string, body []byte) upload {
	u := upload{key: key, body: body, checksum: !s.plain.Load()}
	u.options = minio.PutObjectOptions{
		ContentType:          "application/octet-stream",
		DisableMultipart:     true,
		DisableContentSha256: true, // no chunked signature; sha256 below signs the whole
	}
	u.options.SetMatchETagExcept("*")
	if s.signed {
		sum := sha256.Sum256(body)
		u.sha256 = hex.EncodeToString(sum[:])
	}
	if u.checksum {
		sum := binary.BigEndian.AppendUint32(nil, crc32.Checksum(body, castagnoli))
		u.options.UserMetadata = map[string]string{checksumHeader: base64.StdEncoding.EncodeToString(sum)}
	}
	return u
}

// send makes one request, or two when the service turns out to refuse the
// checksum header; it then goes without from there on.
func (s *S3) send(ctx context.Context, u upload) error {
	err := s.request(ctx, u)
	if !u.checksum || !isUnsupported(err) {
		return err
	}
	u.options.UserMetadata = nil
	err = s.request(ctx, u)
	if err == nil || isTaken(err) {
		s.plain.Store(true)
	}
	return err
}

func (s *S3) request(ctx context.Context, u upload) error {
	return s.call(ctx, func(ctx context.Context) error {
		body := &lent{rest: u.body}
		defer body.takeBack()
		_, err := s.core.PutObject(ctx, s.options.Bucket, s.options.Prefix+u.key,
			body, int64(len(u.body)), "", u.sha256, u.options)
		return err
	})
}

// lent is a body until its request has returned. A request that was given up may
// still be sending in the background, and must not send what the caller has put
// into the same memory since.
type lent struct {
	mu    sync.Mutex
	rest  []byte // guarded by mu
	ended bool   // guarded by mu
}

var errTakenBack = errors.New("objstore: the request was given up")

func (l *lent) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.ended:
		return 0, errTakenBack
	case len(l.rest) == 0:
		return 0, io.EOF
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lent) takeBack() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest, l.ended = nil, true
}

func isTaken(err error) bool {
	return answerOf(err).status == http.StatusPreconditionFailed
}

// isUnsupported says whether a service may have meant the checksum header.
func isUnsupported(err error) bool {
	switch answerOf(err).code {
	case "NotImplemented", "InvalidArgument", "InvalidRequest":
		return true
	}
	return false
}

// compare tells our own object from another's. A difference is read twice: a bit
// that flips on the way back must not make a stored object look lost.
func (s *S3) compare(ctx context.Context, u upload) error {
	for range 2 {
		same := false
		err := s.call(ctx, func(ctx context.Context) (err error) {
			same, err = s.holds(ctx, u)
			return err
		})
		if err != nil {
			// Not %w of a final answer: an object that has vanished since is put again.
			return fmt.Errorf("%w: compare with what is stored: %v", errTransient, err)
		}
		if same {
			return nil
		}
	}
	return ErrExists
}

func (s *S3) holds(ctx context.Context, u upload) (bool, error) {
	body, info, _, err := s.core.GetObject(ctx, s.options.Bucket, s.options.Prefix+u.key, minio.GetObjectOptions{})
	if err != nil {
		return false, err
	}
	defer func() { _ = body.Close() }()
	if info.Size >= 0 && info.Size != int64(len(u.body)) {
		return false, nil
	}
	stored := make([]byte, len(u.body))
	if _, err := io.ReadFull(body, stored); err != nil {
		return false, err
	}
	return bytes.Equal(stored, u.body), nil
}
