package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"
)

// Get makes one ranged request. See Store. An answer that is not exactly the
// range is dropped as a whole and asked for again, never completed or cut.
func (s *S3) Get(ctx context.Context, key string, off, n int64) ([]byte, error) {
	return s.GetInto(ctx, key, off, n, fresh)
}

// GetInto is Get into what room returns, which is asked once for each attempt.
// See Filler.
func (s *S3) GetInto(ctx context.Context, key string, off, n int64, room func(n int64) []byte) ([]byte, error) {
	if err := errors.Join(checkKey(key), checkRange(off, n)); err != nil {
		return nil, fmt.Errorf("get %q: %w", key, err)
	}
	if n == 0 {
		return nil, nil
	}
	var body []byte
	err := s.retry(ctx, n, func(ctx context.Context) error {
		return readError(s.call(ctx, func(ctx context.Context) (err error) {
			body, err = s.fetch(ctx, key, off, n, room)
			return err
		}))
	})
	if err != nil {
		return nil, s.wrap("get", key, err)
	}
	return body, nil
}

func (s *S3) fetch(ctx context.Context, key string, off, n int64, room func(n int64) []byte) ([]byte, error) {
	var options minio.GetObjectOptions
	ranged := off != 0 || n > 0
	switch {
	case off < 0:
		options.Set("Range", fmt.Sprintf("bytes=%d", off))
	case n > 0:
		options.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	case ranged:
		options.Set("Range", fmt.Sprintf("bytes=%d-", off))
	}
	stream, info, header, err := s.core.GetObject(ctx, s.options.Bucket, s.options.Prefix+key, options)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	length := info.Size
	if ranged {
		if length, err = checkContentRange(header, off, n); err != nil {
			return nil, err
		}
	}
	if length < 0 || info.Size != length {
		return nil, fmt.Errorf("%w: %d bytes announced, %d expected", errTransient, info.Size, length)
	}
	body := room(length)[:length]
	if _, err := io.ReadFull(stream, body); err != nil {
		return nil, fmt.Errorf("%w: the body ended early: %w", errTransient, err)
	}
	return body, nil
}

// readError names the answers that a reader acts on. A 404 that no S3 service
// wrote proves nothing about the object.
func readError(err error) error {
	answer := answerOf(err)
	switch {
	case answer.code == "NoSuchKey":
		return ErrNotFound
	case answer.status == http.StatusRequestedRangeNotSatisfiable:
		return ErrRange
	}
	return err
}

// checkContentRange returns how many bytes follow. It refuses any range but the
// one asked for, and an answer with no range: that would be the whole object.
func checkContentRange(header http.Header, off, n int64) (int64, error) {
	text := header.Get("Content-Range")
	first, last, size, ok := parseContentRange(text)
	if off < 0 {
		off = max(0, size+off)
	}
	switch {
	case !ok || first != off || last < first || last >= size:
		return 0, fmt.Errorf("%w: asked for %d bytes from %d, got Content-Range %q", errTransient, n, off, text)
	case n > 0 && size < off+n:
		return 0, fmt.Errorf("%w: %d bytes from %d of %d", ErrRange, n, off, size)
	case n > 0 && last != off+n-1, n < 0 && last != size-1:
		return 0, fmt.Errorf("%w: asked for %d bytes from %d, got Content-Range %q", errTransient, n, off, text)
	}
	return last - first + 1, nil
}

// parseContentRange reads "bytes first-last/size".
func parseContentRange(text string) (first, last, size int64, ok bool) {
	text, isBytes := strings.CutPrefix(text, "bytes ")
	span, total, hasSize := strings.Cut(text, "/")
	from, to, hasSpan := strings.Cut(span, "-")
	first, err1 := strconv.ParseInt(from, 10, 64)
	last, err2 := strconv.ParseInt(to, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	ok = isBytes && hasSize && hasSpan && errors.Join(err1, err2, err3) == nil
	return first, last, size, ok
}

// pageKeys is the most that one LIST returns on any service.
const pageKeys = 1000

// List asks page by page, each from the last key of the one before, so a page
// can be asked again. See Store.
func (s *S3) List(ctx context.Context, prefix, startAfter string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		last := startAfter
		for {
			page, err := s.page(ctx, prefix, last)
			if err != nil {
				yield(Info{}, s.wrap("list", prefix, err))
				return
			}
			for _, info := range page {
				if info.Key <= last || !strings.HasPrefix(info.Key, prefix) {
					yield(Info{}, fmt.Errorf("list %s: the service lists %q after %q: it does not sort by key", prefix, info.Key, last))
					return
				}
				if !yield(info, nil) {
					return
				}
				last = info.Key
			}
			if len(page) < pageKeys {
				return
			}
		}
	}
}

func (s *S3) page(ctx context.Context, prefix, startAfter string) ([]Info, error) {
	options := minio.ListObjectsOptions{
		Prefix:     s.options.Prefix + prefix,
		Recursive:  true,
		MaxKeys:    pageKeys,
		FetchOwner: new(bool),
	}
	if startAfter != "" {
		options.StartAfter = s.options.Prefix + startAfter
	}
	var page []Info
	err := s.retry(ctx, 0, func(ctx context.Context) error {
		page = page[:0]
		return s.call(ctx, func(ctx context.Context) error { return s.fill(ctx, &page, options) })
	})
	return page, err
}

func (s *S3) fill(ctx context.Context, page *[]Info, options minio.ListObjectsOptions) error {
	for object := range s.core.ListObjectsIter(ctx, s.options.Bucket, options) {
		if object.Err != nil {
			return object.Err
		}
		if key := strings.TrimPrefix(object.Key, s.options.Prefix); !strings.HasSuffix(key, "/") {
			*page = append(*page, Info{Key: key, Size: object.Size, ModifiedAt: object.LastModified})
		}
		if len(*page) == pageKeys {
			break
		}
	}
	return ctx.Err() // the iterator ends silently with it
}
