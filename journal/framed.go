package journal

import (
	"github.com/bucketmq/bucketmq/segment"
)

// Records is memory of the journal's for the records of one request: what is
// read into it from the network is copied once, into the segment, and the memory
// is used for another request. The zero value is none.
type Records struct{ buffer }

// LendRecords returns room for n bytes.
func LendRecords(n int) Records { return Records{takeBuffer(n)} }

// None says that there is no memory.
func (r *Records) None() bool { return r.b == nil }

// Bytes is the memory, of length 0.
func (r *Records) Bytes() []byte { return r.b[:0] }

// Release gives the memory back, if no draft has taken it over. It must not be
// used any more.
func (r *Records) Release() { r.release() }

// AddRecords is AddFramed of what was written to r from its start on. When it
// returns nil, r is none: the draft has the memory, or needs it no more.
func (d *Draft) AddRecords(r *Records, records []byte, queue int64) error {
	if err := d.AddFramed(records, queue); err != nil {
		return err
	}
	if cap(r.b) > 0 && len(d.parts) > 0 {
		first, p := &r.b[:1][0], &d.parts[0].records
		if &records[0] == first && &p.b[0] == first { // kept as it lies
			*p = buffer{b: records, from: r.from}
			r.buffer = buffer{}
		}
	}
	r.release()
	return nil
}

// AddFramed adds a plain concatenation of encoded records, whose ids and born
// times it fills in where they stand. While all messages of the draft go to one
// queue nothing is copied: the journal keeps records until they are stored, and
// the caller must never touch them again.
//
// An *InvalidError says which record is malformed or breaks which limit; the
// draft must not be appended then.
func (d *Draft) AddFramed(records []byte, queue int64) error {
	fresh := d.count == 0
	adopt := fresh // every record so far goes to the one part, from the first byte on
	for off := 0; off < len(records); {
		r, n, err := segment.DecodeRecord(records[off:])
		if err != nil {
			return fault{"records", CodeMalformed, err.Error()}.at(d.count)
		}
		r.BornAt = d.bornAt
		if err := d.admit(&r, n); err != nil {
			return err
		}
		to, err := d.target(queue, r.OrderingKey)
		if err != nil {
			return err
		}
		segment.StampRecord(records[off:], segment.MessageID(d.base, d.count), d.bornAt)
		if adopt && len(d.parts) == 1 && d.find(to) < 0 {
			adopt = false
			d.parts[0].records.grow(off)
			d.parts[0].records.b = append(d.parts[0].records.b, records[:off]...)
		}
		p := d.place(to)
		if !adopt {
			p.records.grow(n)
			p.records.b = append(p.records.b, records[off:off+n]...)
		}
		d.counted(p, &r, n)
		off += n
	}
	if adopt && len(d.parts) == 1 {
		d.parts[0].records = buffer{b: records[:len(records):len(records)]}
	}
	return nil
}
