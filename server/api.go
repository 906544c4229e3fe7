package server

import (
	"fmt"
	"log/slog"
	"net/http"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// New is all that the service answers on its port: REST below /api, the same
// methods by their names for callers of gRPC, gRPC-Web and Connect, their
// description, and its health. Only callers on this machine are answered.
func New(node Node, store fairlead.Store, options Options) (http.Handler, error) {
	services := newServices(store, options)
	endpoints, err := services.endpoints()
	if err != nil {
		return nil, err
	}
	routes, err := rest.Routes(endpoints)
	if err != nil {
		return nil, err
	}
	api := &rest.Server{Routes: routes, Log: options.Log}
	mux := http.NewServeMux()
	mux.Handle("/api/", local(api.Handler()))
	services.registerRPC(mux, options.Log)
	if err := registerDocs(mux, routes, options.Version); err != nil {
		return nil, err
	}
	mux.Handle("/", Health(node, store))
	return mux, nil
}

// Options of the service.
type Options struct {
	Version  string
	Log      *slog.Logger
	Stopping <-chan struct{} // closed when the program is to end: streams end then
	Workers  WorkerOptions
}

// services implement the methods of the schema.
type services struct {
	jobs    *Jobs
	tenants *Tenants
	queues  *Queues
	nodes   *Nodes
	limits  *Limits
	system  *System
	workers *Workers
}

func newServices(store fairlead.Store, options Options) *services {
	stopping := options.Stopping
	return &services{
		NewJobs(store, stopping), NewTenants(store), NewQueues(store), NewNodes(store), NewLimits(store), NewSystem(store, stopping),
		NewWorkers(store, options.Workers, stopping),
	}
}

// endpoints are all methods and what implements them.
func (s *services) endpoints() (all []*rest.Endpoint, err error) {
	for _, service := range []struct {
		file           protoreflect.FileDescriptor
		name           protoreflect.Name
		implementation any
	}{
		{fairleadv1.File_fairlead_v1_job_proto, "JobService", s.jobs},
		{fairleadv1.File_fairlead_v1_tenant_proto, "TenantService", s.tenants},
		{fairleadv1.File_fairlead_v1_cluster_proto, "QueueService", s.queues},
		{fairleadv1.File_fairlead_v1_cluster_proto, "NodeService", s.nodes},
		{fairleadv1.File_fairlead_v1_cluster_proto, "LimitService", s.limits},
		{fairleadv1.File_fairlead_v1_cluster_proto, "SystemService", s.system},
		{fairleadv1.File_fairlead_v1_worker_proto, "WorkerService", s.workers},
	} {
		some, err := rest.Endpoints(service.file.Services().ByName(service.name), service.implementation)
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}
