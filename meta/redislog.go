package meta

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// clientLog takes what go-redis prints to standard error through a logger of
// its own. Its errors are also returned to us, so they are for debugging only.
type clientLog struct{}

func (clientLog) Printf(ctx context.Context, format string, v ...any) {
	if slog.Default().Enabled(ctx, slog.LevelDebug) {
		slog.DebugContext(ctx, "go-redis", slog.String("event", fmt.Sprintf(format, v...)))
	}
}

// The logger is a global of go-redis and may only be set before its first client.
var _ = func() bool { redis.SetLogger(clientLog{}); return true }()
