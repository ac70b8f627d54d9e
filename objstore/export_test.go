package objstore

import (
	"io"
	"os"
	"time"
)

// SetWrite replaces how object files are written, for tests of a full disk.
func (f *Filesystem) SetWrite(write func(f *os.File, body []byte) error) { f.write = write }

// SetSync replaces fsync, for tests of what is synced and of a failing disk.
func (f *Filesystem) SetSync(sync func(f *os.File) error) { f.sync = sync }

// SignBodies makes the store hash and sign bodies as it does over http to
// another machine, and leave out the checksum that would also see a change.
func (s *S3) SignBodies() {
	s.signed = true
	s.plain.Store(true)
}

// SetPatience says how soon a start tells what it waits for.
func (s *S3) SetPatience(d time.Duration) { s.patience = d }

// LentBody is the body of a request, and what ends it.
func LentBody(body []byte) (io.Reader, func()) {
	l := &lent{rest: body}
	return l, l.takeBack
}
