package main

import (
	"context"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
)

// startTracing sends spans to an OTLP/HTTP endpoint, where /v1/traces takes them,
// and returns the function that sends the last of them. Sampling follows
// OTEL_TRACES_SAMPLER; without it every request that arrives with a sampled
// parent, or none, is traced.
func startTracing(ctx context.Context, endpoint, role string) (func(context.Context) error, error) {
	if endpoint = strings.TrimRight(endpoint, "/"); !strings.HasSuffix(endpoint, "/v1/traces") {
		endpoint += "/v1/traces"
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	described, err := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", "bucketmq-"+role),
		attribute.String("service.version", version),
	))
	if err != nil {
		return nil, fmt.Errorf("tracing: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(described))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider.Shutdown, nil
}
