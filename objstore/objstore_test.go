package objstore_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/objstore/objstoretest"
	"github.com/bucketmq/bucketmq/objstore/s3test"
)

func TestMain(m *testing.M) {
	runCrashChild()
	goleak.VerifyTestMain(m)
}

func TestMemoryKeepsTheContract(t *testing.T) {
	objstoretest.Run(t, func(*testing.T) objstore.Store { return objstore.NewMemory() })
}

func TestFilesystemKeepsTheContract(t *testing.T) {
	objstoretest.Run(t, func(t *testing.T) objstore.Store { return openFilesystem(t, t.TempDir()) })
}

func TestS3KeepsTheContract(t *testing.T) {
	server := s3test.New(t)
	for _, prefix := range []string{"", "team/a"} {
		t.Run("prefix="+prefix, func(t *testing.T) {
			objstoretest.Run(t, func(t *testing.T) objstore.Store {
				o := s3test.Bucket(t, server)
				o.Prefix = prefix
				return openS3(t, o)
			})
		})
	}
}

func openFilesystem(t testing.TB, dir string) *objstore.Filesystem {
	t.Helper()
	f, err := objstore.OpenFilesystem(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return f
}

func openS3(t testing.TB, o objstore.S3Options) *objstore.S3 {
	t.Helper()
	s, err := objstore.OpenS3(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
