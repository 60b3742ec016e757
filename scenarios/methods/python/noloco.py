"""NoLoCo (arXiv 2506.10911, appendix Eq. 32)."""
like = "noloco"
columnwise = True


def step(theta, phi, momentum, mean_delta, mean_phi, sent_phi, *, alpha, beta, gamma):
    momentum *= alpha
    momentum += beta * mean_delta
    momentum -= gamma * (sent_phi - mean_phi)
    phi += momentum
    theta[:] = phi
