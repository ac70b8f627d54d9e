package gateway

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/labstack/echo/v4"

	"github.com/bucketmq/bucketmq/gateway/api"
)

const (
	defaultTicketTTL = 30 * time.Second
	minTicketTTL     = time.Second
	maxTicketTTL     = 60 * time.Second
)

type ticketRequest struct {
	TTL *int64 `json:"ttl_ms"`
}

// ticketPayload is what a ticket stands for until it is used.
type ticketPayload struct {
	Principal string `json:"principal"`
}

// anonymous is the principal of every caller while nobody is asked.
const anonymous = "anonymous"

// createTicket makes a one-time ticket that opens a WebSocket.
func (s *Server) createTicket(c echo.Context) error {
	return s.answerOnce(c, "createTicket", maxControlBytes, func(ctx context.Context, body []byte) (int, any, error) {
		var request ticketRequest
		if err := decodeStrict(body, &request); err != nil {
			return 0, nil, err
		}
		ttl := defaultTicketTTL
		if request.TTL != nil {
			if *request.TTL < minTicketTTL.Milliseconds() || *request.TTL > maxTicketTTL.Milliseconds() {
				detail := strconv.FormatInt(minTicketTTL.Milliseconds(), 10) + " to " + strconv.FormatInt(maxTicketTTL.Milliseconds(), 10)
				return 0, nil, newProblem("invalid_field", "ttl_ms: "+detail, fault{Pointer: "/ttl_ms", Code: "invalid_field", Detail: detail})
			}
			ttl = time.Duration(*request.TTL) * time.Millisecond
		}
		now, err := s.meta.Now(ctx)
		if err != nil {
			return 0, nil, viaRedis(fmt.Errorf("ask the time: %w", err))
		}
		payload, err := json.Marshal(ticketPayload{Principal: anonymous})
		if err != nil {
			return 0, nil, fmt.Errorf("encode a ticket: %w", err)
		}
		token := "tkt_" + rand.Text()
		if err := s.meta.PutTicket(ctx, token, payload, ttl); err != nil {
			return 0, nil, viaRedis(fmt.Errorf("store a ticket: %w", err))
		}
		return http.StatusCreated, api.Ticket{Ticket: token, ExpiresAt: api.Time(now + ttl.Milliseconds())}, nil
	})
}
