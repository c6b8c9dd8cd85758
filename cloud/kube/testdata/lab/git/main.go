// Git serves repositories over HTTP, to be read: what Flux and Argo CD pull from.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	log.SetFlags(log.Ltime)
	address := flag.String("address", "127.0.0.1:0", "where to listen, on the loopback")
	root := flag.String("root", ".", "the folder of the bare repositories")
	flag.Parse()
	if err := serve(*address, *root); err != nil {
		log.Fatal(err)
	}
}

func serve(address, root string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	libexec, err := exec.Command("git", "--exec-path").Output()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	if ip := listener.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		log.Fatalf("%s is not on the loopback", ip)
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: &cgi.Handler{
		Path:       filepath.Join(strings.TrimSpace(string(libexec)), "git-http-backend"),
		Env:        []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null"},
		InheritEnv: []string{"PATH"},
		Stderr:     os.Stderr,
	}}
	log.Printf("serving %s on http://%s/", root, listener.Addr())
	return server.Serve(listener)
}
