package gateway

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// exposedHeaders are the headers that a page of another origin may read.
var exposedHeaders = strings.Join([]string{
	"X-Request-Id", "ETag", "Location", "Retry-After", "Idempotent-Replayed", "Allow",
	"Bmq-Status", "Bmq-Next-Offset", "Bmq-Min-Offset", "Bmq-Max-Offset", "Bmq-Epoch", "Bmq-Count", "Bmq-Runs",
	"Bmq-Message-Id", "Bmq-Queue", "Bmq-Offset", "Bmq-Stored-At", "Bmq-Born-At", "Bmq-Tag", "Bmq-Keys",
	"Bmq-Ordering-Key", "Bmq-Content-Type", "Bmq-Tombstone", "Bmq-Properties-Omitted", "*",
}, ", ")

// sameOrigin reports whether a page of this origin was served by this host.
// The scheme is not compared: it is not known behind a proxy that ends TLS.
func sameOrigin(r *http.Request, origin string) bool {
	from, err := url.Parse(origin)
	if err != nil || from.Host == "" || from.Scheme != "http" && from.Scheme != "https" {
		return false
	}
	if r.TLS != nil && from.Scheme != "https" {
		return false
	}
	return strings.EqualFold(from.Host, r.Host)
}

// allowOrigin reports whether the page that sent a request, if it was one, may
// read the answer: no Origin, this host, or one of the allowed origins.
func (s *Server) allowOrigin(r *http.Request) bool {
	origins := r.Header["Origin"]
	switch len(origins) {
	case 0:
		return true
	case 1:
		return sameOrigin(r, origins[0]) || s.listedOrigin(origins[0])
	}
	return false
}

func (s *Server) listedOrigin(origin string) bool {
	return origin != "null" && slices.Contains(s.options.AllowedOrigins, origin) || slices.Contains(s.options.AllowedOrigins, "*")
}

// answerOrigin adds the CORS headers for an allowed origin and reports whether
// the request is a preflight, which they answer completely.
func (s *Server) answerOrigin(header http.Header, r *http.Request) (preflight bool) {
	header["Vary"] = varyOrigin
	origin := r.Header.Get("Origin")
	if origin == "" || !s.listedOrigin(origin) || len(r.Header["Origin"]) != 1 {
		return false
	}
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Access-Control-Expose-Headers", exposedHeaders)
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	// What the browser asks for is not parsed: the answer is the same for all.
	header.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	header.Set("Access-Control-Allow-Headers", "*, Authorization")
	header.Set("Access-Control-Max-Age", "600")
	return true
}

// validOrigin reports whether an origin of the configuration is one.
func validOrigin(origin string) bool {
	if origin == "*" {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") &&
		u.Path == "" && u.RawQuery == "" && u.Fragment == "" && u.User == nil && origin == u.Scheme+"://"+strings.ToLower(u.Host)
}
