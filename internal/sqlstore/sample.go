package sqlstore

import (
	"context"
	"time"

	"github.com/fairlead-io/fairlead/hold"
)

// sampleStore stores samples of the number of running jobs.
type sampleStore struct {
	db  Database
	sql *SampleStatements
}

// SampleStatements holds the SQL statements of a sampleStore.
type SampleStatements struct {
	SampleNow     string `sql:"sample_now"`
	KeepSample    string `sql:"keep_sample"`
	ForgetSamples string `sql:"forget_samples"`
	Samples       string `sql:"samples"`
}

// sampleRow is a row of the samples table: the bucket of a sample, the number of jobs
// started in it, and the number of jobs running after it.
type sampleRow struct{ bucket, started, running int64 }

func scanSample(row Scanner) (s sampleRow, err error) {
	err = row.Scan(&s.bucket, &s.started, &s.running)
	return s, err
}

// KeepSample stores the activity of the last whole bucket.
func (s *sampleStore) KeepSample(ctx context.Context) error {
	now, err := readList(ctx, s.db.Read, "sample", scanSample, s.sql.SampleNow)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, "keep a sample", func(_ context.Context, db DB) error {
		db.Queue(s.sql.KeepSample, now[0].bucket, now[0].started, now[0].running)
		db.Queue(s.sql.ForgetSamples, now[0].bucket-hold.SamplesKept)
		return nil
	})
}

// Samples lists samples, oldest first.
func (s *sampleStore) Samples(ctx context.Context, from, to time.Time) ([]hold.Sample, error) {
	rows, err := readList(ctx, s.db.Read, "list samples", scanSample, s.sql.Samples, sampleBucket(from), sampleBucket(to), hold.SamplesKept)
	if err != nil {
		return nil, err
	}
	samples := make([]hold.Sample, len(rows))
	for i, row := range rows {
		samples[i] = hold.Sample{
			At: Time((row.bucket + 1) * startsBucket.Microseconds()), Started: float64(row.started) / startsBucket.Seconds(), Running: int(row.running),
		}
	}
	return samples, nil
}

// sampleBucket returns the bucket that contains a time.
func sampleBucket(at time.Time) int64 { return Micros(at) / startsBucket.Microseconds() }
