package gateway

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/journal"
)

const (
	// maxRuns bounds the header that says where framed records belong. A page with
	// more runs ends early: its next offset is the first record left out.
	maxRuns = 128
	// maxFrames bounds limit of a read of records: they are not looked at one by
	// one, so that only their bytes count.
	maxFrames = journal.MaxRawMessages
)

// readFrames answers a page of a queue as records, byte by byte as they are
// stored.
func (s *Server) readFrames(c echo.Context) error {
	page, _, err := s.readPage(c, func(p *params, read *journal.Read) {
		read.Raw = true
		read.MaxMessages = int(p.integer("limit", defaultReadItems, 1, maxFrames))
	})
	if err != nil {
		return err
	}
	defer page.Release()
	f := framesOf(page)
	header := c.Response().Header()
	header.Set("Bmq-Status", page.Status)
	for name, value := range map[string]int64{
		"Bmq-Next-Offset": f.next, "Bmq-Min-Offset": page.Min, "Bmq-Max-Offset": page.Max, "Bmq-Epoch": page.Epoch,
		"Bmq-Count": int64(f.count), echo.HeaderContentLength: int64(f.bytes),
	} {
		header.Set(name, strconv.FormatInt(value, 10))
	}
	if f.count > 0 {
		header.Set("Bmq-Runs", string(f.header))
	}
	header.Set(echo.HeaderContentType, bytesType)
	c.Response().WriteHeader(http.StatusOK)
	return writeRuns(c, f.runs)
}

// framedPage is what is answered of a page.
type framedPage struct {
	runs   []journal.Run
	header []byte // `first+count@stored_at` of each run of consecutive offsets stored at one time
	count  int    // messages
	bytes  int
	next   int64
}

func framesOf(page *journal.Page) framedPage {
	f := framedPage{next: page.Next}
	var open journal.Run // runs are told together when they follow each other
	told := 0
	for i, run := range page.Runs {
		if i > 0 && run.First == open.First+int64(open.Count) && run.StoredAt == open.StoredAt {
			open.Count += run.Count
		} else {
			if told == maxRuns {
				f.next = run.First
				break
			}
			f.tell(open)
			open = run
			told++
		}
		f.runs = page.Runs[:i+1]
		f.count += run.Count
		f.bytes += len(run.Raw)
	}
	f.tell(open)
	return f
}

func (f *framedPage) tell(run journal.Run) {
	if run.Count == 0 {
		return
	}
	if len(f.header) > 0 {
		f.header = append(f.header, ',')
	}
	f.header = strconv.AppendInt(f.header, run.First, 10)
	f.header = append(f.header, '+')
	f.header = strconv.AppendInt(f.header, int64(run.Count), 10)
	f.header = append(f.header, '@')
	f.header = strconv.AppendInt(f.header, run.StoredAt, 10)
}

// writeRuns sends records as they lie, small runs together.
func writeRuns(c echo.Context, runs []journal.Run) error {
	out := newPageWriter(c)
	defer out.release()
	out.started = true
	for i := range runs {
		raw := runs[i].Raw
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
