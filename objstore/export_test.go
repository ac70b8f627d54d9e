package objstore

import "os"

// SetWrite replaces how object files are written, for tests of a full disk.
func (f *Filesystem) SetWrite(write func(f *os.File, body []byte) error) { f.write = write }

// SetSync replaces fsync, for tests of what is synced and of a failing disk.
func (f *Filesystem) SetSync(sync func(f *os.File) error) { f.sync = sync }
