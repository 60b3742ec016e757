"""NoLoCo in which the member with the lower loss counts more: weights exp(-loss / temperature), which add up to 1."""
import numpy

like = "noloco"


def step(theta, phi, momentum, sent_delta, mean_phi, own_phi, loss, *, alpha, beta, gamma, temperature=1.0):
    weight = numpy.exp((loss.min() - loss) / temperature)
    momentum *= alpha
    momentum += beta * (weight * sent_delta).sum(axis=0) / weight.sum() - gamma * (own_phi - mean_phi)
    phi += momentum
    theta[:] = phi
