package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/httpcall"
)

var customers = []string{"Blue Fjord Logistics", "Quartz Foods", "Meridian Optics", "Larch Energy", "Cedar Mills"}

// flowing returns the jobs of one second. The jobs and their keys depend only on the
// second, so that if several nodes enqueue them, each is stored once. Their number varies
// over time, so that charts show movement.
func flowing(second int64) []*fairlead.Job {
	var jobs []*fairlead.Job
	add := func(tenant, kind string, args any) *fairlead.Job {
		raw, err := json.Marshal(args)
		if err != nil {
			panic(err) // the values are valid constants
		}
		job := &fairlead.Job{
			Kind: kind, Tenant: tenant, Args: raw,
			Key: fmt.Sprintf("demo flow %d.%d", second, len(jobs)), KeyScope: fairlead.KeyForever, OnDuplicate: fairlead.KeepDuplicate,
		}
		jobs = append(jobs, job)
		return job
	}
	for i := range 1 + second/30%3 {
		number := second*10 + i
		job := add(acme, invoiceKind, invoice{Number: number, Customer: customers[number%int64(len(customers))], Cents: 100 + number%90_000})
		job.Priority = []int{fairlead.Normal, fairlead.Normal, fairlead.High, fairlead.Low}[number%4]
	}
	if second%2 == 0 {
		add(globex, ledgerKind, json.RawMessage(fmt.Sprintf(ledgerArgs, second, second%1_000_000)))
	}
	if second%15 == 0 {
		add(globex, importKind, feed{File: fmt.Sprintf("prices-%d.csv", second/15), Line: "4711;pallet;NORTH"})
	}
	if second%4 == 0 {
		add(initech, reportKind, report{Title: fmt.Sprintf("Cost centre %d", 100+second/4%40), Parts: 4})
	}
	return jobs
}

// ledgerArgs contains integers beyond the range of a float64, and nested objects.
const ledgerArgs = `{"account":9007199254740993,"lines":[` +
	`{"text":"opening balance","amounts":{"EUR":170141183460469231731687303715884105727,"JPY":-9223372036854775809}},` +
	`{"text":"transfer %d","amounts":{"EUR":%d,"JPY":18446744073709551616}}],` +
	`"meta":{"source":{"system":"erp","route":["north","hub",{"dock":7,"lanes":[1,2,[3,4]]}]},"flags":{"reviewed":false,"note":null}}}`

// flow enqueues the jobs of the current second.
func (d *Demo) flow(ctx context.Context) error {
	now, err := d.store.Now(ctx)
	if err != nil {
		return err
	}
	return d.enqueue(ctx, flowing(now.Unix()))
}

// enqueue stores the jobs of each tenant in a separate call, so that a tenant at its limit
// of pending jobs does not affect the others.
func (d *Demo) enqueue(ctx context.Context, jobs []*fairlead.Job) error {
	var failed error
	for _, tenant := range Tenants() {
		var own []*fairlead.Job
		for _, job := range jobs {
			if job.Tenant == tenant {
				own = append(own, job)
			}
		}
		if err := d.jobs.Enqueue(ctx, own...); err != nil && !errors.Is(err, fairlead.ErrLimit) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// standing returns jobs that always exist, each waiting for a different reason. When they
// have ended, their keys are free again and they are recreated.
func standing(now time.Time) []*fairlead.Job {
	var jobs []*fairlead.Job
	add := func(tenant, kind, key string, args any) *fairlead.Job {
		raw, err := json.Marshal(args)
		if err != nil {
			panic(err) // as above
		}
		jobs = append(jobs, &fairlead.Job{Kind: kind, Tenant: tenant, Args: raw, Key: "demo " + key, OnDuplicate: fairlead.KeepDuplicate})
		return jobs[len(jobs)-1]
	}
	for i := range 4 { // in a paused queue, and late after some minutes
		job := add(globex, reportKind, fmt.Sprint("maintenance ", i), report{Title: fmt.Sprintf("Rebuild index %d", i+1), Parts: 3})
		job.Queue, job.StartBy = pausedQueue, now.Add(time.Duration(i+1)*time.Minute)
	}
	add(acme, mainframeKind, "mainframe", map[string]any{"program": "PAYROLL7"}) // no node handles it
	approval := call(initech, httpcall.Call{URL: targetURL("/never"), Async: true, CallbackTimeoutSeconds: 86_400, Body: json.RawMessage(`{"budget":"travel"}`)})
	approval.Key, approval.OnDuplicate, approval.MaxAttempts = "demo approval", fairlead.KeepDuplicate, 1
	jobs = append(jobs, &approval) // waits for a callback, and so counts against the tenant's cap
	add(initech, reportKind, "year end", report{Title: "Year-end close", Parts: 4}).Priority = fairlead.Low
	for _, days := range []int{30, 90, 365} {
		add(acme, invoiceKind, fmt.Sprint("renewal ", days), invoice{Number: int64(days), Customer: customers[days%len(customers)], Cents: 99_000}).
			NotBefore = now.AddDate(0, 0, days)
	}
	return jobs
}
