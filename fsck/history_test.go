package fsck_test

import (
	"testing"

	"github.com/bucketmq/bucketmq/fsck"
	"github.com/bucketmq/bucketmq/objstore"
	"github.com/bucketmq/bucketmq/segment"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestHolesInASequence(t *testing.T) {
	type stored struct {
		writer   uuid.UUID
		seq      uint64
		receipts []segment.Receipt
		burnt    []uint64
	}
	one := stored{writer: writerA, seq: 1}
	tests := []struct {
		name string
		log  []stored
		want fsck.Writer // of writer A
	}{
		{
			"in flight when its writer died", []stored{one, {writer: writerA, seq: 4, receipts: []segment.Receipt{receipt(writerA, 1)}}},
			fsck.Writer{Segments: 2, LastSeq: 4, NeverStored: []fsck.Range{{First: 2, Last: 3}}},
		}, {
			"given up", []stored{one, {writer: writerA, seq: 3, burnt: []uint64{2}}, {writer: writerA, seq: 4, receipts: []segment.Receipt{receipt(writerA, 3)}}},
			fsck.Writer{Segments: 3, LastSeq: 4, Burnt: []fsck.Range{{First: 2, Last: 2}}},
		}, {
			"below a receipted seq", []stored{one, {writer: writerA, seq: 4}, {writer: writerA, seq: 5, receipts: []segment.Receipt{receipt(writerA, 4)}}},
			fsck.Writer{Segments: 3, LastSeq: 5, Missing: []fsck.Range{{First: 2, Last: 3}}},
		}, {
			"the first", []stored{{writer: writerA, seq: 2}, {writer: writerA, seq: 3, receipts: []segment.Receipt{receipt(writerA, 2)}}},
			fsck.Writer{Segments: 2, LastSeq: 3, Missing: []fsck.Range{{First: 1, Last: 1}}},
		}, {
			"the last, receipted by another writer", []stored{one, {writer: writerB, seq: 1, receipts: []segment.Receipt{receipt(writerA, 2)}}},
			fsck.Writer{Segments: 1, LastSeq: 1, Missing: []fsck.Range{{First: 2, Last: 2}}},
		}, {
			"all, receipted by another writer", []stored{{writer: writerB, seq: 1, receipts: []segment.Receipt{receipt(writerA, 1)}}},
			fsck.Writer{Missing: []fsck.Range{{First: 1, Last: 1}}},
		}, {
			"another writer's receipt proves only its own seq", []stored{one, {writer: writerA, seq: 3}, {writer: writerB, seq: 1, receipts: []segment.Receipt{receipt(writerA, 3)}}},
			fsck.Writer{Segments: 2, LastSeq: 3, NeverStored: []fsck.Range{{First: 2, Last: 2}}},
		}, {
			"given up and yet committed", []stored{one, {writer: writerA, seq: 3, burnt: []uint64{2}}, {writer: writerB, seq: 1, receipts: []segment.Receipt{receipt(writerA, 2)}}},
			fsck.Writer{Segments: 2, LastSeq: 3, Burnt: []fsck.Range{{First: 2, Last: 2}}, Missing: []fsck.Range{{First: 2, Last: 2}}},
		}, {
			"given up and stored later", []stored{one, {writer: writerA, seq: 2}, {writer: writerA, seq: 3, burnt: []uint64{2}}},
			fsck.Writer{Segments: 3, LastSeq: 3, Burnt: []fsck.Range{{First: 2, Last: 2}}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := objstore.NewMemory()
			for _, s := range tt.log {
				body, _ := object(s.writer, s.seq, s.receipts, s.burnt...)
				put(t, store, segment.ObjectKey(s.writer, s.seq), body)
			}
			r := run(t, store, fsck.Options{})
			tt.want.Writer = writerA
			if diff := cmp.Diff(tt.want, r.Writers[0]); diff != "" {
				t.Error(diff)
			}
			if len(r.Faults) != len(tt.want.Missing) {
				t.Errorf("faults: %+v", r.Faults)
			}
			for i, f := range r.Faults {
				if f.Kind != fsck.MissingSegment || f.Key != segment.ObjectKey(writerA, tt.want.Missing[i].First) {
					t.Errorf("fault: %+v", f)
				}
			}
		})
	}
}
