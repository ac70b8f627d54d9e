package main

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTracesAreSentToTheEndpoint(t *testing.T) {
	for _, row := range []struct{ variable, path string }{
		{"BUCKETMQ_OTLP_ENDPOINT", ""}, {"BUCKETMQ_OTLP_ENDPOINT", "/v1/traces"}, {"OTEL_EXPORTER_OTLP_ENDPOINT", "/"},
	} {
		t.Run(row.variable+row.path, func(t *testing.T) {
			paths := make(chan string, 100)
			collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.Path }))
			defer collector.Close()
			server := startServer(t, []string{row.variable + "=" + collector.URL + row.path}, "serve", "--data", t.TempDir())
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
