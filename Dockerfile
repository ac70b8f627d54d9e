# One static binary in an image without a shell, run as user 65532:
#   docker build -t bucketmq .
#   docker run --read-only -p 127.0.0.1:8080:8080 -v bucketmq:/data \
#     -e BUCKETMQ_LISTEN=0.0.0.0:8080 -e BUCKETMQ_INSECURE=true bucketmq
# Only /data is written to, and only by `serve`.

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=0.1.0-dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/bucketmq ./cmd/bucketmq \
    && mkdir /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/bucketmq /bucketmq
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
WORKDIR /data
VOLUME /data
ENV BUCKETMQ_DATA=/data BUCKETMQ_LOG_FORMAT=json
# HTTP and WebSocket; health, metrics and profiles.
EXPOSE 8080 9190
ENTRYPOINT ["/bucketmq"]
CMD ["serve"]
