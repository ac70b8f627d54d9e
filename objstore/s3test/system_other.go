//go:build !linux

package s3test

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }

// supportsXattr is not asked elsewhere: a side directory always works.
func supportsXattr(string) bool { return false }
