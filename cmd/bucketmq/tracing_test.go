package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTracesAreSentToTheEndpoint(t *testing.T) {
	for name, variable := range map[string]string{"our variable": "BUCKETMQ_OTLP_ENDPOINT", "OpenTelemetry's": "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		t.Run(name, func(t *testing.T) {
			paths := make(chan string, 100)
			collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
			defer collector.Close()
			server := startServer(t, []string{variable + "=" + collector.URL}, "serve", "--data", t.TempDir())
			succeed(t, server.URL, "", "topic", "create", "t")
			if err := server.Stop(); err != nil { // sends the last spans
				t.Fatal(err)
			}
			select {
			case path := <-paths:
				if path != "/v1/traces" {
					t.Errorf("traces were sent to %s", path)
				}
			default:
				t.Error("no traces were sent")
			}
		})
	}
}
