// SPDX-License-Identifier: BSL-1.0
//
// What Go's packages net/http and crypto/tls can do as servers: the workloads of the suites `http_server`
// and `tls`. lab/servers/web.hpp says what is asked.
//
//   - net/http as its documentation has it, with a handler of its own in place of a multiplexer:
//     https://pkg.go.dev/net/http#Serve
//   - crypto/tls below the least of HTTP; tickets are on: https://pkg.go.dev/crypto/tls#Config
package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
)

var (
	hello    = []byte("Hello, World!")
	jsonText = makeJSON()
)

// makeJSON makes what json_text of lab/servers/web.cpp does.
func makeJSON() []byte {
	items := make([]string, 12)
	for i := range items {
		id := i + 1
		items[i] = fmt.Sprintf(`{"id":%d,"name":"article %d","price":%d,"stock":%d,"tags":["new","sold"]}`,
			id, id, id*199, 1000-id*7)
	}
	return []byte(`{"items":[` + strings.Join(items, ",") + `],"count":12}`)
}

func sumOf(query url.Values) int {
	a, _ := strconv.Atoi(query.Get("a"))
	b, _ := strconv.Atoi(query.Get("b"))
	return a + b
}

func answerRequest(to nethttp.ResponseWriter, asked *nethttp.Request) {
	switch asked.URL.Path {
	case "/text":
		to.Header()["Content-Type"] = []string{"text/plain"}
		to.Write(hello)
	case "/json":
		to.Header()["Content-Type"] = []string{"application/json"}
		to.Write(jsonText)
	case "/sum":
		sum := sumOf(asked.URL.Query())
		if asked.Method == nethttp.MethodPost {
			body, _ := io.ReadAll(asked.Body)
			value, _ := strconv.Atoi(string(body))
			sum += value
		}
		to.Header()["Content-Type"] = []string{"text/plain"}
		to.Write(strconv.AppendInt(nil, int64(sum), 10))
	default:
		to.WriteHeader(nethttp.StatusNotFound)
	}
}

func serveRequests(listener *net.TCPListener) error {
	return nethttp.Serve(listener, nethttp.HandlerFunc(answerRequest))
}

// answers of each size and end, made once.
var bytesAnswers sync.Map

type bytesAsked struct {
	size   int
	closes bool
}

func bytesAnswer(asked bytesAsked) []byte {
	if known, found := bytesAnswers.Load(asked); found {
		return known.([]byte)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: " + strconv.Itoa(asked.size)
	if asked.closes {
		head += "\r\nConnection: close"
	}
	made := []byte(head + "\r\n\r\n")
	for i := 0; i < asked.size; i++ {
		made = append(made, byte('0'+i%251%75))
	}
	bytesAnswers.Store(asked, made)
	return made
}

func sizeAsked(request []byte) int {
	rest, _ := bytes.CutPrefix(request, []byte("GET /bytes/"))
	digits, _, _ := bytes.Cut(rest, []byte(" "))
	size, _ := strconv.Atoi(string(digits))
	return size
}

func converse(connection *tls.Conn) {
	defer connection.Close() // It says close_notify.
	input := make([]byte, requestSizeMax)
	used := 0
	for used < len(input) {
		size, err := connection.Read(input[used:])
		if err != nil {
			return
		}
		used += size
		rest := input[:used]
		for {
			at := bytes.Index(rest, emptyLine)
			if at < 0 {
				break
			}
			request := rest[:at+len(emptyLine)]
			closes := !keepsAlive(request)
			if _, failed := connection.Write(bytesAnswer(bytesAsked{sizeAsked(request), closes})); failed != nil || closes {
				return
			}
			rest = rest[len(request):]
		}
		used = copy(input, rest)
	}
}

func serveBytes(certificate, key string) serving {
	return func(listener *net.TCPListener) error {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return err
		}
		settings := &tls.Config{Certificates: []tls.Certificate{pair}}
		return each(func(connection *net.TCPConn) { converse(tls.Server(connection, settings)) })(listener)
	}
}
