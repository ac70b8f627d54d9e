// Package fsck reads a whole log and reports what is in it and every fault. It
// changes nothing, needs no Redis and trusts no checksum that it has not
// computed.
package fsck

import (
	"context"
	"fmt"

	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/uuid"
)

// Options of Run. The zero value is fine.
type Options struct {
	ReadBytes int64 // most that is fetched at once, unless one block or footer is larger; 0 = 16 MiB
	MaxFaults int   // faults kept in the report, the others are counted; 0 = 1000

	Object   func(Object)   // called with each segment once it has been checked, in key order
	Progress func(Progress) // called after each object
}

// Progress says how far Run has come.
type Progress struct {
	Key     string // of the last object
	Objects int64
	Bytes   int64
	Blocks  int64
	Faults  int64
}

const (
	defaultReadBytes = 16 << 20
	defaultMaxFaults = 1000

	// maxLateLookups bounds how many missing segments are looked for once more.
	maxLateLookups = 100
)

// Run checks every object of the log, one at a time. What it finds wrong is in
// Report.Faults; an error says that the check itself could not go on, and the
// report then covers what was seen before. It may run beside writers.
func Run(ctx context.Context, store objstore.Store, opts Options) (Report, error) {
	if opts.ReadBytes <= 0 {
		opts.ReadBytes = defaultReadBytes
	}
	if opts.MaxFaults <= 0 {
		opts.MaxFaults = defaultMaxFaults
	}
	c := &checker{store: store, opts: opts, writers: make(map[uuid.UUID]*history)}
	c.report.Writers, c.report.Faults = []Writer{}, []Fault{}
	for info, err := range store.List(ctx, segment.KeyPrefix, "") {
		if err != nil {
			return c.report, fmt.Errorf("list %s: %w", segment.KeyPrefix, err)
		}
		if err := c.check(ctx, info); err != nil {
			return c.report, err
		}
	}
	if err := c.finish(ctx); err != nil {
		return c.report, err
	}
	c.report.Complete = true
	return c.report, nil
}

type checker struct {
	store   objstore.Store
	opts    Options
	report  Report
	writers map[uuid.UUID]*history
	late    bool // the listing is over
}

// check checks one listed object. Its error is the end of ctx and nothing else.
func (c *checker) check(ctx context.Context, info objstore.Info) error {
	c.report.Objects++
	c.report.Bytes += info.Size
	writer, seq, err := segment.ParseObjectKey(info.Key)
	if err != nil {
		c.fault(Fault{Kind: StrayKey, Key: info.Key, Detail: err.Error()})
	} else {
		o := &object{c: c, bytes: window{store: c.store, info: info, readBytes: c.opts.ReadBytes}}
		o.result = Object{Key: info.Key, Size: info.Size, Writer: writer, Seq: seq, Blocks: []Block{}}
		if err := o.check(ctx); err != nil {
			return err
		}
		c.history(writer).seen.add(seq, seq)
		c.report.Segments++
		if c.opts.Object != nil {
			c.opts.Object(o.result)
		}
	}
	if c.opts.Progress != nil {
		c.opts.Progress(Progress{
			Key: info.Key, Objects: c.report.Objects, Bytes: c.report.Bytes, Blocks: c.report.Blocks,
			Faults: int64(len(c.report.Faults)) + c.report.FaultsOmitted,
		})
	}
	return nil
}

func (c *checker) fault(f Fault) {
	if len(c.report.Faults) >= c.opts.MaxFaults {
		c.report.FaultsOmitted++
		return
	}
	c.report.Faults = append(c.report.Faults, f)
}

func (c *checker) history(writer uuid.UUID) *history {
	h := c.writers[writer]
	if h == nil {
		h = &history{}
		c.writers[writer] = h
	}
	return h
}
