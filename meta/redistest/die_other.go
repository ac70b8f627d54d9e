//go:build !linux

package redistest

import "os/exec"

// dieWithParent needs Linux: elsewhere a server outlives a test binary that is killed.
func dieWithParent(*exec.Cmd) {}
