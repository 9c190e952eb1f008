// SPDX-License-Identifier: BSL-1.0
//
// Go's HTTP as a peer: a server that judges must find right, and a client that others' servers must serve.

// peer http1-server PORT | http2-server PORT | http1 URL | http2 URL
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"
)

func echo(answer http.ResponseWriter, request *http.Request) {
	if request.URL.Path == "/echo" {
		io.Copy(answer, request.Body)
		return
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		answer.Header().Set("Connection", "close")
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	io.WriteString(answer, "hello\n")
}

func serve(port string, handler http.Handler) error {
	return (&http.Server{Addr: "127.0.0.1:" + port, Handler: handler}).ListenAndServe()
}

func fetch(client *http.Client, method, url string, body []byte, major int) ([]byte, error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	whole, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || answer.ProtoMajor != major) {
		err = fmt.Errorf("%s %s: %s %s", method, url, answer.Proto, answer.Status)
	}
	return whole, err
}

// visit asks in a row, so that the connection is kept, then 20 times at once.
func visit(client *http.Client, url string, major int) error {
	client.Timeout = 20 * time.Second
	for range 20 {
		if _, err := fetch(client, "GET", url, nil, major); err != nil {
			return err
		}
	}
	failures := make(chan error)
	for range 20 {
		go func() {
			_, err := fetch(client, "GET", url, nil, major)
			failures <- err
		}()
	}
	var failed error
	for range 20 {
		if err := <-failures; err != nil {
			failed = err
		}
	}
	return failed
}

// visitEcho sends bodies that flow control has to let pass.
func visitEcho(client *http.Client, url string, major int) error {
	for _, size := range []int{0, 1, 65536, 1 << 20} {
		body := bytes.Repeat([]byte{'x'}, size)
		whole, err := fetch(client, "POST", url+"echo", body, major)
		if err != nil {
			return err
		}
		if !bytes.Equal(whole, body) {
			return fmt.Errorf("%d bytes came back as %d", size, len(whole))
		}
	}
	return nil
}

func main() {
	role, what := os.Args[1], os.Args[2]
	clear := &http2.Transport{AllowHTTP: true,
		DialTLSContext: func(ctx context.Context, network, address string, _ *tls.Config) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}}
	var err error
	switch role {
	case "http1-server":
		err = serve(what, http.HandlerFunc(echo))
	case "http2-server":
		err = serve(what, h2c.NewHandler(http.HandlerFunc(echo), &http2.Server{}))
	case "http1":
		if err = visit(&http.Client{}, what, 1); err == nil {
			err = visitEcho(&http.Client{}, what, 1)
		}
	case "http2":
		err = visit(&http.Client{Transport: clear}, what, 2)
	default:
		err = fmt.Errorf("no such role: %s", role)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("all came back")
}
