# vpnctl. `make demo` and `make test` need only Go; `make check` wants gcc too;
# `make e2e` installs Debian packages and needs root.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
BIN     := bin/vpnctl

.PHONY: build demo test check format vet analyse generated race alerts tidy clean-tree e2e e2e-openstack e2e-render e2e-dataplane e2e-kube e2e-whole e2e-gitops e2e-argocd soak bench bench-reconcile bench-reconcile-kube generate

build: ## the binary, without cgo
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/vpnctl

demo: build ## plan, apply, empty plan, drift, repair, render: on the embedded simulator
	@examples/demo.sh $(BIN)

test: ## everything that needs only Go
	$(GO) test -timeout 40m ./...

generate: ## deep copies and CRDs from the wire types
	$(GO) generate ./...

check: format vet analyse generated race alerts tidy clean-tree ## what every commit must pass
	@echo "check passed"

format:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...
	$(GO) vet -tags e2e ./...

analyse:
	$(GO) tool staticcheck -tags e2e ./...

generated: generate
	@git diff --exit-code -- crds || { echo "generated files were out of date"; exit 1; }

race:
	$(GO) test -race -timeout 40m ./...

alerts: ## the alerts, by Prometheus' own engine: a module of its own, because that is large
	cd testdata/alerts && $(GO) vet ./... && $(GO) test -count=1 ./...

tidy:
	$(GO) mod tidy -diff
	cd testdata/alerts && $(GO) mod tidy -diff

clean-tree:
	@out=$$(git status --porcelain); if [ -n "$$out" ]; then echo "the tree is not clean:"; echo "$$out"; exit 1; fi

e2e: e2e-render e2e-dataplane e2e-openstack e2e-kube e2e-whole e2e-gitops ## real nft, charon and WireGuard, OpenStack, Kubernetes, Flux

e2e-render: ## every rendered ruleset through nft, every swanctl.conf into a charon
	render/testdata/e2e-render

e2e-dataplane: ## gateway pods that carry packets, from the rendered files, against stock peers
	agent/testdata/e2e-dataplane

e2e-openstack: ## the driver and whole runs against real Keystone, Neutron, Placement, Glance and Nova
	cloud/openstack/testdata/e2e-openstack

e2e-kube: ## definitions, driver and controller on a real Kubernetes, which is built once
	cloud/kube/testdata/e2e TestKube

e2e-whole: ## a walk on a real Kubernetes and a real OpenStack together
	cloud/kube/testdata/e2e-whole

soak: ## a controller that is killed a hundred times amid fifty gateways at work
	VPNCTL_SOAK_KILLS=$${VPNCTL_SOAK_KILLS:-100} VPNCTL_SOAK_GATEWAYS=$${VPNCTL_SOAK_GATEWAYS:-50} cloud/kube/testdata/e2e TestKubeSoakKills

e2e-gitops: ## what apply writes, synced by a real Flux, which is built once
	cloud/kube/testdata/e2e TestFlux

e2e-argocd: ## the same by a real Argo CD; takes long to build, so e2e leaves it out
	cloud/kube/testdata/e2e TestArgoCD

bench: ## the limits, measured
	$(GO) test -run '^$$' -bench . -benchtime 3x ./plan/... ./render/... ./cloud/... ./agent/... ./cmd/vpnctl

bench-reconcile: ## the controller over 1,000 gateways: start to steady, resync, memory, an edit
	$(GO) test -run '^$$' -bench BenchmarkReconcile -benchtime 1x ./cloud/reconcile/loop

bench-reconcile-kube: ## the same on a real control plane, with its calls per minute at rest: takes twenty minutes or more
	$(GO) test -tags e2e -run '^$$' -bench BenchmarkKubeThousand -benchtime 1x -timeout 2h ./cmd/vpnctl
