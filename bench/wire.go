package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// wire is one HTTP/1.1 connection that costs the machine as little as it can,
// so that what is measured is the server: requests are built once and written
// as they are, answers are read into one buffer.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	body []byte // of the last answer; with drop, its end
	drop bool   // forget a body piece by piece while it is read, but for its end
	head []byte // of the last answer
}

// answerTimeout is the longest a request may take, long polls included.
const answerTimeout = 60 * time.Second

func dialWire(ctx context.Context, host string) (*wire, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// do writes a whole request and reads the whole answer; body and header stay
// valid until the next call.
func (w *wire) do(request []byte) (status int, err error) {
	if err := w.conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		return 0, err
	}
	if _, err := w.conn.Write(request); err != nil {
		return 0, fmt.Errorf("send: %w", err)
	}
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	if len(line) < 12 {
		return 0, fmt.Errorf("status line %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, fmt.Errorf("status line %q", line)
	}
	length, chunked, err := w.readHead()
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	w.body = w.body[:0]
	if chunked {
		err = w.readChunks()
	} else if length > 0 {
		err = w.readBody(length)
	}
	if err != nil {
		return 0, fmt.Errorf("receive: %w", err)
	}
	return status, nil
}

func (w *wire) readHead() (length int, chunked bool, err error) {
	w.head = w.head[:0]
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		if len(line) <= 2 {
			return length, chunked, nil
		}
		w.head = append(w.head, line...)
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, false, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			chunked = true
		}
	}
}

// A body that is not kept is read in pieces, and of what was read before the
// last piece at least so much is left.
const (
	dropPiece = 256 << 10
	dropLeft  = 4 << 10
)

func (w *wire) readBody(n int) error {
	if !w.drop {
		return w.readPart(n)
	}
	for n > 0 {
		if extra := len(w.body) - dropLeft; extra > 0 {
			w.body = append(w.body[:0], w.body[extra:]...)
		}
		piece := min(n, dropPiece)
		if err := w.readPart(piece); err != nil {
			return err
		}
		n -= piece
	}
	return nil
}

func (w *wire) readPart(n int) error {
	at := len(w.body)
	if cap(w.body)-at < n {
		w.body = append(make([]byte, 0, 2*(at+n)), w.body...)
	}
	w.body = w.body[:at+n]
	_, err := io.ReadFull(w.in, w.body[at:])
	return err
}

func (w *wire) readChunks() error {
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 32)
		if err != nil {
			return err
		}
		if n > 0 {
			if err := w.readBody(int(n)); err != nil {
				return err
			}
		}
		if _, err := w.in.Discard(2); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}

// header returns a header of the last answer as a number.
func (w *wire) header(name string) (int64, error) {
	for line := range bytes.SplitSeq(w.head, []byte("\n")) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(key, []byte(name)) {
			return strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
		}
	}
	return 0, fmt.Errorf("the answer has no %s", name)
}

// hostOf is the host:port of a server that speaks plain HTTP.
func hostOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("server address: %w", err)
	}
	if u.Scheme != "http" {
		return "", errors.New("the load generator speaks plain HTTP only: give an http:// address")
	}
	if u.Port() == "" {
		return u.Host + ":80", nil
	}
	return u.Host, nil
}

// rawRequest builds the bytes of a request.
func rawRequest(method, host, path, kind string, body []byte) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: bucketmq-bench\r\n", method, path, host)
	if kind != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
	}
	if method != "GET" {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	return append([]byte(b.String()), body...)
}
