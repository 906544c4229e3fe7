package hold

import "time"

const (
	// SampleEvery is the length of the time that one sample describes.
	SampleEvery = 10 * time.Second
	// SamplesKept is the number of samples that are stored: those of one day.
	SamplesKept = 24 * 60 * 6
)

// Sample holds the activity of the cluster during one SampleEvery.
type Sample struct {
	At      time.Time // end of the time that it describes
	Started float64   // jobs started per second
	Running int       // jobs that were running when the sample was taken
}
