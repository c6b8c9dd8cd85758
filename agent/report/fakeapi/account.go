package fakeapi

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
)

// Account is a service account with what a Role grants it in its own namespace.
type Account struct {
	Namespace, Name string

	mu     sync.Mutex
	rules  []rbacv1.PolicyRule
	token  string
	ca     []byte
	mounts []string
}

// Account makes a service account.
func (s *Server) Account(namespace, name string, rules ...rbacv1.PolicyRule) *Account {
	a := &Account{Namespace: namespace, Name: name, rules: rules, token: rand.Text(), ca: s.ca}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts = append(s.accounts, a)
	return a
}

// SetRules replaces what the account's Role grants.
func (a *Account) SetRules(rules ...rbacv1.PolicyRule) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rules = rules
}

// Mount writes token, ca.crt and namespace into a folder, as the kubelet does, and
// keeps the token there up to date.
func (a *Account) Mount(dir string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mounts = append(a.mounts, dir)
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "ca.crt"), a.ca, 0o644),
		os.WriteFile(filepath.Join(dir, "namespace"), []byte(a.Namespace), 0o644),
		a.write(dir),
	)
}

// Rotate ends the account's token at once and mounts a new one.
func (a *Account) Rotate() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.token = rand.Text()
	var errs []error
	for _, dir := range a.mounts {
		errs = append(errs, a.write(dir))
	}
	return errors.Join(errs...)
}

func (a *Account) write(dir string) error {
	next := filepath.Join(dir, ".token")
	if err := os.WriteFile(next, []byte(a.token), 0o600); err != nil {
		return err
	}
	return os.Rename(next, filepath.Join(dir, "token"))
}

// Token is the account's present token, so that a test can look for it where it
// must not be.
func (a *Account) Token() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token
}

func (a *Account) user() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

// may tells whether one rule grants the request, as the RBAC authorizer decides it.
func (a *Account) may(r Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	has := func(list []string, want string) bool {
		return slices.Contains(list, want) || slices.Contains(list, "*")
	}
	return r.Namespace == a.Namespace && slices.ContainsFunc(a.rules, func(rule rbacv1.PolicyRule) bool {
		return has(rule.Verbs, r.Verb) && has(rule.APIGroups, r.Group) && has(rule.Resources, r.Resource) &&
			(len(rule.ResourceNames) == 0 || r.Name != "" && slices.Contains(rule.ResourceNames, r.Name))
	})
}

// account finds who shows this token.
func (s *Server) account(authorization string) *Account {
	token, _ := strings.CutPrefix(authorization, "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.accounts {
		if a.Token() == token {
			return a
		}
	}
	return nil
}
