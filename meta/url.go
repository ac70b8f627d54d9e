package meta

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// ParseURL reads where Redis is:
//
//	redis://user:password@host:port/db            one server (rediss:// with TLS)
//	sentinel://user:password@host:port,host:port/master
//	cluster://user:password@host:port,host:port
//
// User and password are those of Redis; sentinels that want a login of their own
// get it as ?sentinel_username=…&sentinel_password=…. Several cluster:// or sentinel:// URLs add up their hosts; ?tls=true turns
// TLS on for those two. Errors never repeat the URL: it may hold a password.
func ParseURL(urls []string) (Options, error) {
	var o Options
	for i, text := range urls {
		one, err := parseURL(text)
		if err != nil {
			return Options{}, fmt.Errorf("redis url %d: %w", i+1, err)
		}
		if i == 0 {
			o = one
			continue
		}
		if one.Mode != o.Mode || one.Mode == ModeStandalone {
			return Options{}, fmt.Errorf("redis url %d: several urls must all be cluster:// or all sentinel://", i+1)
		}
		o.Addrs = append(o.Addrs, one.Addrs...)
	}
	if len(urls) == 0 {
		return Options{}, errors.New("redis url is missing")
	}
	return o, nil
}

func parseURL(text string) (Options, error) {
	u, list, err := splitHosts(strings.TrimSpace(text))
	if err != nil {
		return Options{}, errors.New("malformed")
	}
	o := Options{}
	secure := u.Scheme == "rediss"
	path := strings.Trim(u.Path, "/")
	switch u.Scheme {
	case "redis", "rediss":
		o.Mode = ModeStandalone
		if path != "" {
			if o.DB, err = strconv.Atoi(path); err != nil || o.DB < 0 {
				return Options{}, errors.New("the path must be the number of a database")
			}
		}
	case "sentinel":
		if path == "" {
			return Options{}, errors.New("the path must be the name of the master")
		}
		o.Mode, o.MasterName = ModeSentinel, path
		o.SentinelUsername, o.SentinelPassword = u.Query().Get("sentinel_username"), u.Query().Get("sentinel_password")
	case "cluster":
		if path != "" {
			return Options{}, errors.New("a cluster has no databases to choose from")
		}
		o.Mode = ModeCluster
	default:
		return Options{}, errors.New("the scheme must be redis, rediss, sentinel or cluster")
	}
	if o.Mode != ModeStandalone {
		secure = u.Query().Get("tls") == "true"
	}
	if o.Addrs, err = hosts(list, o.Mode); err != nil {
		return Options{}, err
	}
	o.Username = u.User.Username()
	o.Password, _ = u.User.Password()
	if secure {
		o.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return o, nil
}

// splitHosts parses a URL whose host may be a list, which net/url does not know.
func splitHosts(text string) (u *url.URL, list string, err error) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return nil, "", errors.New("no scheme")
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	start := strings.LastIndex(rest[:end], "@") + 1
	list = rest[start:end]
	u, err = url.Parse(scheme + "://" + rest[:start] + "hosts" + rest[end:])
	return u, list, err
}

func hosts(list, mode string) ([]string, error) {
	port := "6379"
	if mode == ModeSentinel {
		port = "26379"
	}
	var addrs []string
	for _, host := range strings.Split(list, ",") {
		// As a URL of its own, each host is checked by net/url.
		u, err := url.Parse("host://" + host)
		if err != nil || u.Hostname() == "" || u.Host != host {
			return nil, errors.New("a host is missing or malformed")
		}
		if u.Port() != "" {
			addrs = append(addrs, host)
			continue
		}
		addrs = append(addrs, net.JoinHostPort(u.Hostname(), port))
	}
	if mode == ModeStandalone && len(addrs) > 1 {
		return nil, errors.New("one server has one host; use cluster:// or sentinel://")
	}
	return addrs, nil
}
