package httpcall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/fairlead-io/fairlead"
	"github.com/fairlead-io/fairlead/engine"
	"github.com/fairlead-io/fairlead/httpcall"
	"github.com/fairlead-io/fairlead/sqlite"
)

// HTTP creates jobs that call a URL.
var HTTP = fairlead.NewKind[httpcall.Call](httpcall.Kind)

// serve starts a target that prints its requests.
func serve() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		w.WriteHeader(http.StatusAccepted)
	}))
}

// Run jobs that call a URL, and read the answer.
func ExampleNew() {
	target := serve() // at 127.0.0.1, which a guard denies unless it is listed
	defer target.Close()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	store, err := sqlite.Open(ctx, ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	guard, err := httpcall.NewGuard([]string{"127.0.0.1"}, false)
	if err != nil {
		log.Fatal(err)
	}
	mux := fairlead.NewMux()
	httpcall.New(httpcall.Options{Guard: guard}).Register(mux)
	ended := make(chan error)
	go func() { ended <- engine.Run(ctx, store, mux, engine.Options{Logger: slog.New(slog.DiscardHandler)}) }()

	client := fairlead.NewClient(store)
	job := HTTP.Job(httpcall.Call{
		URL:  target.URL + "/orders/{{args.order}}",
		Body: json.RawMessage(`{"paid":true}`),
		Vars: json.RawMessage(`{"order":7}`),
	})
	if err := client.Enqueue(ctx, job); err != nil {
		log.Fatal(err)
	}
	done, err := client.Wait(ctx, job.ID)
	if err != nil {
		log.Fatal(err)
	}
	var call httpcall.Snapshot
	if err := json.Unmarshal(done.Output, &call); err != nil {
		log.Fatal(err)
	}
	fmt.Println(done.State, call.Status)
	stop()
	fmt.Println("error:", <-ended)
	// Output:
	// POST /orders/7
	// succeeded 202
	// error: <nil>
}

// Make a call once, without storing a job, to see whether it works.
func ExampleHandler_Try() {
	target := serve()
	defer target.Close()
	guard, err := httpcall.NewGuard([]string{"127.0.0.1"}, false)
	if err != nil {
		log.Fatal(err)
	}
	handler := httpcall.New(httpcall.Options{Guard: guard})

	job := HTTP.Job(httpcall.Call{
		Method:  http.MethodPut,
		URL:     target.URL + "/orders/7",
		Success: &httpcall.Success{Status: []string{"200", "202"}},
	})
	snapshot, success, err := handler.Try(context.Background(), job, httpcall.Origin{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(snapshot.Status, success)
	// Output:
	// PUT /orders/7
	// 202 true
}

// A guard denies calls to private addresses that the operator has not listed.
func ExampleNewGuard() {
	guard, err := httpcall.NewGuard([]string{"10.1.0.0/16", "billing.internal"}, false)
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "http://192.168.0.1/", http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	_, err = httpcall.NewCaller(guard).Do(request)
	var denied *httpcall.DeniedError
	if errors.As(err, &denied) {
		fmt.Println(denied)
	}
	// Output:
	// calls to 192.168.0.1:80 are not allowed; the operator can allow it with --allow-target
}

// Sign a request as defined by Standard Webhooks.
func ExampleSign() {
	body := []byte(`{"paid":true}`)
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://example.org/orders/7", http.NoBody)
	if err != nil {
		log.Fatal(err)
	}
	httpcall.Sign(request, "open sesame", "msg_7", time.Unix(1_800_000_000, 0), body)
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		fmt.Printf("%s: %s\n", name, request.Header.Get(name))
	}
	// Output:
	// webhook-id: msg_7
	// webhook-timestamp: 1800000000
	// webhook-signature: v1,KT/t3qvtplTXVObPdLslxHiDvliESgyhcz+VghceRUc=
}
