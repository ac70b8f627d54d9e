package meta

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// WriterState is what the registry knows of one writer.
type WriterState struct {
	Writer  uuid.UUID
	BeatAt  int64 // Redis time of the last heartbeat
	Retired bool  // ended in order: nothing of it is in flight
}

// Beat renews a writer's heartbeat. ErrRolledBack: Redis has forgotten earlier
// beats of this writer that it had confirmed to this DB; the beat itself was made.
func (db *DB) Beat(ctx context.Context, writer uuid.UUID) error { return db.beat(ctx, writer, "0") }

// RetireWriter marks a writer as ended: it will not append again.
func (db *DB) RetireWriter(ctx context.Context, writer uuid.UUID) error {
	return db.beat(ctx, writer, "1")
}

func (db *DB) beat(ctx context.Context, writer uuid.UUID, retired string) error {
	r, err := db.change(ctx, scriptBeat, []string{keyWriters}, string(writer[:]), retired)
	if err != nil {
		return fmt.Errorf("beat of writer %s: %w", writer, err)
	}
	count := r.number(1)
	db.mu.Lock()
	known := db.beats[writer]
	db.beats[writer] = count
	if retired == "1" {
		delete(db.beats, writer)
	}
	db.mu.Unlock()
	if count <= known {
		return fmt.Errorf("beat of writer %s: %w", writer, ErrRolledBack)
	}
	return nil
}

// Writers returns every registered writer and the Redis time to compare BeatAt with.
func (db *DB) Writers(ctx context.Context) (writers []WriterState, now int64, err error) {
	r, err := db.read(ctx, scriptListWriters, []string{keyWriters})
	if err != nil {
		return nil, 0, fmt.Errorf("list writers: %w", err)
	}
	pairs := reply(r.list(2))
	for i := 0; i+1 < len(pairs); i += 2 {
		w, ok := parseWriter(pairs.text(i), pairs.text(i+1))
		if !ok {
			return nil, 0, fmt.Errorf("list writers: %w", ErrCorrupt)
		}
		writers = append(writers, w)
	}
	return writers, r.number(1), nil
}

func parseWriter(field, value string) (w WriterState, ok bool) {
	fields := strings.Split(value, " ")
	id, err := uuid.FromBytes([]byte(field))
	if err != nil || len(fields) != 3 {
		return w, false
	}
	at, ok := parseNumber(fields[1])
	return WriterState{Writer: id, BeatAt: at, Retired: fields[2] == "1"}, ok
}

// ForgetWriter removes a writer from the registry.
func (db *DB) ForgetWriter(ctx context.Context, writer uuid.UUID) error {
	if err := db.reads.HDel(ctx, keyWriters, string(writer[:])).Err(); err != nil {
		return fmt.Errorf("forget writer %s: %w", writer, err)
	}
	return nil
}

// LastSeqs returns the last committed seq of every writer of a topic.
func (db *DB) LastSeqs(ctx context.Context, topic uuid.UUID) (map[uuid.UUID]uint64, error) {
	fields, err := db.reads.HGetAll(ctx, keyTopicWriters(topic)).Result()
	if err != nil {
		return nil, fmt.Errorf("last seqs of %s: %w", topic, err)
	}
	seqs := make(map[uuid.UUID]uint64, len(fields))
	for field, value := range fields {
		id, err := uuid.FromBytes([]byte(field))
		seq, ok := parseNumber(value)
		if err != nil || !ok {
			return nil, fmt.Errorf("last seqs of %s: %w", topic, ErrCorrupt)
		}
		seqs[id] = uint64(seq)
	}
	return seqs, nil
}
