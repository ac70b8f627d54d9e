package objstore_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/objstore"
)

// A service that is slow to read gets nothing that was put into the same memory
// after Put was given up.
func TestS3PutIsDoneWithTheBodyWhenItReturns(t *testing.T) {
	given, read := make(chan struct{}), make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := make([]byte, 64<<10)
		n, _ := io.ReadFull(r.Body, got)
		<-given
		rest, _ := io.ReadAll(r.Body) // it ends early
		select {
		case read <- append(got[:n], rest...):
		default: // a second attempt
		}
	}))
	defer server.Close()
	s := openS3(t, objstore.S3Options{Endpoint: server.URL, Bucket: "bucket", AccessKey: "a", SecretKey: "secret-key"})
	body := bytes.Repeat([]byte{'a'}, 16<<20)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := s.Put(ctx, "log/a/1", body); err == nil {
		t.Fatal("it was not given up")
	}
	copy(body, bytes.Repeat([]byte{'x'}, len(body)))
	close(given)
	got := <-read
	if n := bytes.Count(got, []byte{'x'}); n > 0 || len(got) == 0 {
		t.Errorf("of %d bytes that arrived %d are from later", len(got), n)
	}
}

// Closing the connection usually comes first, and then the test above cannot
// tell: so what the transport still reads is tested for itself.
func TestABodyThatWasTakenBackIsNotReadAnyMore(t *testing.T) {
	body := []byte("0123456789")
	in, takeBack := objstore.LentBody(body)
	got := make([]byte, 4)
	if n, err := in.Read(got); n != 4 || err != nil || string(got) != "0123" {
		t.Fatalf("read %q, %v", got[:n], err)
	}
	takeBack()
	copy(body, "xxxxxxxxxx")
	if n, err := in.Read(got); n != 0 || err == nil || err == io.EOF {
		t.Errorf("taken back: read %q, %v", got[:n], err)
	}
	in, _ = objstore.LentBody([]byte("0123456789"))
	if all, err := io.ReadAll(in); string(all) != "0123456789" || err != nil {
		t.Errorf("read %q, %v", all, err)
	}
}
