package browser

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/console"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/server"
	"github.com/fairlead-io/fairlead/sqlite"
)

// freeze serves a database with a console and no node: nothing changes except the clock.
// The console is at "/" or, with a prefix, within another server.
func freeze(t *testing.T, file, prefix string, auth server.Auth) (url string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	kinds := fairlead.NewMux()
	kinds.Handle("noop", fairlead.HandlerOptions{}, fairlead.HandlerFunc(func(context.Context, *fairlead.Job) error { return nil }))
	node, err := engine.New(store, kinds, engine.Options{Logger: log})
	if err != nil {
		t.Fatal(err)
	}
	guard, err := httpcall.NewGuard(nil, true)
	if err != nil {
		t.Fatal(err)
	}
	stopping := make(chan struct{})
	options := server.Options{Version: "test", Log: log, Auth: auth, Stopping: stopping, TryCall: httpcall.New(httpcall.Options{Guard: guard}).Try}
	look := func(api http.Handler) (http.Handler, error) {
		return console.New(api, console.Options{Version: "test", Prefix: prefix, Stopping: stopping, Log: log})
	}
	if prefix == "" {
		options.Console = look
	}
	service, err := server.New(node, store, options)
	if err != nil {
		t.Fatal(err)
	}
	var handler http.Handler = service
	if prefix != "" {
		mounted, err := look(service)
		if err != nil {
			t.Fatal(err)
		}
		outer := http.NewServeMux()
		outer.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("another program")) })
		outer.Handle(prefix+"/", mounted)
		handler = outer
	}
	web := httptest.NewServer(handler)
	t.Cleanup(func() {
		close(stopping)
		web.Close()
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return web.URL
}
