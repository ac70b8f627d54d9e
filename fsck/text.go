package fsck

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
)

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Faults {
		fmt.Fprintf(out, "FAULT %s %s", f.Kind, f.Key)
		if b := f.Block; b != nil {
			fmt.Fprintf(out, " [%s]", b)
		}
		fmt.Fprintf(out, ": %s\n", f.Detail)
	}
	if r.FaultsOmitted > 0 {
		fmt.Fprintf(out, "FAULT … and %d more\n", r.FaultsOmitted)
	}
	for _, wr := range r.Writers {
		fmt.Fprintf(out, "writer %s: %d segments, last seq %d", wr.Writer, wr.Segments, wr.LastSeq)
		writeRanges(out, "burnt", wr.Burnt)
		writeRanges(out, "missing", wr.Missing)
		writeRanges(out, "never stored", wr.NeverStored)
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "%d objects, %d bytes: %d segments, %d blocks (%d damaged), %d records (%d delayed, %d of transactions), %d receipts\n",
		r.Objects, r.Bytes, r.Segments, r.Blocks, r.DamagedBlocks, r.Records, r.Delayed, r.Half, r.Receipts)
	switch n := int64(len(r.Faults)) + r.FaultsOmitted; {
	case !r.Complete:
		fmt.Fprintf(out, "%d faults so far; the check did not come to its end\n", n)
	case n == 0:
		fmt.Fprintln(out, "no faults")
	default:
		fmt.Fprintf(out, "%d faults\n", n)
	}
	return out.Flush()
}

func writeRanges(out io.Writer, title string, ranges []Range) {
	if len(ranges) == 0 {
		return
	}
	parts := make([]string, len(ranges))
	for i, r := range ranges {
		parts[i] = r.String()
	}
	fmt.Fprintf(out, "; %s: %s", title, strings.Join(parts, ", "))
}

// WriteText writes the segment and each of its blocks for people.
func (o Object) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s %d bytes", o.Key, o.Size)
	if !o.CreatedAt.IsZero() {
		fmt.Fprintf(out, ", created %s", o.CreatedAt.Format(time.RFC3339Nano))
	}
	fmt.Fprintf(out, ", %d blocks, %d receipts", len(o.Blocks), o.Receipts)
	if len(o.Burnt) > 0 {
		fmt.Fprintf(out, ", burnt %d", o.Burnt)
	}
	if o.Faults > 0 {
		fmt.Fprintf(out, ", %d FAULTS", o.Faults)
	}
	fmt.Fprintln(out)
	for _, b := range o.Blocks {
		fmt.Fprintf(out, "  %s\n", b)
	}
	return out.Flush()
}

// String describes the block on one line.
func (b Block) String() string {
	s := fmt.Sprintf("block at %d, %d bytes, %s, topic %s queue %d, %d records", b.Position, b.Length, b.Kind, b.Topic, b.Queue, b.Count)
	if b.Due != 0 {
		s += ", due " + time.UnixMilli(b.Due).UTC().Format(time.RFC3339Nano)
	}
	if b.Transaction != uuid.Nil {
		s += ", half messages of " + b.Transaction.String()
	}
	if b.Identity {
		s += ", with identity"
	}
	if b.Fault != "" {
		s += ", " + strings.ToUpper(string(b.Fault))
	}
	return s
}
