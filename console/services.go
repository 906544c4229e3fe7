package console

import (
	"net/http"

	"connectrpc.com/connect"

	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
)

// services contains the clients of the API.
type services struct {
	jobs      fairleadv1connect.JobServiceClient
	tenants   fairleadv1connect.TenantServiceClient
	queues    fairleadv1connect.QueueServiceClient
	nodes     fairleadv1connect.NodeServiceClient
	limits    fairleadv1connect.LimitServiceClient
	system    fairleadv1connect.SystemServiceClient
	tokens    fairleadv1connect.TokenServiceClient
	audit     fairleadv1connect.AuditServiceClient
	schedules fairleadv1connect.ScheduleServiceClient
	calendars fairleadv1connect.CalendarServiceClient
	batches   fairleadv1connect.BatchServiceClient
	sweeps    fairleadv1connect.SweepServiceClient
	kinds     fairleadv1connect.KindServiceClient
	bulks     fairleadv1connect.BulkServiceClient
	holds     fairleadv1connect.HoldServiceClient
	whatIfs   fairleadv1connect.WhatIfServiceClient

	client  *http.Client // for requests outside the schema's methods
	sharing *sharing
}

// at is the base URL of the API; requests do not leave the process.
const at = "http://fairlead"

func newServices(api http.Handler) *services {
	client := &http.Client{Transport: inside{api}}
	sharing := newSharing()
	shared := connect.WithInterceptors(sharing.interceptor())
	return &services{
		jobs:      fairleadv1connect.NewJobServiceClient(client, at, shared),
		tenants:   fairleadv1connect.NewTenantServiceClient(client, at, shared),
		queues:    fairleadv1connect.NewQueueServiceClient(client, at, shared),
		nodes:     fairleadv1connect.NewNodeServiceClient(client, at, shared),
		limits:    fairleadv1connect.NewLimitServiceClient(client, at, shared),
		system:    fairleadv1connect.NewSystemServiceClient(client, at, shared),
		tokens:    fairleadv1connect.NewTokenServiceClient(client, at, shared),
		audit:     fairleadv1connect.NewAuditServiceClient(client, at, shared),
		schedules: fairleadv1connect.NewScheduleServiceClient(client, at, shared),
		calendars: fairleadv1connect.NewCalendarServiceClient(client, at, shared),
		batches:   fairleadv1connect.NewBatchServiceClient(client, at, shared),
		sweeps:    fairleadv1connect.NewSweepServiceClient(client, at, shared),
		kinds:     fairleadv1connect.NewKindServiceClient(client, at, shared),
		bulks:     fairleadv1connect.NewBulkServiceClient(client, at, shared),
		holds:     fairleadv1connect.NewHoldServiceClient(client, at, shared),
		whatIfs:   fairleadv1connect.NewWhatIfServiceClient(client, at, shared),
		client:    client,
		sharing:   sharing,
	}
}
