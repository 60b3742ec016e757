"""DiLoCo (arXiv 2311.08105, algorithm 1), with Nesterov momentum."""
among = "all"
every = 100
sends = ["delta"]
keeps = ["phi", "momentum"]
columnwise = True


def step(theta, phi, momentum, mean_delta, *, outer_lr=0.7, outer_momentum=0.9):
    momentum *= outer_momentum
    momentum += mean_delta
    phi += outer_lr * (mean_delta + outer_momentum * momentum)
    theta[:] = phi
