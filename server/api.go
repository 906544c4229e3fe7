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

// API serves the methods of the schema below /api, to callers on this machine.
func API(store fairlead.Store, log *slog.Logger) (http.Handler, error) {
	endpoints, err := endpoints(store)
	if err != nil {
		return nil, err
	}
	routes, err := rest.Routes(endpoints)
	if err != nil {
		return nil, err
	}
	server := &rest.Server{Routes: routes, Gate: open, Log: log}
	return local(server.Handler()), nil
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
