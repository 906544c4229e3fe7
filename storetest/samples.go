package storetest

import (
	"time"

	"github.com/fairlead-io/fairlead/driver"
	"github.com/fairlead-io/fairlead/hold"
)

// samples lists all samples.
func (f *fixture) samples() []hold.Sample {
	f.Helper()
	samples, err := f.store.Samples(f.ctx(), f.now().Add(-48*time.Hour), f.now().Add(time.Hour))
	f.ok(err)
	return samples
}

// nextSample advances the clock to the end of the present SampleEvery, and returns it.
func (f *fixture) nextSample() time.Time {
	f.Helper()
	end := f.now().Truncate(hold.SampleEvery).Add(hold.SampleEvery)
	f.Advance(end.Sub(f.now()))
	return end
}

func testSamples(c *chapter) {
	c.test("a sample has the starts of the last ten seconds and the running jobs", func(f *fixture) {
		f.nextSample()
		f.running()
		f.report(driver.Starts{Tenant: "a", Count: 30}, driver.Starts{Tenant: "b", Count: 5})
		end := f.nextSample()
		f.ok(f.store.KeepSample(f.ctx()))
		f.equal("the samples", f.elsewhere().samples(), []hold.Sample{{At: end, Started: 3.5, Running: 1}})
	})
	c.test("a time has one sample, however many nodes take it", func(f *fixture) {
		f.nextSample()
		f.ok(first(f.rivals(4, func(_ int, store Store) error { return store.KeepSample(f.ctx()) })))
		f.equal("how many samples there are", len(f.samples()), 1)
	})
	c.test("a time without a witness has no sample", func(f *fixture) {
		first := f.nextSample()
		f.ok(f.store.KeepSample(f.ctx()))
		f.Advance(time.Minute)
		f.ok(f.store.KeepSample(f.ctx()))
		f.equal("the samples", f.samples(), []hold.Sample{{At: first}, {At: first.Add(time.Minute)}})
	})
	c.test("samples are listed after one time up to another", func(f *fixture) {
		first := f.nextSample()
		for range 3 {
			f.ok(f.store.KeepSample(f.ctx()))
			f.nextSample()
		}
		found, err := f.store.Samples(f.ctx(), first, first.Add(hold.SampleEvery))
		f.ok(err)
		f.equal("the samples", found, []hold.Sample{{At: first.Add(hold.SampleEvery)}})
	})
	c.test("samples are kept for a day", func(f *fixture) {
		f.nextSample()
		f.ok(f.store.KeepSample(f.ctx()))
		f.Advance(24*time.Hour - hold.SampleEvery)
		f.ok(f.store.KeepSample(f.ctx()))
		f.equal("how many samples there are within a day", len(f.samples()), 2)
		end := f.nextSample()
		f.ok(f.store.KeepSample(f.ctx()))
		f.equal("the last sample", f.samples()[1].At, end)
		f.equal("how many samples there are after a day", len(f.samples()), 2)
	})
}
