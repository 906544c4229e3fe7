package hold

import "time"

const (
	// SampleEvery is the length of the period that a sample covers.
	SampleEvery = 10 * time.Second
	// SamplesKept is the maximum number of stored samples: those of one day.
	SamplesKept = 24 * 60 * 6
)

// A Sample is the cluster's activity during one SampleEvery interval.
type Sample struct {
	At      time.Time // end of the period
	Started float64   // jobs started per second
	Running int       // running jobs at that time
}
