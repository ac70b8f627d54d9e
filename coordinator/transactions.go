package coordinator

import (
	"context"
	"fmt"
	"time"
)

// sweepTransactions does for as long as this process leads what no producer does
// about transactions: a decision whose process died is seen through, what nobody
// decides expires, and old ones are forgotten. Checks themselves are taken by the
// gateways that have a live producer: so each that counts was sent.
func (c *coordinator) sweepTransactions(ctx context.Context) {
	tick := time.NewTicker(c.TransactionsEvery)
	defer tick.Stop()
	for {
		done, err := c.transactions.Sweep(ctx)
		if err != nil {
			c.failed(ctx, fmt.Errorf("look at the transactions: %w", err))
		}
		c.metrics.transactionsUndecided.Set(float64(done.Undecided))
		c.metrics.transactionsExpired.Add(float64(done.Expired))
		c.metrics.transactionsSettled.Add(float64(done.Settled))
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
