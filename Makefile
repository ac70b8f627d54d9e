# make test    install what the tests need, then run every check and test
# make check   the same without the installing
# make bench   raw limits of this machine, what the server makes of them, the goals
# make build   the binary, ./bucketmq
# make fuzz    every fuzz target for FUZZTIME (10s)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

VERSITYGW   := github.com/versity/versitygw/cmd/versitygw@v1.8.0
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
NATS        := github.com/nats-io/nats-server/v2@v2.15.3
CENTRIFUGO  := github.com/centrifugal/centrifugo/v6@v6.9.1
FUZZTIME    ?= 10s
VERSION     ?= 0.1.0-dev
SUDO        := $(shell [ "$$(id -u)" = 0 ] || echo sudo)

.PHONY: test check go-check sdk-check gofmt vet staticcheck vuln bench build generate fuzz tools clean

test: tools
	$(MAKE) --no-print-directory check

check: gofmt vet staticcheck vuln
	$(MAKE) --no-print-directory sdk-check go-check

# The closing lines of the Go tests come last.
go-check:
	go test -race -timeout 20m ./...

sdk-check:
	cd sdk-js && npm ci --no-audit --no-fund --loglevel=error && npm run check && npm test

gofmt:
	@bad=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$bad" ]; then echo "gofmt these files:"; echo "$$bad"; exit 1; fi

vet:
	go vet ./...

staticcheck: .bin/staticcheck
	.bin/staticcheck ./...

# The database of vulnerabilities is on the network. Where it cannot be reached
# this says so and goes on; a vulnerability that is found fails.
vuln: .bin/govulncheck
	@if curl -fsS -m 10 -o /dev/null https://vuln.go.dev/index/db.json 2>/dev/null; then \
		.bin/govulncheck ./...; \
	else \
		echo "govulncheck: NOT RUN, https://vuln.go.dev cannot be reached from here"; \
	fi

# What it is compared with is optional: without it those rows say so. Centrifugo
# takes long to build: `make .bin/centrifugo` before, where its row is wanted.
bench: tools build
	@for peer in nats-server bench-jetstream; do \
		$(MAKE) --no-print-directory .bin/$$peer || echo "$$peer: NOT INSTALLED, its rows are not measured"; \
	done
	./bucketmq bench goals

build:
	go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bucketmq ./cmd/bucketmq

generate:
	go generate ./...

fuzz:
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

# Real servers for the tests: Redis, an S3 server, a browser.
tools: .bin/versitygw
	@missing=""; \
	command -v redis-server >/dev/null || missing="$$missing redis-server"; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	if [ -n "$$missing" ]; then \
		echo "installing$$missing"; \
		$(SUDO) apt-get update -qq; \
		DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	fi

.bin/versitygw:
	GOFLAGS= GOBIN=$(CURDIR)/.bin go install -trimpath -ldflags '-s -w' $(VERSITYGW)

.bin/staticcheck:
	GOFLAGS= GOBIN=$(CURDIR)/.bin go install $(STATICCHECK)

.bin/govulncheck:
	GOFLAGS= GOBIN=$(CURDIR)/.bin go install $(GOVULNCHECK)

.bin/nats-server:
	GOFLAGS= GOBIN=$(CURDIR)/.bin go install -trimpath -ldflags '-s -w' $(NATS)

.bin/centrifugo:
	GOFLAGS= GOBIN=$(CURDIR)/.bin go install -trimpath -ldflags '-s -w' $(CENTRIFUGO)

# The load of the peers is a module of its own.
.bin/bench-jetstream: $(wildcard bench/peers/go.* bench/peers/jetstream/*.go)
	cd bench/peers && GOFLAGS= go build -trimpath -o $(CURDIR)/.bin/bench-jetstream ./jetstream

clean:
	rm -rf .bin bucketmq
