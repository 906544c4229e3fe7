package server

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	batchscheduler "github.com/fairlead-io/fairlead/api/batch_scheduler"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/api/fairlead/v1/fairleadv1connect"
	"github.com/fairlead-io/fairlead/api/rpc"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server/internal/audit"
	"github.com/fairlead-io/fairlead/server/internal/callbacks"
	"github.com/fairlead-io/fairlead/server/internal/masks"
	"github.com/fairlead-io/fairlead/server/internal/openapi"
	"github.com/fairlead-io/fairlead/server/internal/overload"
	"github.com/fairlead-io/fairlead/server/internal/pipeline"
	"github.com/fairlead-io/fairlead/server/internal/rest"
	"github.com/fairlead-io/fairlead/server/internal/scope"
	"github.com/fairlead-io/fairlead/server/internal/tasks"
	"github.com/fairlead-io/fairlead/server/internal/workers"
	"github.com/fairlead-io/fairlead/tracing"
)

// Service handles all requests on a port: REST below /api, the same methods through gRPC,
// gRPC-Web and Connect, the API documentation, health checks and metrics.
type Service struct {
	http.Handler
	auditor *audit.Recorder
	workers *workers.Service
}

// New returns a service for a node and its store.
func New(node Node, store Store, options Options) (*Service, error) {
	services := newServices(store, options)
	services.jobs.ended, services.workers.Ended = node.Ended, node.Ended
	services.jobs.enqueuer, services.jobs.args, services.jobs.kinds = tracing.NewEnqueuer(options.Traces), options.Args, options.Kinds
	services.schedules.args, services.alerts.args, services.schedules.try = options.Args, options.Args, options.TryCall
	services.system.breakers, services.system.all = options.Breakers, store
	services.sweeps.business = newBusiness(options.Guard, store)
	services.sweeps.kinds, services.sweeps.databases, services.sweeps.checks = options.Kinds, options.Databases, options.Sweeps
	endpoints, err := services.endpoints()
	if err != nil {
		return nil, err
	}
	auditor := audit.New(store, options.Log)
	services.masks.Audit, auditor.Before = auditor.Write, services.masks.Before(services.before())
	endpoints = services.masks.Around(endpoints)
	requestPipeline := &pipeline.Pipeline{Audit: auditor}
	byName := map[string]*rest.Endpoint{}
	for _, endpoint := range endpoints {
		byName[rpc.Procedure(endpoint.Method)] = endpoint
	}
	guard := newGuard(options.Auth, store, options.Log)
	mux := http.NewServeMux()
	requests, responses := overload.NewRequestMemory(), overload.NewResponseMemory()
	pipeline.Register(mux, guard, pipeline.RPC{Log: options.Log, Pipeline: requestPipeline, Requests: requests, Responses: responses, Endpoints: byName}, endpoints)
	routes, err := rest.Routes(around(requestPipeline, endpoints))
	if err != nil {
		return nil, err
	}
	api := &rest.Server{Routes: routes, Log: options.Log, Admit: pipeline.Admit}
	mux.Handle("/api/", guard(responses.Handler(requests.Handler(rest.MaxBody, api.Handler()))))
	mux.Handle("POST "+openapi.UploadPath, guard(&uploads{batches: services.batches, masks: services.masks, pipeline: requestPipeline, endpoint: byName[fairleadv1connect.BatchServiceCreateBatchProcedure], api: api}))
	callbacks := requests.Handler(callbacks.MaxBody, callbacks.New(store, node.Ended, auditor.Sums, options.Log))
	mux.Handle("POST "+openapi.CallbackPath, callbacks)
	mux.Handle("PUT "+openapi.CallbackPath, callbacks)
	registerDocs(mux, routes, options.Version)
	registerMetrics(mux, guard, options.Metrics)
	registerHealth(mux, node, store)
	if options.Console != nil {
		console, err := options.Console(hardened(mux))
		if err != nil {
			return nil, err
		}
		mux.Handle("/", requests.Forms(rest.MaxBody, pipeline.CodedBodies(console)))
	}
	return &Service{Handler: overload.WithDeadlines(tracing.Receive(hardened(mux))), auditor: auditor, workers: services.workers}, nil
}

// around returns endpoints whose calls pass through the pipeline.
func around(through *pipeline.Pipeline, endpoints []*rest.Endpoint) []*rest.Endpoint {
	guarded := make([]*rest.Endpoint, len(endpoints))
	for i, endpoint := range endpoints {
		guarded[i] = through.Around(endpoint)
	}
	return guarded
}

// Run performs the service's background work until ctx ends.
func (s *Service) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { s.auditor.WriteSums(ctx) })
	loops.Go(func() { s.workers.RepeatReleases(ctx) })
	loops.Wait()
	return nil
}

// Options configures a Service.
type Options struct {
	Version  string
	Log      *slog.Logger
	Stopping <-chan struct{} // closed when the program shuts down; ends all streams
	Auth     Auth
	Metrics  http.Handler         // handler of /metrics; nil = not available
	Traces   trace.TracerProvider // provider for the spans of requests; nil = no spans
	Args     ArgsChecks           // checks for the args of kinds known to this program
	Sweeps   SweepChecks          // checks for the args of sweep kinds known to this program
	Kinds    *fairlead.Mux        // mux with the operations on targets known to this program, if any
	Guard    *httpcall.Guard      // guard for outgoing calls that requests cause; nil = no such calls
	Workers  WorkerOptions

	// Console returns the handler of all other paths. It calls the API in process, on behalf
	// of its users; nil = no console.
	Console func(api http.Handler) (http.Handler, error)

	// Breakers returns the targets that this node has stopped calling; nil = none.
	Breakers func() []httpcall.Breaker

	// TryCall performs test calls of the kind http; nil = not available.
	TryCall TryCall

	// Databases lists the databases with tables that sweeps of Kinds may process.
	Databases []string
}

// services contains the implementations of the API's services.
type services struct {
	jobs    *Jobs
	tenants *Tenants
	queues  *Queues
	kinds   *Kinds
	nodes   *Nodes
	limits  *Limits
	system  *System
	tokens  *Tokens
	audit   *AuditLog
	workers *workers.Service

	schedules *Schedules
	calendars *Calendars
	alerts    *Alerts
	holds     *Holds
	bulks     *Bulks
	tasks     *tasks.Tasks
	runs      *tasks.Runs

	batches     *Batches
	batchJobs   *BatchJobs
	batchEvents *BatchEvents

	sweeps *Sweeps
	whatIf *WhatIfs

	masks *masks.Masks
}

func newServices(store Store, options Options) *services {
	own, stopping := scope.New(store), options.Stopping
	calls, runs := tasks.New(own, tasks.Calls{
		Check: options.Args[httpcall.Kind], Restore: own.RestoreSchedule,
		Hides: func(ctx context.Context, args json.RawMessage) (bool, error) {
			return own.Hides(ctx, httpcall.Kind, args)
		},
	})
	batches := NewBatches(scope.WithKinds(own), options.Kinds, stopping)
	batchJobs := NewBatchJobs(batches)
	masks := masks.New(store)
	jobs, kinds := NewJobs(own, stopping), NewKinds(own)
	jobs.masks, kinds.masks = masks, masks
	sweeps := NewSweeps(scope.WithKinds(own), stopping)
	sweeps.masks = masks
	schedules, calendars, alerts := NewSchedules(own), NewCalendars(own), NewAlerts(own)
	schedules.restore, alerts.restore = own.RestoreSchedule, own.RestoreAlert
	schedules.permit = own.CheckSchedule
	return &services{
		jobs, NewTenants(own), NewQueues(own), kinds, NewNodes(own), NewLimits(own), NewSystem(own, stopping),
		NewTokens(store), NewAuditLog(store), workers.New(store, workers.Options(options.Workers), stopping), schedules, calendars, alerts, NewHolds(own), NewBulks(own, stopping),
		calls, runs, batches, batchJobs, NewBatchEvents(batchJobs), sweeps, whatIfs(own, schedules, calendars), masks,
	}
}

// before returns, for each service, the function that reads the object that a request is
// about to change.
func (s *services) before() map[protoreflect.Name]func(context.Context, proto.Message) (proto.Message, error) {
	return map[protoreflect.Name]func(context.Context, proto.Message) (proto.Message, error){
		"JobService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(interface{ GetId() int64 })
			if !ok {
				return nil, nil // concerns many jobs
			}
			return s.jobs.GetJob(ctx, &fairleadv1.GetJobRequest{Id: about.GetId()})
		},
		"BatchService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(interface{ GetId() int64 })
			if !ok {
				return nil, nil // new object
			}
			return s.batches.GetBatch(ctx, &fairleadv1.GetBatchRequest{Id: about.GetId()})
		},
		"SweepService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			switch about := request.(type) {
			case *fairleadv1.Sweep:
				return s.sweeps.GetSweep(ctx, &fairleadv1.GetSweepRequest{Id: about.GetRef()})
			case interface{ GetId() string }:
				return s.sweeps.GetSweep(ctx, &fairleadv1.GetSweepRequest{Id: about.GetId()})
			}
			return nil, nil
		},
		"TaskService":    s.taskBefore,
		"TaskRunService": s.runBefore,
		"TenantService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(interface{ GetName() string })
			if !ok {
				return nil, nil
			}
			return s.tenants.GetTenant(ctx, &fairleadv1.GetTenantRequest{Name: about.GetName()})
		},
		"ScheduleService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			switch about := request.(type) {
			case *fairleadv1.Schedule:
				return s.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: about.GetRef()})
			case interface{ GetId() string }:
				return s.schedules.GetSchedule(ctx, &fairleadv1.GetScheduleRequest{Id: about.GetId()})
			}
			return nil, nil
		},
		"CalendarService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(interface{ GetName() string })
			if !ok {
				return nil, nil
			}
			return s.calendars.GetCalendar(ctx, &fairleadv1.GetCalendarRequest{Name: about.GetName()})
		},
		"AlertService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(interface{ GetName() string })
			if !ok {
				return nil, nil
			}
			return s.alerts.GetAlert(ctx, &fairleadv1.GetAlertRequest{Name: about.GetName()})
		},
		"BulkService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(*fairleadv1.GetBulkRequest)
			if !ok {
				return nil, nil // new object
			}
			return s.bulks.GetBulk(ctx, about)
		},
		"LimitService": func(ctx context.Context, request proto.Message) (proto.Message, error) {
			about, ok := request.(*fairleadv1.Limit)
			if !ok {
				return nil, nil
			}
			return s.limits.limit(ctx, about.GetScope())
		},
	}
}

// endpoints returns all methods with their implementations.
func (s *services) endpoints() (all []*rest.Endpoint, err error) {
	for _, service := range []struct {
		file           protoreflect.FileDescriptor
		name           protoreflect.Name
		implementation any
	}{
		{fairleadv1.File_fairlead_v1_job_proto, "JobService", s.jobs},
		{fairleadv1.File_fairlead_v1_tenant_proto, "TenantService", s.tenants},
		{fairleadv1.File_fairlead_v1_cluster_proto, "QueueService", s.queues},
		{fairleadv1.File_fairlead_v1_cluster_proto, "KindService", s.kinds},
		{fairleadv1.File_fairlead_v1_cluster_proto, "NodeService", s.nodes},
		{fairleadv1.File_fairlead_v1_cluster_proto, "LimitService", s.limits},
		{fairleadv1.File_fairlead_v1_whatif_proto, "WhatIfService", s.whatIf},
		{fairleadv1.File_fairlead_v1_cluster_proto, "SystemService", s.system},
		{fairleadv1.File_fairlead_v1_access_proto, "TokenService", s.tokens},
		{fairleadv1.File_fairlead_v1_access_proto, "AuditService", s.audit},
		{fairleadv1.File_fairlead_v1_worker_proto, "WorkerService", s.workers},
		{fairleadv1.File_fairlead_v1_schedule_proto, "ScheduleService", s.schedules},
		{fairleadv1.File_fairlead_v1_schedule_proto, "CalendarService", s.calendars},
		{fairleadv1.File_fairlead_v1_alert_proto, "AlertService", s.alerts},
		{fairleadv1.File_fairlead_v1_hold_proto, "HoldService", s.holds},
		{fairleadv1.File_fairlead_v1_bulk_proto, "BulkService", s.bulks},
		{fairleadv1.File_fairlead_v1_task_proto, "TaskService", s.tasks},
		{fairleadv1.File_fairlead_v1_task_proto, "TaskRunService", s.runs},
		{fairleadv1.File_fairlead_v1_batch_proto, "BatchService", s.batches},
		{fairleadv1.File_fairlead_v1_batch_job_proto, "BatchJobService", s.batchJobs},
		{fairleadv1.File_fairlead_v1_sweep_proto, "SweepService", s.sweeps},
		{batchscheduler.File_batch_scheduler_batch_scheduler_proto, "BatchSchedulerService", s.batchEvents},
	} {
		some, err := rest.Endpoints(service.file.Services().ByName(service.name), service.implementation)
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}
