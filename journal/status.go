package journal

import "github.com/google/uuid"

// Writer is the id under which this process writes its segments.
func (j *Journal) Writer() uuid.UUID { return j.writer.id }

// Segments is how many segments this process has sealed since it started.
func (j *Journal) Segments() int64 {
	j.writer.mu.Lock()
	defer j.writer.mu.Unlock()
	return int64(j.writer.flusher.seq)
}
