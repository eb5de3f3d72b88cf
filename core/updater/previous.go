package updater

import (
	"context"
	"errors"

	"github.com/dogwatch/dogwatch/sdk"
)

// Previous returns the reference of the image to which a rollback of a container
// would return; "" when there is none.
func (r *Runner) Previous(ctx context.Context, c sdk.Container) (string, error) {
	image, err := r.rollbackImage(ctx, c)
	if errors.Is(err, ErrNoUpdate) {
		return "", nil
	}
	return image.Reference, err
}
