"""HeLoCo's correction (arXiv 2606.00271, equations and constants as secondary sources give them) of each member's change, tensor
by tensor, against the outer momentum. In the paper members come one by one and late; here all replicas come together, and their
mean is taken. Each gets the changes of all others (an all-gather), and the momentum is the same in all of them."""
import numpy

among = "all"
every = 50
sends = ["delta"]
keeps = ["phi", "momentum"]


def step(theta, phi, momentum, sent_delta, *, outer_lr=0.7, mu=0.9, keep=0.2, shrink=0.5, shrink_most=0.5, turn=1.0, kappa=3.0):
    size, length = numpy.linalg.norm(sent_delta, axis=1, keepdims=True) + 1e-8, numpy.linalg.norm(momentum[0]) + 1e-8
    own, ahead = sent_delta / size, momentum[:1] / length
    aligned, trust = (own * ahead).sum(axis=1, keepdims=True), size / (size + kappa * length)
    shrunk = sent_delta - numpy.minimum(-shrink * aligned * trust, shrink_most) * aligned * size * ahead
    turned = own + numpy.minimum(turn * (1 - aligned) * trust, 1) * (ahead - own)
    turned *= size / (numpy.linalg.norm(turned, axis=1, keepdims=True) + 1e-8)
    kept = (aligned >= keep) | (length < 1e-6)  # no momentum yet: nothing to correct against
    change = numpy.where(kept, sent_delta, numpy.where(aligned < 0, shrunk, turned)).mean(axis=0)
    momentum *= mu
    momentum += (1 - mu) * change
    phi += outer_lr * (change + mu * momentum)
    theta[:] = phi
