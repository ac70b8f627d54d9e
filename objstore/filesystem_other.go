//go:build !unix

package objstore

import (
	"errors"
	"os"
)

var errNotDir = errors.New("not a directory")

// lockFile refuses: without flock and fsync of directories the store cannot keep
// what it promises.
func lockFile(*os.File) error {
	return errors.New("the filesystem store needs a Unix system")
}
