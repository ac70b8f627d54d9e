package client_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/bucketmq/bucketmq/client"
)

func serve(t *testing.T, h http.HandlerFunc) *client.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	cl, err := client.New(client.Options{URL: server.URL + "/", Token: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func TestProblemIsOneLineWithCodeAndRequest(t *testing.T) {
	cl := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"title":"No such topic","status":404,"code":"topic_not_found","detail":"there is no topic orders",
			"request_id":"r-1","retryable":false,"definite":true,"errors":[{"pointer":"path:topic","code":"x","detail":"unknown"}]}`)
	})
	_, err := cl.Topic(t.Context(), "orders")
	got, want := fmt.Sprint(err), "No such topic: there is no topic orders; path:topic unknown (topic_not_found, request r-1)"
	if got != want {
		t.Errorf("error:\n got %s\nwant %s", got, want)
	}
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Status != 404 || !problem.Definite {
		t.Errorf("problem: %+v", problem)
	}
}

func TestAnswerOfAProxyIsAProblemToo(t *testing.T) {
	cl := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>bad gateway</html>")
	})
	_, err := cl.Info(t.Context())
	var problem *client.Problem
	if !errors.As(err, &problem) || problem.Status != 502 || problem.RetryAfter() != 3*time.Second {
		t.Fatalf("got %v (%+v), want status 502 and Retry-After 3 s", err, problem)
	}
}

func TestNoAnswerIsUnreachable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	cl, err := client.New(client.Options{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cl.Info(t.Context()); !errors.Is(err, client.ErrUnreachable) {
		t.Errorf("got %v, want ErrUnreachable", err)
	}
}

func TestAddressMustBeHTTP(t *testing.T) {
	for _, address := range []string{"127.0.0.1:8080", "ftp://x", "http://", "http://\x00"} {
		if _, err := client.New(client.Options{URL: address}); err == nil {
			t.Errorf("address %q was accepted", address)
		}
	}
}

func TestTopicsFollowsPages(t *testing.T) {
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "Bearer secret" {
			t.Errorf("Authorization: %q", got)
		}
		if r.URL.Query().Get("page_token") == "" {
			fmt.Fprint(w, `{"items":[{"topic":"a"},{"topic":"b"}],"next_page_token":"b"}`)
			return
		}
		fmt.Fprint(w, `{"items":[{"topic":"c"}],"new_field":1}`)
	})
	var names []string
	for topic, err := range cl.Topics(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, topic.Name)
	}
	if got := strings.Join(names, " "); got != "a b c" {
		t.Errorf("topics: got %q, want %q", got, "a b c")
	}
}

func TestSendKeepsTextAndBytes(t *testing.T) {
	var sent struct {
		Messages []map[string]any `json:"messages"`
	}
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal(body, &sent); err != nil {
			t.Error(err)
		}
		if got := r.Header.Get("Idempotency-Key"); got != "k1" {
			t.Errorf("Idempotency-Key: %q", got)
		}
		if got := r.URL.EscapedPath(); got != "/v1/topics/a%2Fb/messages" {
			t.Errorf("path: %s", got)
		}
		fmt.Fprint(w, `{"stored":3,"failed":0,"results":[{"index":0,"status":"stored","queue":1,"offset":7}]}`)
	})
	messages := make([]client.Message, 3)
	messages[0].SetBody([]byte("grüße"))
	messages[1].SetBody([]byte{0xff, 0})
	result, err := cl.Send(t.Context(), "a/b", messages, "k1")
	if err != nil || result.Stored != 3 || result.Results[0].Offset != 7 {
		t.Fatalf("got %+v, %v", result, err)
	}
	if got := sent.Messages[0]["body"]; got != "grüße" || sent.Messages[0]["encoding"] != nil {
		t.Errorf("text: %v", sent.Messages[0])
	}
	if got := sent.Messages[1]["body"]; got != "/wA=" || sent.Messages[1]["encoding"] != "base64" {
		t.Errorf("bytes: %v", sent.Messages[1])
	}
	if got, there := sent.Messages[2]["body"]; got != nil || !there {
		t.Errorf("tombstone: %v", sent.Messages[2])
	}
}

func TestReadAsksForWhatWasSaid(t *testing.T) {
	var asked string
	cl := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.RequestURI()
		fmt.Fprint(w, `{"status":"found","next_offset":9,"messages":[{"offset":8,"body":"aGk=","encoding":"base64"},{"offset":9,"body":null}]}`)
	})
	page, err := cl.Read(t.Context(), client.Read{Topic: "t", Queue: 3, Offset: 8, Limit: 2, Wait: time.Second, Tags: "a || b", Clamp: true})
	if err != nil {
		t.Fatal(err)
	}
	want := "/v1/topics/t/queues/3/messages?clamp=true&limit=2&offset=8&tags=a+%7C%7C+b&wait_ms=1000"
	if asked != want {
		t.Errorf("asked:\n got %s\nwant %s", asked, want)
	}
	body, err := page.Messages[0].Bytes()
	if err != nil || string(body) != "hi" || page.Messages[0].Queue != 3 {
		t.Errorf("first message: %q of queue %d, %v", body, page.Messages[0].Queue, err)
	}
	if body, err := page.Messages[1].Bytes(); body != nil || err != nil {
		t.Errorf("tombstone: %q, %v", body, err)
	}
}
