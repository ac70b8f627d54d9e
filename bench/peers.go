package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/gorilla/websocket"
)

// errNoPeer says that another product is not installed, so that there is
// nothing to compare with.
var errNoPeer = errors.New("not measured here")

// The programs that `make bench` installs, where it can.
const (
	natsServer      = "nats-server"
	natsLoad        = "bench-jetstream"
	centrifugo      = "centrifugo"
	withoutNATS     = "needs " + natsServer + " and " + natsLoad + " in .bin (published: 79-97 k/s, 2.7 k/s with fsync)"
	withoutCentrifu = "needs Centrifugo in .bin (published: 204-249 k deliveries/s)"
)

// findTool looks where make puts a program, then in PATH.
func findTool(name string) (string, error) {
	if path := filepath.Join(".bin", name); exists(path) {
		return filepath.Abs(path)
	}
	return exec.LookPath(name)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// jetStream is a NATS server with a stream on files.
type jetStream struct {
	load, url string
	pending   int // messages each of its 16 publishers has under way
}

// startJetStream starts one that is as durable as asked: "" acknowledges what
// is not synced, its default; "always" syncs before.
func (s *suite) startJetStream(ctx context.Context, sync string, pending int) (*jetStream, error) {
	server, err := findTool(natsServer)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errNoPeer, withoutNATS)
	}
	load, err := findTool(natsLoad)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errNoPeer, withoutNATS)
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "jetstream-")
	if err != nil {
		return nil, err
	}
	if sync != "" {
		sync = "sync_interval: " + sync
	}
	config := filepath.Join(dir, "server.conf")
	text := fmt.Sprintf("listen: %q\njetstream {\n store_dir: %q\n %s\n}\n", addr, dir, sync)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return &jetStream{load, "nats://" + addr, pending}, s.out.start(ctx, addr, nil, server, "--config", config, "--log", filepath.Join(dir, "log"))
}

// startPeers starts what can be compared with; what is not there is skipped.
func (s *suite) startPeers(ctx context.Context) (err error) {
	if s.lazy, err = s.startJetStream(ctx, "", 500); err == nil {
		s.synced, err = s.startJetStream(ctx, "always", 64)
	}
	if errors.Is(err, errNoPeer) {
		for _, name := range []string{figureJetStream, figureJetStreamSynced, figureJetStreamRead} {
			s.skip(name, err)
		}
		return nil
	}
	return err
}

// run publishes 1 KiB messages for a step, and reads them back if asked to.
func (j *jetStream) run(ctx context.Context, s *suite, read bool) (published, readBack float64, err error) {
	cmd := exec.CommandContext(ctx, j.load, "--url", j.url, "--size", "1024", "--publishers", "16",
		"--pending", strconv.Itoa(j.pending), "--length", s.Step.String(), "--read="+strconv.FormatBool(read))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	var r struct {
		Publish float64 `json:"publish_per_second"`
		Read    float64 `json:"read_per_second"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return 0, 0, fmt.Errorf("result: %w", err)
	}
	return r.Publish, r.Read, nil
}

// roundJetStream compares batches on files, synced before they are
// acknowledged, with JetStream on files.
func (s *suite) roundJetStream(ctx context.Context) error {
	if s.lazy == nil || s.synced == nil {
		return nil
	}
	lazy, read, err := s.lazy.run(ctx, s, true)
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	synced, _, err := s.synced.run(ctx, s, false)
	if err != nil {
		return fmt.Errorf("jetstream with sync always: %w", err)
	}
	ours := s.latest("framed ingest, embedded, MiB/s") * 1024 // messages of 1 KiB
	s.note("JetStream async×16, ack before fsync, messages/s", lazy)
	s.note("JetStream async×16, fsync before ack, messages/s", synced)
	s.note("JetStream ordered consumer, messages/s", read)
	s.note(figureJetStream, ours/lazy)
	s.note(figureJetStreamSynced, ours/synced)
	s.note(figureJetStreamRead, s.latest("catch-up framed, MiB/s")*1024/read)
	return nil
}

const centrifugoConfig = `{"http_server": {"address": "127.0.0.1", "port": %s}, "log": {"level": "error"},
 "client": {"insecure": true, "allowed_origins": ["*"]}, "http_api": {"insecure": true}}`

// centrifugoFanOut measures deliveries a second of one publisher to the same
// crowd of subscribers.
func (s *suite) centrifugoFanOut(ctx context.Context) (float64, error) {
	binary, err := findTool(centrifugo)
	if err != nil {
		return 0, fmt.Errorf("%w: %s", errNoPeer, withoutCentrifu)
	}
	addr, err := freeAddress()
	if err != nil {
		return 0, err
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	config := filepath.Join(s.dir, "centrifugo.json")
	if err := os.WriteFile(config, fmt.Appendf(nil, centrifugoConfig, port), 0o600); err != nil {
		return 0, err
	}
	services := &outside{} // ends with this round
	defer services.stop()
	if err := services.start(ctx, addr, nil, binary, "--config", config); err != nil {
		return 0, err
	}
	f, err := openFanOut(func() (*frames, error) {
		return dialFrames(ctx, websocket.Dialer{ReadBufferSize: 1024, WriteBufferSize: 1024},
			"ws://"+addr+"/connection/websocket", func(conn *websocket.Conn) error {
				w := &socket{conn: conn}
				if err := w.exchange(`{"id":1,"connect":{}}`, `"connect"`); err != nil {
					return err
				}
				return w.exchange(`{"id":2,"subscribe":{"channel":"bench"}}`, `"subscribe"`)
			})
	})
	if err != nil {
		return 0, err
	}
	defer f.close()
	body := filler(fanOutBytes)
	body[0] = fanOutMark
	publish := rawRequest("POST", addr, "/api/publish", "application/json", fmt.Appendf(nil, `{"channel":"bench","data":%q}`, body))
	senders, stop, err := openSenders(ctx, addr, publish, fanOutSenders)
	if err != nil {
		return 0, err
	}
	defer stop()
	perSecond, _, err := f.run(ctx, s.Step, 1, senders)
	return perSecond, err
}
