package s3test

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// endWithParent lets no server outlive a test binary that was killed.
func endWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// supportsXattr says whether the server can keep its metadata beside the files.
func supportsXattr(dir string) bool {
	return unix.Setxattr(dir, "user.bucketmq", []byte("1"), 0) == nil
}
