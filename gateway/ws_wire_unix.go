//go:build unix

package gateway

import "syscall"

// writeOnce writes what the connection takes without waiting. Faults are left to
// the next write that waits.
func writeOnce(fd uintptr, p []byte) int {
	n, err := syscall.Write(int(fd), p)
	if err != nil {
		return 0
	}
	return n
}
