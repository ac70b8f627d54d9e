package gateway_test

import (
	"testing"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/bucketmq/bucketmq/gateway"
)

func TestSpansContinueTheCallersTraceUnderTheOperationsName(t *testing.T) {
	recorder := tracetest.NewSpanRecorder()
	provider := trace.NewTracerProvider(trace.WithSpanProcessor(recorder))
	before, propagator := otel.GetTracerProvider(), otel.GetTextMapPropagator()
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	defer func() {
		otel.SetTracerProvider(before)
		otel.SetTextMapPropagator(propagator)
	}()
	n := start(t, nodeOptions{gateway: func(o *gateway.Options) { o.Tracing = true }})
	const id = "4bf92f3577b34da6a3ce929d0e0e4736"
	n.call("GET", "/v1/topics/missing", "", "traceparent", "00-"+id+"-00f067aa0ba902b7-01").want(t, 404)
	n.stop()
	for _, span := range recorder.Ended() {
		if span.Name() == "getTopic" && span.SpanContext().TraceID().String() == id {
			return
		}
	}
	t.Errorf("no span getTopic of trace %s among %d", id, len(recorder.Ended()))
}
