package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// upgrades drives every documented answer to a request for a socket.
func (k *contract) upgrades(t *testing.T) {
	n := start(t, nodeOptions{})
	headers := []string{
		"Connection", "Upgrade", "Upgrade", "websocket",
		"Sec-WebSocket-Version", "13", "Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==",
	}
	s := step{operation: "openWebSocket", method: "GET", path: "/v1/ws", headers: headers, status: http.StatusSwitchingProtocols}
	req, err := n.request(s.method, s.path, "", headers...)
	must(t, err)
	input, found := k.input(t, req, s, "upgrade")
	res, err := n.client.Do(req)
	must(t, err)
	res.Body.Close()
	if res.StatusCode != s.status || res.Header.Get("Upgrade") != "websocket" || !found {
		t.Fatalf("an upgrade is answered %s", res.Status)
	}
	k.check(t, input, s.operation, answer{res.StatusCode, res.Header, nil}, "", "upgrade")

	refused := func(path string, status int, code string, more ...string) {
		s := s
		s.path, s.status, s.code, s.breaks = path, status, code, status == http.StatusBadRequest
		s.headers = append(append([]string{}, headers...), more...)
		k.run(t, n, s)
	}
	refused("/v1/ws?token=secret", 400, "unknown_parameter")
	refused("/v1/ws", 403, "origin_denied", "Origin", "https://evil.example")
	refused("/v1/ws", 426, "upgrade_required", "Upgrade", "", "Connection", "")
	refused("/v1/ws", 426, "upgrade_required", "Sec-WebSocket-Version", "8")

	gone := start(t, nodeOptions{})
	gone.redis.Stop()
	stopped := start(t, nodeOptions{})
	front := httptest.NewServer(stopped.server.Handler())
	defer front.Close()
	must(t, stopped.server.Shutdown(t.Context()))
	stopped.url = front.URL
	for code, at := range map[string]*node{"unavailable": gone, "shutting_down": stopped} {
		n = at
		refused("/v1/ws?ticket=tkt_any", 503, code)
	}
}
