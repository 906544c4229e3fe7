package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/fairlead-io/fairlead"
	fairleadv1 "github.com/fairlead-io/fairlead/api/fairlead/v1"
	"github.com/fairlead-io/fairlead/internal/rest"
)

// New is all that the service answers on its port: REST below /api, the same
// methods by their names for callers of gRPC, gRPC-Web and Connect, their
// description, and its health. Only callers on this machine are answered.
func New(node Node, store fairlead.Store, options Options) (http.Handler, error) {
	endpoints, err := endpoints(store)
	if err != nil {
		return nil, err
	}
	routes, err := rest.Routes(endpoints)
	if err != nil {
		return nil, err
	}
	api := &rest.Server{Routes: routes, Gate: open, Log: options.Log}
	mux := http.NewServeMux()
	mux.Handle("/api/", local(api.Handler()))
	registerRPC(mux, store)
	if err := registerDocs(mux, routes, options.Version); err != nil {
		return nil, err
	}
	mux.Handle("/", Health(node, store))
	return mux, nil
}

// Options of the service.
type Options struct {
	Version string
	Log     *slog.Logger
}

// endpoints are all methods and what implements them.
func endpoints(store fairlead.Store) (all []*rest.Endpoint, err error) {
	for _, service := range []struct {
		file           protoreflect.FileDescriptor
		name           protoreflect.Name
		implementation any
	}{
		{fairleadv1.File_fairlead_v1_job_proto, "JobService", NewJobs(store)},
		{fairleadv1.File_fairlead_v1_tenant_proto, "TenantService", NewTenants(store)},
		{fairleadv1.File_fairlead_v1_cluster_proto, "QueueService", NewQueues(store)},
		{fairleadv1.File_fairlead_v1_cluster_proto, "NodeService", NewNodes(store)},
		{fairleadv1.File_fairlead_v1_cluster_proto, "LimitService", NewLimits(store)},
		{fairleadv1.File_fairlead_v1_cluster_proto, "SystemService", NewSystem(store)},
	} {
		some, err := rest.Endpoints(service.file.Services().ByName(service.name), service.implementation)
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
		all = append(all, some...)
	}
	return all, nil
}

// open lets everybody in: the service listens on loopback only.
func open(ctx context.Context, _ *http.Request, _ *rest.Endpoint, _ proto.Message) (context.Context, error) {
	return ctx, nil
}
