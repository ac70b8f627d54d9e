package gateway

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"
)

const (
	// pingAfter is how long a client may be silent before it is asked whether it
	// is there, and pongWithin how long it may take to say so.
	pingAfter, pongWithin = 20 * time.Second, 10 * time.Second
	// helloWithin is how long a client may take to say hello.
	helloWithin = 10 * time.Second
	// sessionTTL is how long after its end a session can be taken up again.
	sessionTTL = time.Minute
	// mostGrace bounds how long a socket with unanswered sends stays open when
	// the server stops.
	mostGrace = 5 * time.Second
	// tickEvery is the beat of the one clock of all sockets.
	tickEvery = 250 * time.Millisecond
)

// hub has all sockets of a server.
type hub struct {
	server   *Server
	upgrader *websocket.Upgrader
	metrics  *socketMetrics
	shared   *sharedItems
	pumps    pumps
	running  sync.WaitGroup // every goroutine of every socket, and the clock

	ctx  context.Context // of everything that a socket asks the journal
	stop context.CancelFunc

	mu       sync.Mutex
	sockets  map[*socket]struct{} // guarded by mu
	sessions map[string]*socket   // guarded by mu; those that said hello
	ticking  bool                 // guarded by mu; the clock runs while there are sockets
	draining bool                 // guarded by mu
	secret   []byte               // guarded by mu; signs session keys; nil = not known yet
}

func newHub(s *Server) *hub {
	h := &hub{
		server: s, upgrader: newUpgrader(), metrics: newSocketMetrics(s.options.Registry), shared: newSharedItems(),
		sockets: make(map[*socket]struct{}), sessions: make(map[string]*socket),
	}
	h.pumps = pumps{hub: h, byKey: make(map[pumpKey]*pump)}
	h.ctx, h.stop = context.WithCancel(context.Background())
	s.onShutdown(h.drain)
	return h
}

// open starts a socket over a connection that was upgraded.
func (h *hub) open(conn *websocket.Conn, w *wire, bin bool, requestID string, refused closing) {
	s := newSocket(h, conn, w, bin, requestID)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining { // nobody would wait for it any more
		why := websocket.FormatCloseMessage(closeShutdown, "shutdown")
		_ = conn.WriteControl(websocket.CloseMessage, why, time.Now().Add(time.Second))
		_ = conn.Close()
		return
	}
	h.sockets[s] = struct{}{}
	h.metrics.open.Inc()
	if !h.ticking {
		h.ticking = true
		h.running.Go(h.tick)
	}
	if refused.code != 0 {
		s.close(refused)
	}
	h.running.Go(s.run)
}

// leave forgets a socket that has ended.
func (h *hub) leave(s *socket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sockets, s)
	if h.sessions[s.session] == s {
		delete(h.sessions, s.session)
	}
	h.metrics.open.Dec()
}

// tick is the clock of all sockets. It ends with the last one.
func (h *hub) tick() {
	ticker := time.NewTicker(tickEvery)
	defer ticker.Stop()
	var all []*socket
	for now := range ticker.C {
		all = h.all(all[:0])
		if len(all) == 0 {
			return
		}
		for _, s := range all {
			s.tick(now)
		}
		h.pumps.retry(now)
		clear(all)
	}
}

// all lists the sockets. When there is none the clock stops.
func (h *hub) all(into []*socket) []*socket {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.sockets {
		into = append(into, s)
	}
	h.ticking = len(into) > 0
	return into
}

// drain tells every client to go elsewhere, each after another pause, answers
// what they have sent, and closes. It returns when all sockets have ended.
func (h *hub) drain(ctx context.Context) {
	grace := mostGrace
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, max(0, time.Until(deadline)-time.Second))
	}
	h.mu.Lock()
	h.draining = true
	var all []*socket
	for s := range h.sockets {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.goAway(grace)
	}
	ended := make(chan struct{})
	go func() {
		h.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		for _, s := range h.all(nil) {
			s.cut()
		}
		h.stop()
		<-ended
	}
	h.stop()
}

// reconnectAfter spreads clients that have to connect again.
func reconnectAfter() time.Duration {
	return time.Duration(retryLeastMS+rand.Int64N(retryMostMS-retryLeastMS)) * time.Millisecond
}

// key proves that a client had a session. Every gateway of the bucket makes the
// same one, from the bucket's id. It is empty while that is not known.
func (h *hub) key(session string) string {
	secret := h.bucketSecret()
	if secret == nil {
		return ""
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("session " + session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:18])
}

func (h *hub) bucketSecret() []byte {
	h.mu.Lock()
	secret := h.secret
	h.mu.Unlock()
	if secret != nil {
		return secret
	}
	ctx, cancel := context.WithTimeout(h.ctx, 2*time.Second)
	defer cancel()
	state, err := h.server.meta.State(ctx)
	if err != nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.secret = state.StoreID[:]
	return h.secret
}

// begin gives a session to a socket that said hello: the one that it had if it
// can prove it, taking it from an older socket, else a new one.
func (h *hub) begin(s *socket, resume *sessionClaim) (key string, resumed bool) {
	var session string
	if resume != nil {
		proof := h.key(resume.Session)
		resumed = proof != "" && hmac.Equal([]byte(proof), []byte(resume.Key))
	}
	if resumed {
		session = resume.Session
	} else {
		session = newRequestID()
	}
	h.mu.Lock()
	older := h.sessions[session]
	h.sessions[session] = s
	s.session = session
	h.mu.Unlock()
	if older != nil {
		older.close(closing{closeSessionTaken, "session_taken"})
	}
	return h.key(session), resumed
}

// socketMetrics counts sockets.
type socketMetrics struct {
	open   prometheus.Gauge
	closed *prometheus.CounterVec
	sent   prometheus.Counter
	stalls prometheus.Counter
}

func newSocketMetrics(registry prometheus.Registerer) *socketMetrics {
	m := &socketMetrics{
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "bucketmq_ws_sockets", Help: "Open WebSockets.",
		}),
		closed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "bucketmq_ws_closed_total", Help: "WebSockets closed by the server, by close code.",
		}, []string{"code"}),
		sent: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_ws_messages_sent_total", Help: "Messages queued for subscribers.",
		}),
		stalls: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "bucketmq_ws_stalled_total", Help: "Subscriptions that had messages and no credit.",
		}),
	}
	if registry != nil {
		registry.MustRegister(m.open, m.closed, m.sent, m.stalls)
	}
	return m
}

func (m *socketMetrics) closedWith(code int) { m.closed.WithLabelValues(strconv.Itoa(code)).Inc() }
