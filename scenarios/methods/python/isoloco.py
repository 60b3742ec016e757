"""IsoLoCo (arXiv 2607.03011): the mean of a matrix gets Iso-C's flat spectrum (arXiv 2502.04959: all singular values their
mean, directions of no size stay out), then DiLoCo's Nesterov step. Vectors keep their mean. Its abstract is what was read."""
import numpy

like = "diloco"


def step(theta, phi, momentum, mean_delta, shape, *, outer_lr, outer_momentum):
    delta = mean_delta
    if min(shape) > 1:
        left, sizes, right = numpy.linalg.svd(mean_delta.reshape(shape), full_matrices=False)
        flat = numpy.where(sizes > 1e-6 * sizes[0], sizes.mean(), 0)
        delta = (left * flat @ right).reshape(1, -1)
    momentum *= outer_momentum
    momentum += delta
    phi += outer_lr * (delta + outer_momentum * momentum)
    theta[:] = phi
