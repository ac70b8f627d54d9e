package journal

import (
	"github.com/bucketmq/bucketmq/segment"
)

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
