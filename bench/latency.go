package bench

import (
	"math"
	"math/bits"
	"time"
)

// latencies counts durations in buckets about 1.6 % wide, in bounded memory.
// The zero value is ready; it is for one goroutine.
type latencies struct {
	counts [64 * perOctave]uint64
	total  uint64
}

const (
	octaveBits = 6
	perOctave  = 1 << octaveBits
)

func (l *latencies) add(d time.Duration) {
	l.counts[bucketOf(uint64(max(d, 0)))]++
	l.total++
}

func (l *latencies) merge(other *latencies) {
	for i, n := range other.counts {
		l.counts[i] += n
	}
	l.total += other.total
}

// quantile is the duration that a share q of all were below or at.
func (l *latencies) quantile(q float64) time.Duration {
	if l.total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(l.total)))
	var seen uint64
	for i, n := range l.counts {
		if seen += n; n > 0 && seen >= rank {
			return time.Duration(bucketEnd(i))
		}
	}
	return 0
}

func bucketOf(v uint64) int {
	if v < perOctave {
		return int(v)
	}
	shift := bits.Len64(v) - octaveBits - 1
	return (shift+1)*perOctave + int(v>>shift) - perOctave
}

func bucketEnd(i int) uint64 {
	if i < perOctave {
		return uint64(i)
	}
	shift := i/perOctave - 1
	return (uint64(i%perOctave)+perOctave+1)<<shift - 1
}

// Quantiles are the latencies that a report names, in milliseconds.
type Quantiles struct {
	P50  float64 `json:"p50"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p999"`
}

func (l *latencies) quantiles() *Quantiles {
	if l.total == 0 {
		return nil
	}
	return &Quantiles{milliseconds(l.quantile(0.5)), milliseconds(l.quantile(0.99)), milliseconds(l.quantile(0.999))}
}

func milliseconds(d time.Duration) float64 {
	return math.Round(float64(d)/float64(time.Microsecond)) / 1000
}
