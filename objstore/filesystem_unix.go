//go:build unix

package objstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// errNotDir is what the system says of a path below a file.
const errNotDir = unix.ENOTDIR

// lockFile takes the lock that tells one owner of the directory from another.
// The system releases it when the process ends, however it ends.
func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
