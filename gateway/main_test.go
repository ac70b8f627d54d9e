package gateway_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(fanOutServer); url != "" {
		fanOutClient(url)
		return
	}
	goleak.VerifyTestMain(m)
}
