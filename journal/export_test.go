package journal

import "testing"

// PoisonMemory overwrites memory as soon as it is given back, also without the
// race detector. Nothing may run meanwhile but the test.
func PoisonMemory(t *testing.T) {
	before := poison
	poison = true
	t.Cleanup(func() { poison = before })
}
