//go:build !unix

package gateway

// writeOnce leaves everything to the writer, which waits.
func writeOnce(uintptr, []byte) int { return 0 }
