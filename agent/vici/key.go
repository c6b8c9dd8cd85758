package vici

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// LoadKey hands charon a pre-shared key, or replaces the one of the same id. The id
// is ours alone; owners are the identities between which the key is used. The secret
// reaches charon byte for byte: nothing is trimmed, decoded or cut. SAs that are up
// notice nothing until they authenticate again. No error holds the secret.
func (s *Session) LoadKey(ctx context.Context, id string, owners []string, secret []byte) error {
	switch {
	case id == "":
		return errors.New("loading a key: no id, and without one it could never be taken back")
	case len(owners) == 0 || slices.Contains(owners, ""):
		return fmt.Errorf("loading key %s: an owner is missing, and nobody's key is everybody's", id)
	case len(secret) == 0:
		return fmt.Errorf("loading key %s: it is empty", id)
	}
	in, err := message("id", id, "type", "IKE", "data", string(secret))
	if err != nil {
		return fmt.Errorf("loading key %s: %w", id, err)
	}
	if err := in.Set("owners", owners); err != nil {
		return fmt.Errorf("loading key %s: owners: %w", id, err)
	}
	if _, err := s.call(ctx, "load-shared", in); err != nil {
		return fmt.Errorf("loading key %s: %w", id, err)
	}
	return nil
}

// UnloadKey takes a key back; that it isn't there is no error.
func (s *Session) UnloadKey(ctx context.Context, id string) error {
	in, err := message("id", id)
	if err != nil {
		return err
	}
	if _, err := s.call(ctx, "unload-shared", in); err != nil {
		return fmt.Errorf("unloading key %s: %w", id, err)
	}
	return nil
}

// Keys are the ids of the keys that charon holds.
func (s *Session) Keys(ctx context.Context) ([]string, error) {
	answer, err := s.call(ctx, "get-shared", nil)
	if err != nil {
		return nil, err
	}
	return fields{answer}.list("keys"), nil
}
