"""NoLoCo (arXiv 2506.10911, appendix Eq. 32)."""
among = "pairs"
every = 50
sends = ["delta", "phi"]
keeps = ["phi", "momentum"]
columnwise = True


def step(theta, phi, momentum, mean_delta, mean_phi, own_phi, *, alpha=0.5, beta=0.7, gamma=0.7):
    momentum *= alpha
    momentum += beta * mean_delta
    momentum -= gamma * (own_phi - mean_phi)
    phi += momentum
    theta[:] = phi
