// Package message converts between jobs or sweeps and API messages. The service and its
// workers share it, so that no field is forgotten in one direction.
package message

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// Time converts a time to its API form. It returns nil if the time is zero.
func Time(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

// TimeOf converts a time from its API form. It returns the zero time for nil.
func TimeOf(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

// Duration converts a duration to its API form. It returns nil if the duration is zero.
func Duration(d time.Duration) *durationpb.Duration {
	if d == 0 {
		return nil
	}
	return durationpb.New(d)
}
