// Package api holds the Go types of the HTTP contract, generated from
// openapi.yaml, and the few that the generator cannot make.
package api

import (
	"fmt"
	"time"
)

//go:generate go tool oapi-codegen -config config.yaml ../../openapi.yaml

// timeLayout is RFC 3339 in UTC with exactly three digits of a second.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time of the contract in Unix milliseconds. Its text is RFC 3339 in
// UTC with milliseconds.
type Time int64

// String gives the time as the contract writes it.
func (t Time) String() string { return string(t.Append(nil)) }

// Append appends the time as the contract writes it, without quotes.
func (t Time) Append(dst []byte) []byte {
	return time.UnixMilli(int64(t)).UTC().AppendFormat(dst, timeLayout)
}

// MarshalText writes the time for JSON.
func (t Time) MarshalText() ([]byte, error) { return t.Append(nil), nil }

// UnmarshalText reads any RFC 3339 time between the years 1970 and 9999; what
// is finer than a millisecond is cut off.
func (t *Time) UnmarshalText(text []byte) error {
	parsed, err := ParseTime(string(text))
	if err == nil {
		*t = parsed
	}
	return err
}

// ParseTime reads an RFC 3339 time between the years 1970 and 9999; what is
// finer than a millisecond is cut off.
func ParseTime(s string) (Time, error) {
	at, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return 0, fmt.Errorf("not an RFC 3339 time: %w", err)
	}
	if at = at.UTC(); at.Year() < 1970 || at.Year() > 9999 {
		return 0, fmt.Errorf("the year %d is outside 1970 to 9999", at.Year())
	}
	return Time(at.UnixMilli()), nil
}
