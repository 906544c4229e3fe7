package cli

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// clients contains the API clients of a server.
type clients struct {
	url     string
	timeout time.Duration
	web     *http.Client
	caller  caller

	jobs    fairleadv1connect.JobServiceClient
	tenants fairleadv1connect.TenantServiceClient
	queues  fairleadv1connect.QueueServiceClient
	kinds   fairleadv1connect.KindServiceClient
	nodes   fairleadv1connect.NodeServiceClient
	limits  fairleadv1connect.LimitServiceClient
	system  fairleadv1connect.SystemServiceClient
	tokens  fairleadv1connect.TokenServiceClient
	audit   fairleadv1connect.AuditServiceClient

	schedules fairleadv1connect.ScheduleServiceClient
	calendars fairleadv1connect.CalendarServiceClient
	alerts    fairleadv1connect.AlertServiceClient
	holds     fairleadv1connect.HoldServiceClient
	bulks     fairleadv1connect.BulkServiceClient
	tasks     fairleadv1connect.TaskServiceClient
	taskRuns  fairleadv1connect.TaskRunServiceClient
	batches   fairleadv1connect.BatchServiceClient
	sweeps    fairleadv1connect.SweepServiceClient
	whatIfs   fairleadv1connect.WhatIfServiceClient
}

func newClients(t target, timeout time.Duration) *clients {
	web := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }} // a token must not follow redirects
	asks := caller{token: t.Token, timeout: timeout}
	options := connect.WithClientOptions(connect.WithInterceptors(asks))
	return &clients{
		url: t.Server, timeout: timeout, web: web, caller: asks,
		jobs:    fairleadv1connect.NewJobServiceClient(web, t.Server, options),
		tenants: fairleadv1connect.NewTenantServiceClient(web, t.Server, options),
		queues:  fairleadv1connect.NewQueueServiceClient(web, t.Server, options),
		kinds:   fairleadv1connect.NewKindServiceClient(web, t.Server, options),
		nodes:   fairleadv1connect.NewNodeServiceClient(web, t.Server, options),
		limits:  fairleadv1connect.NewLimitServiceClient(web, t.Server, options),
		system:  fairleadv1connect.NewSystemServiceClient(web, t.Server, options),
		tokens:  fairleadv1connect.NewTokenServiceClient(web, t.Server, options),
		audit:   fairleadv1connect.NewAuditServiceClient(web, t.Server, options),

		schedules: fairleadv1connect.NewScheduleServiceClient(web, t.Server, options),
		calendars: fairleadv1connect.NewCalendarServiceClient(web, t.Server, options),
		alerts:    fairleadv1connect.NewAlertServiceClient(web, t.Server, options),
		holds:     fairleadv1connect.NewHoldServiceClient(web, t.Server, options),
		bulks:     fairleadv1connect.NewBulkServiceClient(web, t.Server, options),
		tasks:     fairleadv1connect.NewTaskServiceClient(web, t.Server, options),
		taskRuns:  fairleadv1connect.NewTaskRunServiceClient(web, t.Server, options),
		batches:   fairleadv1connect.NewBatchServiceClient(web, t.Server, options),
		sweeps:    fairleadv1connect.NewSweepServiceClient(web, t.Server, options),
		whatIfs:   fairleadv1connect.NewWhatIfServiceClient(web, t.Server, options),
	}
}

// caller adds the token and the timeout to calls.
type caller struct {
	token   string
	timeout time.Duration
}

func (c caller) sign(header http.Header) {
	if c.token != "" {
		header.Set("Authorization", "Bearer "+c.token)
	}
}

// WrapUnary implements connect.Interceptor.
func (c caller) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		c.sign(request.Header())
		return next(ctx, request)
	}
}

// WrapStreamingClient implements connect.Interceptor. Streams have no timeout, because they
// last as long as the object that they follow.
func (c caller) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		c.sign(conn.RequestHeader())
		return conn
	}
}

// WrapStreamingHandler implements connect.Interceptor.
func (caller) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}
