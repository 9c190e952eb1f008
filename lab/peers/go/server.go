// SPDX-License-Identifier: BSL-1.0
//
// What Go's package net can do as a server, so that the lab can put it beside gyre (lab/README.md, "Peers").
//
// As its documentation has it:
//   - a goroutine per connection, and io.Copy to echo: https://pkg.go.dev/net#example-Listener. Between TCP
//     connections this is splice, by ReadFrom or WriteTo: https://pkg.go.dev/net#TCPConn.ReadFrom. Reading into
//     a buffer and writing it took as much processor time at 1 KB and up to half as much again at 100 KB.
//   - as many threads for Go code as GOMAXPROCS says: https://pkg.go.dev/runtime#GOMAXPROCS
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
)

const (
	requestSizeMax = 16 * 1024
	threadsMax     = 64
)

const head = "HTTP/1.1 404 Not Found\r\nConnection: "
const rest = "\r\nContent-Type: text/plain\r\nContent-Length: 24\r\n\r\nThere is nothing here.\r\n"

var (
	kept      = []byte(head + "keep-alive" + rest)
	closing   = []byte(head + "     close" + rest)
	emptyLine = []byte("\r\n\r\n")
	lineEnd   = []byte("\r\n")
)

// echo sends back what comes, in order, until the client has ended.
func echo(connection *net.TCPConn) {
	defer connection.Close()
	io.Copy(connection, connection)
}

// keepsAlive tells whether the client wants to go on after this request (RFC 9112, 9.3).
func keepsAlive(request []byte) bool {
	line, rest, _ := bytes.Cut(request, lineEnd)
	modern := bytes.HasSuffix(line, []byte("HTTP/1.1"))
	for len(rest) > 0 {
		line, rest, _ = bytes.Cut(rest, lineEnd)
		if len(line) < 11 || line[10] != ':' || !bytes.EqualFold(line[:10], []byte("connection")) {
			continue
		}
		value := bytes.TrimSpace(line[11:])
		if bytes.EqualFold(value, []byte("close")) {
			return false
		}
		if bytes.EqualFold(value, []byte("keep-alive")) {
			return true
		}
	}
	return modern
}

// answers appends an answer for each whole request, and returns what is left of the input.
func answers(output, input []byte) (answered, rest []byte, ends bool) {
	for !ends {
		at := bytes.Index(input, emptyLine)
		if at < 0 {
			break
		}
		end := at + len(emptyLine)
		if ends = !keepsAlive(input[:end]); ends {
			output = append(output, closing...)
		} else {
			output = append(output, kept...)
		}
		input = input[end:]
	}
	return output, input, ends
}

func http(connection *net.TCPConn) {
	defer connection.Close()
	input := make([]byte, requestSizeMax)
	var output []byte
	used, ends := 0, false
	for !ends && used < len(input) { // No request is longer than that.
		size, err := connection.Read(input[used:])
		var rest []byte
		output, rest, ends = answers(output[:0], input[:used+size])
		used = copy(input, rest)
		if len(output) > 0 {
			if _, failed := connection.Write(output); failed != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func leave(code int, format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "go: "+format+"\n", arguments...)
	os.Exit(code)
}

// serving is what a workload does with a listener. It returns when it fails.
type serving func(*net.TCPListener) error

// each makes a goroutine for each connection.
func each(serve func(*net.TCPConn)) serving {
	return func(listener *net.TCPListener) error {
		for {
			connection, err := listener.AcceptTCP()
			if errors.Is(err, net.ErrClosed) {
				return err
			}
			if err != nil {
				continue // The client has gone again, or there are no descriptors at the moment.
			}
			if connection.SetNoDelay(true) != nil {
				connection.Close()
				continue
			}
			go serve(connection)
		}
	}
}

func options() (serve serving, threads, port int) {
	flags := flag.NewFlagSet("go", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	version := flags.Bool("version", false, "")
	workload := flags.String("workload", "echo", "")
	flags.IntVar(&threads, "threads", 1, "")
	flags.IntVar(&port, "port", -1, "")
	certificate := flags.String("certificate", "", "")
	key := flags.String("key", "", "")
	if err := flags.Parse(os.Args[1:]); err != nil {
		leave(2, "%s: %v", strings.Join(os.Args[1:], " "), err)
	}
	if *version {
		fmt.Printf("go %s epoll\n", strings.TrimPrefix(runtime.Version(), "go"))
		os.Exit(0)
	}
	serve, known := map[string]serving{
		"echo": each(echo), "http": each(http), "http_server": serveRequests, "tls": serveBytes(*certificate, *key),
	}[*workload]
	switch {
	case !known:
		leave(2, "no such workload: %s", *workload)
	case threads < 1 || threads > threadsMax:
		leave(2, "--threads takes 1 to %d, not %d", threadsMax, threads)
	case port < 0 || port > 65535:
		leave(2, "--port takes 0 to 65535, not %d", port)
	}
	return serve, threads, port
}

func main() {
	serve, threads, port := options()
	runtime.GOMAXPROCS(threads)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	go func() {
		<-terminate
		os.Exit(0)
	}()

	// Go sets SO_REUSEADDR on every listener.
	listener, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port})
	if err != nil {
		leave(1, "%v", err)
	}
	fmt.Println("ready")
	leave(1, "%v", serve(listener))
}
