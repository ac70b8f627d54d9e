package gateway

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
)

// maxRuns bounds the header that says where framed records belong. A page with
// more runs ends early: its next offset is the first record left out.
const maxRuns = 128

// readFrames answers a page of a queue as records, byte by byte as they are
// stored.
func (s *Server) readFrames(c echo.Context) error {
	page, _, err := s.readPage(c, func(*params) {})
	if err != nil {
		return err
	}
	runs, count := runsOf(page)
	next := page.Next
	if count < len(page.Messages) {
		next = page.Messages[count].Offset
	}
	size := 0
	for i := range count {
		size += len(page.Messages[i].Raw)
	}
	header := c.Response().Header()
	header.Set("Bmq-Status", page.Status)
	for name, value := range map[string]int64{
		"Bmq-Next-Offset": next, "Bmq-Min-Offset": page.Min, "Bmq-Max-Offset": page.Max, "Bmq-Epoch": page.Epoch,
		"Bmq-Count": int64(count), echo.HeaderContentLength: int64(size),
	} {
		header.Set(name, strconv.FormatInt(value, 10))
	}
	if count > 0 {
		header.Set("Bmq-Runs", runs)
	}
	header.Set(echo.HeaderContentType, bytesType)
	c.Response().WriteHeader(http.StatusOK)
	return writeRecords(c, page.Messages[:count])
}

// writeRecords sends records, small ones together.
func writeRecords(c echo.Context, messages []journal.Stored) error {
	out := newPageWriter(c)
	defer out.release()
	out.started = true
	for i := range messages {
		raw := messages[i].Raw
		if len(raw) < spillAt {
			out.b = append(out.b, raw...)
			if err := out.spill(); err != nil {
				return err
			}
			continue
		}
		if err := out.write(out.b); err != nil {
			return err
		}
		out.b = out.b[:0]
		if err := out.write(raw); err != nil {
			return err
		}
	}
	return out.write(out.b)
}

// runsOf describes, as `first+count@stored_at`, the runs of consecutive offsets
// stored at one time, and how many messages they have together.
func runsOf(page *journal.Page) (header string, count int) {
	var out []byte
	for runs := 0; count < len(page.Messages) && runs < maxRuns; runs++ {
		first, n := page.Messages[count], 1
		for count+n < len(page.Messages) {
			m := page.Messages[count+n]
			if m.Offset != first.Offset+int64(n) || m.StoredAt != first.StoredAt {
				break
			}
			n++
		}
		if runs > 0 {
			out = append(out, ',')
		}
		out = strconv.AppendInt(out, first.Offset, 10)
		out = append(out, '+')
		out = strconv.AppendInt(out, int64(n), 10)
		out = append(out, '@')
		out = strconv.AppendInt(out, first.StoredAt, 10)
		count += n
	}
	return string(out), count
}
