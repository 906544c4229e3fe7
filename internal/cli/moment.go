package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// moment is a flag for a time: in RFC 3339 format, as a day, or as a duration from now.
type moment struct {
	at   time.Time
	past bool // durations count back into the past
}

// String implements pflag.Value.
func (m *moment) String() string {
	if m.at.IsZero() {
		return ""
	}
	return m.at.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (m *moment) Type() string { return "time" }

// Set implements pflag.Value.
func (m *moment) Set(text string) error {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			m.at = at
			return nil
		}
	}
	span, err := parseSpan(text)
	if err != nil {
		return errors.New("use a timestamp such as 2030-05-17T12:00:00Z or a duration such as 10m, 2h or 90d")
	}
	if m.past {
		span = -span
	}
	m.at = time.Now().Add(span)
	return nil
}

// proto returns the time as an API message, or nil if it was not given.
func (m *moment) proto() *timestamppb.Timestamp {
	if m.at.IsZero() {
		return nil
	}
	return timestamppb.New(m.at)
}

// parseSpan parses a duration that may begin with days.
func parseSpan(text string) (time.Duration, error) {
	before, after, ok := strings.Cut(text, "d")
	if !ok {
		return time.ParseDuration(text)
	}
	days, err := strconv.ParseUint(before, 10, 16)
	if err != nil {
		return 0, err
	}
	span := time.Duration(days) * 24 * time.Hour
	if after == "" {
		return span, nil
	}
	rest, err := time.ParseDuration(after)
	if err == nil && rest < 0 {
		err = errors.New("the duration has more than one sign")
	}
	return span + rest, err
}
