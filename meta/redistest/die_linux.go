package redistest

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the server when the test binary is killed and cleans nothing up.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
